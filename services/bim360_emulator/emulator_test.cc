#include "services/bim360_emulator/emulator.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator_session.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360_emulator {
namespace {

using absl_testing::StatusIs;

EmulatorOptions SmallAccount() {
  EmulatorOptions options;
  options.account = "custom:folders=6,files=20,bytes=200KB";
  options.limits = false;
  return options;
}

class EmulatorTest : public testing::Test {
 protected:
  EmulatorSession session_{SmallAccount()};
};

TEST_F(EmulatorTest, TokensNeedTheRightCredentialsInOnePlace) {
  const std::string grant = "grant_type=client_credentials&scope=data%3Aread";
  const std::string form = "&client_id=emulator&client_secret=emulator";
  const HttpHeaders basic = {
      {"Authorization",
       absl::StrCat("Basic ", absl::Base64Escape("emulator:emulator"))}};
  const ProbeResult good = session_.Token(grant, basic);
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(Json(good.body).Text("/token_type"), "Bearer");
  EXPECT_EQ(Json(good.body).Number("/expires_in"), 3599);
  EXPECT_EQ(session_.Token(grant + form).status, 200);
  EXPECT_EQ(session_.Token(grant + form, basic).status, 400);
  EXPECT_EQ(session_.Token("grant_type=client_credentials", basic).status, 400);
  EXPECT_EQ(session_.Token("grant_type=password" + form).status, 400);
  const ProbeResult wrong =
      session_.Token(grant + "&client_id=emulator&client_secret=no");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_TRUE(Json(wrong.body).Has("/developerMessage"));
  EXPECT_TRUE(Json(wrong.body).Has("/more info"));
}

TEST_F(EmulatorTest, EveryCallNeedsALiveToken) {
  EXPECT_EQ(session_.Get("/project/v1/hubs").status, 200);
  EXPECT_EQ(session_.probe().Get("/project/v1/hubs").status, 401);
  session_.emulator().clock().Advance(absl::Hours(2));
  EXPECT_EQ(session_.Get("/project/v1/hubs").status, 401);
}

TEST_F(EmulatorTest, ATokenWithoutTheScopeIsForbidden) {
  const std::string token =
      session_.emulator().tokens().Issue(absl::Hours(1), "account:read");
  EXPECT_EQ(session_.probe()
                .Get("/project/v1/hubs",
                     {{"Authorization", absl::StrCat("Bearer ", token)}})
                .status,
            403);
}

TEST_F(EmulatorTest, LinksAreAbsoluteAndWork) {
  const Json hubs(session_.Get("/project/v1/hubs").body);
  const std::string projects_url =
      hubs.Text("/data/0/relationships/projects/links/related/href");
  EXPECT_TRUE(
      absl::StartsWith(projects_url, session_.emulator().base_url() + "/"));
  const Json projects(session_.Get(projects_url).body);
  const std::string tops_url =
      projects.Text("/data/0/relationships/topFolders/links/related/href");
  const Json tops(session_.Get(tops_url).body);
  EXPECT_EQ(tops.Text("/data/0/attributes/name"), "Project Files");
  EXPECT_EQ(tops.Text("/data/0/attributes/extension/data/folderType"),
            "normal");
  const ProbeResult contents = session_.Get(
      tops.Text("/data/0/relationships/contents/links/related/href"));
  EXPECT_EQ(contents.status, 200);
  EXPECT_EQ(contents.Header("Content-Type"), "application/vnd.api+json");
}

TEST_F(EmulatorTest, PagesFollowEachOtherByNext) {
  std::string url = session_.TopFolderPath() + "/contents?page[limit]=1";
  int pages = 0;
  int64_t entries = 0;
  while (!url.empty()) {
    const Json page(session_.Get(url).body);
    ++pages;
    entries += page.Size("/data");
    url = page.Text("/links/next/href");
  }
  EXPECT_GT(pages, 1);
  EXPECT_EQ(entries, pages);
  EXPECT_EQ(session_.Get(session_.TopFolderPath() + "/contents?page[limit]=201")
                .status,
            400);
}

TEST_F(EmulatorTest, EmptyFoldersHaveNoIncluded) {
  const std::string project =
      session_.emulator().account().ListProjects()[0].name;
  ASSERT_OK(session_.emulator().account().CreateFolder({project, {"Empty"}}));
  Account& account = session_.emulator().account();
  const ProjectView view = account.ListProjects()[0];
  const FolderView empty = account.TopFolders(0)->back();
  const Json page(
      session_
          .Get(absl::StrCat("/data/v1/projects/b.", view.guid, "/folders/",
                            UrlEncode(account.ids().FolderId(empty.key)),
                            "/contents"))
          .body);
  EXPECT_EQ(page.Size("/data"), 0);
  EXPECT_FALSE(page.Has("/included"));
}

TEST_F(EmulatorTest, ItemsTipsAndVersionsAreThere) {
  const TreeEntry file = session_.FirstFile();
  Account& account = session_.emulator().account();
  FileSpec spec;
  spec.size = 5;
  ASSERT_OK(account.ChangeFile({file.project_name, file.path}, spec));
  const std::string base =
      absl::StrCat("/data/v1/projects/b.", file.project_guid);
  const std::string item =
      base + "/items/" + UrlEncode(account.ids().ItemId(file.key));
  EXPECT_EQ(Json(session_.Get(item).body)
                .Number("/included/0/attributes/storageSize"),
            5);
  EXPECT_EQ(Json(session_.Get(item + "/tip").body)
                .Number("/data/attributes/versionNumber"),
            2);
  EXPECT_EQ(Json(session_.Get(item + "/versions").body).Size("/data"), 2);
  const std::string version = account.ids().VersionId(file.version_key, 1);
  EXPECT_EQ(Json(session_.Get(base + "/versions/" + UrlEncode(version)).body)
                .Number("/data/attributes/storageSize"),
            file.tip.size);
  EXPECT_EQ(session_.Get(base + "/versions/" + version).status, 404)
      << "an identifier that is not encoded is cut at its question mark";
}

TEST_F(EmulatorTest, WhatIsNotThereIs404InAutodesksShape) {
  const ProbeResult missing = session_.Get(
      absl::StrCat("/data/v1/projects/b.",
                   session_.emulator().account().ListProjects()[0].guid,
                   "/folders/urn%3Ax/contents"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(Json(missing.body).Text("/errors/0/code"), "FOLDER_NOT_FOUND");
  EXPECT_EQ(Json(missing.body).Text("/errors/0/status"), "404");
  EXPECT_EQ(session_.Get("/project/v1/hubs/b.other/projects").status, 404);
  EXPECT_EQ(session_.Get("/nowhere").status, 404);
}

TEST_F(EmulatorTest, DeletedItemsHaveADeletedTip) {
  const std::string project =
      session_.emulator().account().ListProjects()[0].name;
  Account& account = session_.emulator().account();
  const NodePath path{project, {"Project Files", "gone.txt"}};
  ASSERT_OK(account.CreateFile(path, FileSpec()));
  ASSERT_OK(account.Delete(path));
  const Json page(
      session_.Get(session_.TopFolderPath() + "/contents?filter[hidden]=true")
          .body);
  EXPECT_EQ(page.Size("/data"), 1);
  EXPECT_EQ(page.Text("/included/0/attributes/extension/type"),
            "versions:autodesk.core:Deleted");
  EXPECT_EQ(page.Text("/included/0/attributes/extension/data/originalName"),
            "gone.txt");
  EXPECT_FALSE(page.Has("/included/0/relationships/storage"));
}

TEST_F(EmulatorTest, DocumentsOfPlansHaveNoStorage) {
  EmulatorOptions options = SmallAccount();
  options.account = "custom:kind=bim360,folders=6,files=1,plans_documents=1";
  EmulatorSession session(options);
  const Json tops(
      session
          .Get(absl::StrCat(session.HubPath(), "/projects/b.",
                            session.emulator().account().ListProjects()[0].guid,
                            "/topFolders"))
          .body);
  EXPECT_EQ(tops.Text("/data/1/attributes/extension/data/folderType"), "plan");
  const Json page(
      session
          .Get(tops.Text("/data/1/relationships/contents/links/related/href"))
          .body);
  EXPECT_EQ(page.Text("/data/0/attributes/extension/type"),
            "items:autodesk.bim360:Document");
  EXPECT_FALSE(page.Has("/included/0/relationships/storage"));
  EXPECT_FALSE(page.Has("/included/0/attributes/storageSize"));
}

TEST_F(EmulatorTest, LimitsAnswer429WithRetryAfter) {
  EmulatorOptions options = SmallAccount();
  options.limits = true;
  options.time_scale = 2;
  for (const bool date : {false, true}) {
    options.retry_after_date = date;
    EmulatorSession session(options);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(session.Get("/project/v1/hubs").status, 200);
    }
    const ProbeResult refused = session.Get("/project/v1/hubs");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(absl::EndsWith(refused.Header("Retry-After"), " GMT"), date);
    EXPECT_EQ(Json(refused.body).Text("/developerMessage"),
              "Quota limit exceeded.");
    EXPECT_EQ(session.Get(session.HubPath()).status, 200);
    EXPECT_EQ(session.emulator().limits().Read(Endpoint::kHubs).refused, 1);
  }
}

TEST_F(EmulatorTest, CountsWhatWasAskedAndAnswered) {
  const std::string path = session_.TopFolderPath() + "/contents";
  FaultAction error;
  FaultMatch once;
  once.count = 1;
  session_.AddFault(Endpoint::kContents, error, once);
  EXPECT_EQ(session_.Get(path).status, 500);
  EXPECT_EQ(session_.Get(path).status, 200);
  const auto pages = session_.emulator().log().BySubject(Endpoint::kContents);
  ASSERT_EQ(pages.size(), 1);
  EXPECT_TRUE(absl::EndsWith(pages.begin()->first, " page 0"));
  EXPECT_EQ(pages.begin()->second.requests, 2);
  EXPECT_EQ(pages.begin()->second.answered, 1);
}

TEST_F(EmulatorTest, ConnectionsAreKept) {
  for (int i = 0; i < 100; ++i) session_.Get("/project/v1/hubs");
  EXPECT_EQ(session_.probe().connects(), 1);
}

TEST(EmulatorStartTest, BadOptionsAreRefused) {
  EmulatorOptions options = SmallAccount();
  options.account = "no-such-shape";
  EXPECT_THAT(Emulator::Start(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options = SmallAccount();
  options.listen = "nowhere";
  EXPECT_THAT(Emulator::Start(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options = SmallAccount();
  options.time_scale = 0;
  EXPECT_THAT(Emulator::Start(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options = SmallAccount();
  options.account = "dir:/no/such/folder";
  EXPECT_THAT(Emulator::Start(options), StatusIs(absl::StatusCode::kNotFound));
}

TEST(EmulatorStartTest, ATakenPortIsRefused) {
  EmulatorSession session(SmallAccount());
  EmulatorOptions options = SmallAccount();
  options.listen = session.emulator().base_url().substr(7);
  EXPECT_THAT(Emulator::Start(options),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
