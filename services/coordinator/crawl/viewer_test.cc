// Rollups hold for whoever saw them: another viewer lists for itself.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawler_fixture.h"

namespace bimbackup::crawl {
namespace {

using absl_testing::StatusIs;
using Call = bim360::FakeBim360Client::Call;

class ViewerTest : public CrawlerFixture {
 protected:
  ViewerTest() { client().SetRollupsMove(false); }

  // What a backup by `viewer` lists, the project's root included.
  int Listed(const std::string& viewer,
             const catalog::BackupRequest& request = {}) {
    client().ResetCalls();
    const catalog::BackupNumber backup = harness_.Start(request);
    EXPECT_OK(Crawl(OptionsOf(viewer, backup, request)));
    harness_.StoreAll(backup);
    harness_.End(backup);
    return client().CallCount(Call::kListFolderContents);
  }

  CrawlerOptions OptionsOf(const std::string& viewer,
                           catalog::BackupNumber backup,
                           const catalog::BackupRequest& request = {}) {
    CrawlerOptions options = harness_.Options(backup);
    options.viewer = viewer;
    options.filter = *PathFilter::Create(request);
    return options;
  }

  // Begins a backup that is cancelled when `folder_id` is about to be listed;
  // the folder before it is listed.
  void CancelAt(const std::string& viewer, const std::string& folder_id) {
    const catalog::BackupNumber backup = harness_.Start();
    CrawlerOptions options = OptionsOf(viewer, backup);
    options.concurrency = 1;
    Crawler crawler(client(), *harness_.catalog, harness_.clock, options);
    client().SetBeforeCall([&](Call, const std::string& id) {
      if (id == folder_id) crawler.Cancel();
    });
    EXPECT_THAT(crawler.Run(), StatusIs(absl::StatusCode::kCancelled));
    client().SetBeforeCall(nullptr);
    harness_.End(backup, catalog::BackupState::kCancelled);
  }
};

TEST_F(ViewerTest, AnotherViewerListsEverythingOnce) {
  EXPECT_EQ(Listed("a"), 4);
  EXPECT_EQ(Listed("a"), 1);
  client().AddFile(old_, "shown-to-b.pdf", 1);
  EXPECT_EQ(Listed("b"), 4);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_EQ(Listed("b"), 1);
  EXPECT_EQ(Listed("a"), 4);
}

TEST_F(ViewerTest, ListsAlsoWhereTheRootIsHidden) {
  client().FailNext(Call::kListFolderContents, "b.1-root",
                    absl::PermissionDeniedError("HTTP 403"), -1);
  EXPECT_EQ(Listed("a"), 4);
  EXPECT_EQ(Listed("a"), 1);
  EXPECT_EQ(Listed("b"), 4);
}

TEST_F(ViewerTest, WhatACancelledBackupDidNotListIsListedNext) {
  Listed("a");
  for (const char* name : {"new.pdf", "newer.pdf"}) {
    client().AddFile(plans_, name, 1);
    client().AddFile(models_, name, 1);
    client().AddFile(old_, name, 1);
    CancelAt("b", plans_);
    EXPECT_GE(Listed("b"), 3);
    EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
    EXPECT_EQ(Listed("a"), 4);
  }
}

TEST_F(ViewerTest, WhatAFilteredBackupDidNotListIsListedNext) {
  Listed("a");
  client().AddFile(old_, "new.pdf", 1);
  client().AddFile(models_, "new.rvt", 1);
  catalog::BackupRequest request;
  request.include = {"Tower/Models/**"};
  EXPECT_EQ(Listed("b", request), 2);
  EXPECT_EQ(Listed("b"), 3);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_EQ(Listed("b"), 1);
}

TEST_F(ViewerTest, WhatIsBelowAFolderThatCouldNotBeListedIsListedNext) {
  Listed("a");
  client().AddFile(old_, "new.pdf", 1);
  client().FailNext(Call::kListFolderContents, plans_,
                    absl::UnavailableError("HTTP 503"));
  EXPECT_EQ(Listed("b"), 3);
  EXPECT_EQ(Listed("b"), 3);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(ViewerTest, AViewerThatTakesABackupUpLeavesNothingUnlisted) {
  Listed("a");
  const catalog::BackupNumber backup = harness_.Start();
  CrawlerOptions options = OptionsOf("b", backup);
  options.concurrency = 1;
  {
    Crawler crawler(client(), *harness_.catalog, harness_.clock, options);
    client().SetBeforeCall([&](Call, const std::string& id) {
      if (id == models_) crawler.Cancel();
    });
    EXPECT_THAT(crawler.Run(), StatusIs(absl::StatusCode::kCancelled));
    client().SetBeforeCall(nullptr);
  }
  client().AddFile(plans_, "new.pdf", 1);
  client().AddFile(old_, "new.pdf", 1);
  harness_.Reopen();
  EXPECT_OK(Crawl(OptionsOf("c", backup)));
  harness_.StoreAll(backup);
  harness_.End(backup);
  Listed("c");
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_EQ(Listed("c"), 1);
}

}  // namespace
}  // namespace bimbackup::crawl
