#include "clients/bim360/fake_bim360_client.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;
using Call = FakeBim360Client::Call;

TEST(FakeBim360ClientTest, ListsFoldersAndItemsInPages) {
  FakeBim360Client client;
  client.AddProject({"b.p", "Project", "ACC", ""});
  const std::string plans = client.AddFolder("b.p", "Plans");
  client.AddFolder(plans, "Old");
  client.AddFile(plans, "a.pdf", 10);
  client.AddFile(plans, "b.pdf", 20);
  client.SetPageSize(2);

  ASSERT_OK_AND_ASSIGN(const FolderPage top,
                       client.ListTopFolders(client.kHubId, "b.p", {}));
  ASSERT_EQ(top.folders.size(), 1);
  EXPECT_EQ(top.folders[0].name, "Plans");
  ASSERT_OK_AND_ASSIGN(const FolderPage first,
                       client.ListFolderContents("b.p", plans, "", {}));
  EXPECT_EQ(first.folders.size(), 1);
  EXPECT_EQ(first.items.size(), 1);
  ASSERT_OK_AND_ASSIGN(
      const FolderPage second,
      client.ListFolderContents("b.p", plans, first.next_page_url, {}));
  EXPECT_EQ(second.items.size(), 1);
  EXPECT_EQ(second.next_page_url, "");
  EXPECT_EQ(client.CallCount(Call::kListFolderContents, plans), 2);
}

TEST(FakeBim360ClientTest, MovesTheRollupsAboveAChange) {
  FakeBim360Client client;
  client.AddProject({"b.p", "Project", "ACC", ""});
  const std::string plans = client.AddFolder("b.p", "Plans");
  const std::string deep = client.AddFolder(plans, "Deep");
  const std::string other = client.AddFolder("b.p", "Other");
  ASSERT_OK_AND_ASSIGN(const FolderPage before,
                       client.ListTopFolders(client.kHubId, "b.p", {}));
  client.AddFile(deep, "a.pdf", 10);
  ASSERT_OK_AND_ASSIGN(const FolderPage after,
                       client.ListTopFolders(client.kHubId, "b.p", {}));
  EXPECT_NE(before.folders[0].rollup, after.folders[0].rollup);
  EXPECT_EQ(before.folders[1].rollup, after.folders[1].rollup);
}

TEST(FakeBim360ClientTest, AnswersScriptedErrors) {
  FakeBim360Client client;
  client.AddProject({"b.p", "Project", "ACC", ""});
  const std::string plans = client.AddFolder("b.p", "Plans");
  client.FailNext(Call::kListFolderContents, plans,
                  absl::PermissionDeniedError("HTTP 403"), 1);
  EXPECT_THAT(client.ListFolderContents("b.p", plans, "", {}),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_OK(client.ListFolderContents("b.p", plans, "", {}));
  client.Cancel();
  EXPECT_THAT(client.ListFolderContents("b.p", plans, "", {}),
              StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace bimbackup::bim360
