#include "services/coordinator/crawl/path_filter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawl_harness.h"

namespace bimbackup::crawl {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using Call = bim360::FakeBim360Client::Call;

TEST(PathFilterTest, WantsEverythingByDefault) {
  const PathFilter filter;
  EXPECT_TRUE(filter.WantsProject("b.1", "Tower"));
  EXPECT_TRUE(filter.WantsFolder({"Tower", "Plans"}));
  EXPECT_TRUE(filter.WantsFile({"Tower", "a.pdf"}));
  EXPECT_TRUE(filter.WantsAllBelow({"Tower"}));
}

TEST(PathFilterTest, KnowsProjectsByNameAndId) {
  catalog::BackupRequest request;
  request.projects = {"Tower", "b.2"};
  ASSERT_OK_AND_ASSIGN(const PathFilter filter, PathFilter::Create(request));
  EXPECT_TRUE(filter.WantsProject("b.1", "Tower"));
  EXPECT_TRUE(filter.WantsProject("b.2", "Bridge"));
  EXPECT_FALSE(filter.WantsProject("b.3", "Tunnel"));
}

TEST(PathFilterTest, IncludesAndExcludes) {
  catalog::BackupRequest request;
  request.include = {"Tower/**/*.pdf", "Bridge/**"};
  request.exclude = {"**/Old"};
  ASSERT_OK_AND_ASSIGN(const PathFilter filter, PathFilter::Create(request));
  EXPECT_TRUE(filter.WantsFile({"Tower", "Plans", "a.pdf"}));
  EXPECT_FALSE(filter.WantsFile({"Tower", "Plans", "a.rvt"}));
  EXPECT_FALSE(filter.WantsFile({"Tower", "Old", "a.pdf"}));
  EXPECT_FALSE(filter.WantsFolder({"Tower", "Old"}));
  EXPECT_TRUE(filter.WantsFolder({"Tower", "Plans"}));
  EXPECT_FALSE(filter.WantsFolder({"Tunnel"}));
  EXPECT_FALSE(filter.WantsAllBelow({"Bridge"}));
}

TEST(PathFilterTest, RefusesAMalformedGlob) {
  catalog::BackupRequest request;
  request.exclude = {"Tower/["};
  EXPECT_THAT(PathFilter::Create(request),
              absl_testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                     testing::HasSubstr("Tower/[")));
}

// What a filter leaves out stands as it was, and is found again later.
class FilteredCrawlTest : public testing::Test {
 protected:
  FilteredCrawlTest() {
    for (const char* id : {"b.1", "b.2"}) {
      bim360::Project project;
      project.id = id;
      project.name = project.id == "b.1" ? "Tower" : "Bridge";
      harness_.client.AddProject(project);
    }
    plans_ = harness_.client.AddFolder("b.1", "Plans");
    models_ = harness_.client.AddFolder("b.1", "Models");
    bridge_ = harness_.client.AddFolder("b.2", "Files");
    item_ = harness_.client.AddFile(plans_, "a.pdf", 1);
    harness_.client.AddFile(plans_, "a.bak", 1);
    harness_.client.AddFile(models_, "c.rvt", 1);
    harness_.client.AddFile(bridge_, "d.rvt", 1);
  }

  catalog::BackupRequest Excluding(const std::string& glob) {
    catalog::BackupRequest request;
    request.exclude = {glob};
    return request;
  }

  CrawlHarness harness_;
  bim360::Item item_;
  std::string plans_;
  std::string models_;
  std::string bridge_;
};

TEST_F(FilteredCrawlTest, ListsOneProjectAlone) {
  catalog::BackupRequest request;
  request.projects = {"Tower"};
  EXPECT_EQ(harness_.Backup(request).counters.transfers, 3);
  EXPECT_EQ(harness_.client.CallCount(Call::kListFolderContents, bridge_), 0);
  EXPECT_THAT(harness_.Tree(), Not(Contains(Key("Bridge/Files/d.rvt"))));
  EXPECT_EQ(harness_.Backup().counters.transfers, 1);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(FilteredCrawlTest, ExcludedFolderStandsAndIsListedNextTime) {
  harness_.Backup();
  const auto before = harness_.Tree();
  harness_.client.AddFile(models_, "new.rvt", 1);
  const catalog::BackupRecord second =
      harness_.Backup(Excluding("Tower/Models"));
  EXPECT_EQ(second.counters.transfers, 0);
  EXPECT_EQ(second.counters.unlisted, 0);
  EXPECT_EQ(harness_.Tree(), before);
  EXPECT_THAT(harness_.Unlisted(), IsEmpty());
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(FilteredCrawlTest, ExcludedFilesStandAndAreListedNextTime) {
  harness_.Backup();
  item_.version_id += "2";
  item_.storage_urn += "2";
  harness_.client.AddItem(plans_, item_);
  harness_.client.AddFile(plans_, "b.bak", 1);
  harness_.client.RemoveItem(
      plans_, "urn:adsk.wipprod:dm.lineage:" + plans_ + "/a.bak");
  EXPECT_EQ(harness_.Backup(Excluding("**/*.bak")).counters.transfers, 1);
  EXPECT_THAT(harness_.Tree(), AllOf(Contains(Key("Tower/Plans/a.bak")),
                                     Not(Contains(Key("Tower/Plans/b.bak")))));
  EXPECT_EQ(harness_.Backup().counters.transfers, 1);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(FilteredCrawlTest, WantedFilesThatVanishAreRemovedBesideExcludedOnes) {
  harness_.Backup();
  harness_.client.RemoveItem(plans_, item_.item_id);
  harness_.Backup(Excluding("**/*.bak"));
  EXPECT_THAT(harness_.Tree(), Not(Contains(Key("Tower/Plans/a.pdf"))));
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(FilteredCrawlTest, NightAfterNightWithOneFilterListsNothingTwice) {
  harness_.Backup();
  harness_.Backup(Excluding("**/*.bak"));
  harness_.client.ResetCalls();
  harness_.Backup(Excluding("**/*.bak"));
  EXPECT_EQ(harness_.client.CallCount(Call::kListFolderContents), 2);
}

TEST_F(FilteredCrawlTest, FailedTransfersOutsideTheFilterWait) {
  const catalog::BackupNumber first = harness_.Start();
  Crawler crawler(harness_.client, *harness_.catalog, harness_.clock,
                  harness_.Options(first));
  ASSERT_OK(crawler.Run());
  EXPECT_THAT(harness_.FailAll(first), testing::SizeIs(4));
  harness_.End(first);
  EXPECT_EQ(harness_.Backup(Excluding("Tower/**")).counters.transfers, 1);
  EXPECT_EQ(harness_.Backup().counters.transfers, 3);
}

}  // namespace
}  // namespace bimbackup::crawl
