#include "services/bim360_emulator/admin_api.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator_session.h"

namespace bimbackup::bim360_emulator {
namespace {

class AdminApiTest : public testing::Test {
 protected:
  static EmulatorOptions Options() {
    EmulatorOptions options;
    options.account = "custom:folders=3,files=4,bytes=40KB";
    options.limits = false;
    options.client_secret = "a secret of its own";
    return options;
  }
  Json Read(absl::string_view target) {
    return Json(session_.Admin("GET", target).body);
  }
  int Edit(absl::string_view body) {
    return session_.Admin("POST", "edit", body).status;
  }

  EmulatorSession session_{Options()};
  const std::string project_ =
      session_.emulator().account().ListProjects()[0].name;
};

TEST_F(AdminApiTest, TheTreeTellsEveryFileWithItsBytes) {
  const Json tree = Read("tree?sha1=1&sha256=1");
  EXPECT_EQ(tree.Size("/entries"), 7);
  int files = 0;
  for (int i = 0; i < 7; ++i) {
    const std::string at = absl::StrCat("/entries/", i);
    if (tree.Text(at + "/kind") != "file") continue;
    ++files;
    const std::string body =
        session_.probe().Get(tree.Text(at + "/content_url")).body;
    EXPECT_EQ(static_cast<int64_t>(body.size()), tree.Number(at + "/size"));
    EXPECT_EQ(Sha256Hex(body), tree.Text(at + "/sha256"));
    EXPECT_EQ(tree.Text(at + "/sha1").size(), 40);
    EXPECT_EQ(tree.Text(at + "/project_name"), project_);
  }
  EXPECT_EQ(files, 4);
  EXPECT_EQ(Read("tree?project=none").Size("/entries"), 0);
}

TEST_F(AdminApiTest, EditsChangeTheAccount) {
  const auto edit = [&](absl::string_view rest) {
    return Edit(absl::StrCat(R"({"project":")", project_, R"(",)", rest, "}"));
  };
  EXPECT_EQ(edit(R"("op":"create_file","path":["Project Files","new","é.txt"],
                    "content":"hello")"),
            200);
  EXPECT_EQ(edit(R"("op":"rename","path":["Project Files","new"],
                    "name":"newer")"),
            200);
  EXPECT_EQ(edit(R"("op":"change_file","size":9,
                    "path":["Project Files","newer","é.txt"])"),
            200);
  EXPECT_EQ(edit(R"("op":"move","path":["Project Files","newer","é.txt"],
                    "to":["Project Files"])"),
            200);
  EXPECT_EQ(edit(R"("op":"delete","path":["Project Files","newer"])"), 200);
  EXPECT_EQ(edit(R"("op":"delete","path":["Project Files","newer"])"), 404);
  EXPECT_EQ(edit(R"("op":"paint","path":[])"), 400);
  const std::string tree = session_.Admin("GET", "tree").body;
  EXPECT_TRUE(absl::StrContains(tree, R"(["Project Files","é.txt"])"));
  EXPECT_FALSE(absl::StrContains(tree, "newer"));
}

TEST_F(AdminApiTest, EditsComeInLists) {
  EXPECT_EQ(Edit(absl::StrCat(
                R"([{"op":"create_project","project":"Twin"},
                    {"op":"create_project","project":"Twin"},
                    {"op":"archive_project","project":")",
                project_, R"("}])")),
            200);
  EXPECT_EQ(session_.emulator().account().ListProjects().size(), 2);
  EXPECT_EQ(Edit("not json"), 400);
}

TEST_F(AdminApiTest, FilesCanLackStorageAndSize) {
  EXPECT_EQ(Edit(absl::StrCat(
                R"([{"op":"create_file","has_storage":false,"kind":"document",
                     "path":["Project Files","a.pdf"],"project":")",
                project_, R"("},{"op":"create_file","has_size":false,"size":3,
                     "path":["Project Files","b.pdf"],"project":")",
                project_, R"("}])")),
            200);
  const std::string listed =
      session_.Get(session_.TopFolderPath() + "/contents").body;
  EXPECT_TRUE(absl::StrContains(listed, "a.pdf"));
  EXPECT_TRUE(absl::StrContains(listed, "b.pdf"));
  EXPECT_FALSE(absl::StrContains(listed, R"("storageSize":3,)"));
}

TEST_F(AdminApiTest, FaultsComeAndGo) {
  const ProbeResult added = session_.Admin(
      "POST", "faults",
      R"({"match":{"endpoint":"hubs"},"action":{"type":"status"}})");
  const int64_t id = Json(added.body).Number("/id");
  EXPECT_GT(id, 0);
  EXPECT_EQ(session_.Get("/project/v1/hubs").status, 500);
  EXPECT_EQ(Read("faults").Number("/faults/0/applied"), 1);
  EXPECT_EQ(session_.Admin("DELETE", absl::StrCat("faults?id=", id)).status,
            200);
  EXPECT_EQ(session_.Admin("DELETE", absl::StrCat("faults?id=", id)).status,
            404);
  EXPECT_EQ(session_.Get("/project/v1/hubs").status, 200);
  EXPECT_EQ(session_.Admin("POST", "faults", "{}").status, 400);
}

TEST_F(AdminApiTest, RequestsAreCountedByPageAndObject) {
  session_.Get(session_.TopFolderPath() + "/contents");
  session_.probe().Get(session_.SignedUrl());
  const Json requests = Read("requests");
  EXPECT_EQ(requests.Number("/endpoints/contents/answered"), 1);
  EXPECT_EQ(requests.Number("/endpoints/contents/rate"), 300);
  EXPECT_EQ(requests.Number("/endpoints/contents/peak_per_minute"), 1);
  EXPECT_EQ(requests.Number("/endpoints/storage/bytes"),
            session_.FirstFile().tip.size);
  const std::string text = session_.Admin("GET", "requests").body;
  EXPECT_TRUE(absl::StrContains(text, " page 0\":{\"requests\":1"));
  session_.Admin("DELETE", "requests");
  EXPECT_EQ(Read("requests").Number("/endpoints/contents/requests"), 0);
}

TEST_F(AdminApiTest, SecretsAreTold) {
  const std::string url = session_.SignedUrl();
  const std::string text = session_.Admin("GET", "secrets").body;
  EXPECT_TRUE(absl::StrContains(text, url.substr(url.find('?') + 1)));
  EXPECT_TRUE(absl::StrContains(text, "a secret of its own"));
  EXPECT_TRUE(absl::StrContains(text, "eyJhbGciOiJSUzI1NiJ9."));
}

TEST_F(AdminApiTest, ClockTokensLimitsAndRollupCanBeSet) {
  const std::string url = session_.SignedUrl();
  EXPECT_EQ(
      session_.Admin("POST", "clock", R"({"advance_seconds":121})").status,
      200);
  EXPECT_EQ(session_.probe().Get(url).status, 403);
  EXPECT_EQ(session_.Admin("POST", "limits", R"({"enforced":true})").status,
            200);
  EXPECT_EQ(session_.Admin("POST", "rollup", R"({"mode":"late"})").status, 200);
  EXPECT_EQ(session_.Admin("POST", "rollup", R"({"mode":"odd"})").status, 400);
  EXPECT_EQ(session_.Admin("POST", "clock", "{}").status, 400);
  EXPECT_EQ(session_.Admin("POST", "rescan").status, 200);
  EXPECT_EQ(session_.Admin("DELETE", "tokens").status, 200);
  EXPECT_EQ(session_.Get("/project/v1/hubs").status, 401);
  EXPECT_EQ(session_.Admin("POST", "nothing").status, 404);
  EXPECT_EQ(session_.probe().Get("/healthz").status, 200);
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
