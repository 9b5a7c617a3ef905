// Nothing that was stored is removed because a listing lies.

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/backup/ending.h"
#include "services/coordinator/crawl/crawler_fixture.h"

namespace bimbackup::crawl {
namespace {

using absl_testing::StatusIs;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using Call = bim360::FakeBim360Client::Call;

class MassDeletionTest : public CrawlerFixture {
 protected:
  // Files in `folder`, named after it.
  void AddFiles(const std::string& folder, int count) {
    for (int i = 0; i < count; ++i) {
      client().AddFile(folder, absl::StrCat("x", i), 1);
    }
  }
  void RemoveFiles(const std::string& folder, int count) {
    for (int i = 0; i < count; ++i) {
      client().RemoveItem(
          folder,
          absl::StrCat("urn:adsk.wipprod:dm.lineage:", folder, "/x", i));
    }
  }

  // Every path that stands.
  std::vector<std::string> Paths() {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : harness_.Tree()) paths.push_back(path);
    return paths;
  }

  // How the backup would end.
  static backup::Ending Ending(const catalog::BackupRecord& record) {
    return backup::JudgeEnding(record.counters, "");
  }
};

TEST_F(MassDeletionTest, ProjectWhoseListingFailsStandsAsItWas) {
  AddFiles(old_, 500);
  harness_.Backup();
  const auto before = Paths();
  for (const absl::Status& failure :
       {absl::PermissionDeniedError("HTTP 403"),
        absl::NotFoundError("HTTP 404"), absl::UnavailableError("HTTP 500")}) {
    client().FailNext(Call::kListFolderContents, "b.1-root", failure, -1);
    client().FailNext(Call::kListTopFolders, "b.1", failure, -1);
    const catalog::BackupRecord backup = harness_.Backup();
    EXPECT_EQ(backup.counters.unlisted, 1) << failure;
    EXPECT_EQ(backup.counters.guarded, 0) << failure;
    EXPECT_EQ(Paths(), before) << failure;
    EXPECT_EQ(Ending(backup).state, catalog::BackupState::kPartial);
    EXPECT_THAT(Ending(backup).message,
                HasSubstr("1 folder or project could not be listed"));
    client().ClearFailures();
  }
}

TEST_F(MassDeletionTest, ProjectThatVanishesStandsGuarded) {
  AddProject("b.2", "Bridge");
  AddFiles(old_, 500);
  harness_.Backup();
  const auto before = Paths();
  client().RemoveProject("b.1");
  for (int night = 0; night < 3; ++night) {
    const catalog::BackupRecord backup = harness_.Backup();
    EXPECT_EQ(backup.counters.guarded, 507);
    EXPECT_EQ(Paths(), before);
    EXPECT_EQ(Ending(backup).state, catalog::BackupState::kPartial);
    EXPECT_THAT(Ending(backup).message,
                AllOf(HasSubstr("507 entries vanished"), HasSubstr("guarded")));
  }
}

TEST_F(MassDeletionTest, SmallProjectThatVanishesStandsGuardedToo) {
  AddProject("b.2", "Bridge");
  const std::string folder = client().AddFolder("b.2", "Deck");
  client().AddFile(folder, "only.pdf", 1);
  harness_.Backup();
  const auto before = Paths();
  client().RemoveProject("b.2");
  EXPECT_EQ(harness_.Backup().counters.guarded, 3);
  EXPECT_EQ(Paths(), before);
  EXPECT_THAT(harness_.Unlisted(),
              ElementsAre(HasSubstr("Bridge: guarded: vanished")));
}

TEST_F(MassDeletionTest, NarrowerFilterRemovesNothing) {
  AddProject("b.2", "Bridge");
  const std::string folder = client().AddFolder("b.2", "Deck");
  AddFiles(folder, 300);
  AddFiles(old_, 300);
  harness_.Backup();
  const auto before = Paths();
  std::vector<catalog::BackupRequest> requests(4);
  requests[0].projects = {"Tower"};
  requests[1].include = {"Tower/**/*.rvt"};
  requests[2].exclude = {"**/Old/**"};
  requests[3].exclude = {"Bridge/**", "**/x*"};
  for (catalog::BackupRequest& request : requests) {
    request.full_recheck = true;
    for (int night = 0; night < 3; ++night) {
      const catalog::BackupRecord backup = harness_.Backup(request);
      EXPECT_EQ(backup.counters.guarded, 0);
      EXPECT_EQ(Paths(), before);
      EXPECT_EQ(Ending(backup).state, catalog::BackupState::kSucceeded);
    }
  }
}

TEST_F(MassDeletionTest, EmptyListOfProjectsFailsAndRemovesNothing) {
  AddFiles(old_, 500);
  harness_.Backup();
  const auto before = harness_.Tree();
  client().RemoveProject("b.1");
  for (int night = 0; night < 2; ++night) {
    EXPECT_THAT(FailedCrawl(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("shows no project")));
    EXPECT_EQ(harness_.Tree(), before);
  }
  AddProject("b.1", "Tower");
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(MassDeletionTest, EmptyPageWhereManyFilesWereRemovesNothing) {
  AddFiles(models_, 500);
  harness_.Backup();
  const auto before = Paths();
  RemoveFiles(models_, 500);
  client().RemoveItem(models_,
                      "urn:adsk.wipprod:dm.lineage:" + models_ + "/c.rvt");
  const catalog::BackupRecord backup = harness_.Backup();
  EXPECT_EQ(backup.counters.guarded, 501);
  EXPECT_EQ(Paths(), before);
  EXPECT_THAT(harness_.Unlisted(),
              ElementsAre("Tower/Models: guarded: vanished files of this "
                          "folder: 501"));
  EXPECT_EQ(Ending(backup).state, catalog::BackupState::kPartial);
}

TEST_F(MassDeletionTest, EmptyPageInALargeProjectRemovesNothing) {
  // Far less than a fifth of the project.
  AddFiles(plans_, 3000);
  AddFiles(old_, 150);
  const std::string below = client().AddFolder(old_, "Below");
  AddFiles(below, 10);
  harness_.Backup();
  const auto before = Paths();
  RemoveFiles(old_, 150);
  client().RemoveItem(old_, "urn:adsk.wipprod:dm.lineage:" + old_ + "/b.pdf");
  client().RemoveFolder(old_, below);
  RemoveFiles(plans_, 5);
  EXPECT_EQ(harness_.Backup().counters.guarded, 162);
  // What else vanished is gone.
  EXPECT_EQ(Paths().size(), before.size() - 5);
  EXPECT_THAT(harness_.Tree(),
              AllOf(Contains(Pair("Tower/Plans/Old/x7", EndsWith("guarded"))),
                    Contains(Key("Tower/Plans/Old/Below/x7"))));
  client().LinkFolder(old_, below);
  AddFiles(old_, 150);
  client().AddFile(old_, "b.pdf", 20);
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(MassDeletionTest, ManyFilesThatMovedAreNotGuarded) {
  AddFiles(plans_, 3000);
  AddFiles(old_, 150);
  harness_.Backup();
  client().RemoveFolder(plans_, old_);
  client().LinkFolder(models_, old_);
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_THAT(harness_.Unlisted(), IsEmpty());
}

}  // namespace
}  // namespace bimbackup::crawl
