// What becomes of findings that somebody accepts.

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawler_fixture.h"

namespace bimbackup::crawl {
namespace {

using absl_testing::StatusIs;
using catalog::Accepted;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using Call = bim360::FakeBim360Client::Call;

class AcceptTest : public CrawlerFixture {
 protected:
  // 150 files more in Plans/Old, which then vanishes.
  void LoseOld() {
    for (int i = 0; i < 150; ++i) {
      client().AddFile(old_, absl::StrCat("x", i), 1);
    }
    harness_.Backup();
    client().RemoveFolder(plans_, old_);
    ASSERT_EQ(harness_.Backup().counters.guarded, 152);
  }

  void Forbid(const std::string& folder) {
    client().FailNext(Call::kListFolderContents, folder,
                      absl::PermissionDeniedError("HTTP 403"), -1);
  }

  Accepted Deletions(const std::vector<std::string>& projects = {}) {
    const auto accepted = harness_.catalog->AcceptDeletions(projects);
    EXPECT_OK(accepted);
    return accepted.value_or(Accepted());
  }
  Accepted Denied(const std::vector<std::string>& projects = {}) {
    const auto accepted = harness_.catalog->AcceptDenied(projects);
    EXPECT_OK(accepted);
    return accepted.value_or(Accepted());
  }
};

TEST_F(AcceptTest, AcceptedDeletionsAreGone) {
  LoseOld();
  EXPECT_TRUE(harness_.catalog->ListUnlisted("", "", 10)->at(0).guarded);
  const Accepted accepted = Deletions({"Tower"});
  EXPECT_EQ(accepted.files, 151);
  EXPECT_EQ(accepted.folders, 1);
  EXPECT_EQ(accepted.projects, 1);
  EXPECT_TRUE(harness_.IsChanged("b.1"));
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_THAT(harness_.Unlisted(), IsEmpty());
  EXPECT_EQ(harness_.catalog->GetTotals()->files, 2);
  EXPECT_EQ(harness_.catalog->GetTotals()->folders, 2);
  EXPECT_EQ(harness_.catalog->GetTotals()->bytes, 40);
  EXPECT_EQ(Deletions({"b.1"}).files, 0);
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
}

TEST_F(AcceptTest, AcceptedFolderThatComesBackIsListedWithoutFetching) {
  LoseOld();
  Deletions();
  client().LinkFolder(plans_, old_);
  const catalog::BackupRecord backup = harness_.Backup();
  EXPECT_EQ(backup.counters.transfers, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(AcceptTest, DeletionsOfOtherProjectsStandGuarded) {
  LoseOld();
  AddProject("b.2", "Bridge");
  harness_.Backup();
  EXPECT_EQ(Deletions({"Bridge"}).files, 0);
  EXPECT_EQ(harness_.Backup().counters.guarded, 152);
}

TEST_F(AcceptTest, AcceptedProjectIsGoneAndMayComeBack) {
  AddProject("b.2", "Bridge");
  harness_.Backup();
  client().RemoveProject("b.1");
  EXPECT_EQ(harness_.Backup().counters.guarded, 7);
  const Accepted accepted = Deletions({"Tower"});
  EXPECT_EQ(accepted.files, 3);
  EXPECT_EQ(accepted.folders, 3);
  EXPECT_EQ(accepted.projects, 1);
  EXPECT_THAT(harness_.Tree(), ElementsAre(Pair("Bridge", "project")));
  EXPECT_EQ(harness_.catalog->GetTotals()->projects, 1);
  EXPECT_EQ(harness_.catalog->GetTotals()->files, 0);
  // It is still known by its name.
  EXPECT_EQ(Deletions({"Tower"}).projects, 0);
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
  AddProject("b.1", "Tower");
  client().AddFile(plans_, "new.pdf", 1);
  EXPECT_EQ(harness_.Backup().counters.transfers, 1);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(AcceptTest, ManyRowsArePurgedToTheLast) {
  for (int i = 0; i < 5000; ++i) {
    client().AddFile(old_, absl::StrCat("x", i), 1);
  }
  AddProject("b.2", "Bridge");
  harness_.Backup();
  client().RemoveProject("b.1");
  harness_.Backup();
  EXPECT_EQ(Deletions().files, 5003);
  EXPECT_EQ(harness_.catalog->GetTotals()->files, 0);
  harness_.Reopen();
  AddProject("b.1", "Tower");
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(AcceptTest, AcceptedDenialIsNamedNoMoreAndCarried) {
  harness_.Backup();
  Forbid(plans_);
  EXPECT_EQ(harness_.Backup(/*recheck_folders=*/3).counters.denied, 1);
  EXPECT_TRUE(harness_.catalog->ListUnlisted("", "", 10)->at(0).denied);
  const Accepted accepted = Denied();
  EXPECT_EQ(accepted.folders, 1);
  EXPECT_EQ(accepted.projects, 1);
  EXPECT_EQ(Denied().folders, 0);
  for (int night = 0; night < 2; ++night) {
    const catalog::BackupRecord backup = harness_.Backup();
    EXPECT_EQ(backup.counters.unlisted, 0);
    EXPECT_EQ(backup.counters.denied, 0);
    EXPECT_THAT(harness_.Unlisted(), IsEmpty());
    EXPECT_THAT(harness_.Tree(),
                AllOf(Contains(Pair("Tower/Plans", EndsWith(" unlisted"))),
                      Contains(Key("Tower/Plans/Old/b.pdf"))));
  }
}

TEST_F(AcceptTest, AcceptedDenialChangesNothing) {
  Forbid(plans_);
  harness_.Backup();
  Denied();
  ASSERT_OK(
      harness_.catalog->SetManifest(1, "b.1", std::string(64, 'a'), true));
  harness_.Backup();
  EXPECT_FALSE(harness_.IsChanged("b.1"));
}

TEST_F(AcceptTest, AcceptedDenialIsAskedAgainWithItsParent) {
  harness_.Backup();
  Forbid(old_);
  client().AddFile(old_, "late.pdf", 1);
  EXPECT_EQ(harness_.Backup().counters.denied, 1);
  Denied();
  client().ResetCalls();
  harness_.Backup();
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, old_), 0);
  client().AddFile(plans_, "new.pdf", 1);
  EXPECT_EQ(harness_.Backup().counters.unlisted, 0);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, old_), 1);
}

TEST_F(AcceptTest, AnAnswerEndsTheAcceptance) {
  harness_.Backup();
  Forbid(old_);
  client().AddFile(old_, "late.pdf", 1);
  harness_.Backup();
  Denied();
  client().ClearFailures();
  client().AddFile(plans_, "new.pdf", 1);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  Forbid(old_);
  client().AddFile(old_, "later.pdf", 1);
  EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
}

TEST_F(AcceptTest, AcceptedDenialHoldsUpNoDeletion) {
  harness_.Backup();
  Forbid(models_);
  client().AddFile(models_, "d.rvt", 1);
  client().RemoveFolder(plans_, old_);
  EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Plans/Old/b.pdf")));
  Denied();
  EXPECT_EQ(harness_.Backup().counters.unlisted, 0);
  EXPECT_THAT(harness_.Tree(), AllOf(Not(Contains(Key("Tower/Plans/Old"))),
                                     Contains(Key("Tower/Models/c.rvt"))));
}

TEST_F(AcceptTest, ForbiddenProjectCanBeAccepted) {
  harness_.Backup();
  client().FailNext(Call::kListTopFolders, "b.1",
                    absl::PermissionDeniedError("HTTP 403"), -1);
  Forbid("b.1-root");
  EXPECT_EQ(harness_.Backup().counters.denied, 1);
  EXPECT_EQ(Denied({"Tower"}).folders, 1);
  EXPECT_EQ(harness_.Backup().counters.unlisted, 0);
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Plans/Old/b.pdf")));
  client().ClearFailures();
  client().AddFile(plans_, "new.pdf", 1);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(AcceptTest, OtherFailuresCannotBeAccepted) {
  harness_.Backup();
  client().FailNext(Call::kListFolderContents, plans_,
                    absl::UnavailableError("HTTP 500"), -1);
  client().AddFile(plans_, "new.pdf", 1);
  EXPECT_EQ(harness_.Backup().counters.denied, 0);
  EXPECT_EQ(Denied().folders, 0);
  EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
}

TEST_F(AcceptTest, RefusesAnUnknownProject) {
  harness_.Backup();
  EXPECT_THAT(
      harness_.catalog->AcceptDeletions({"Tower", "Nowhere"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Nowhere")));
  EXPECT_THAT(harness_.catalog->AcceptDenied({"Nowhere"}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(AcceptTest, RefusesWhileABackupRuns) {
  harness_.Backup();
  harness_.Start();
  EXPECT_THAT(
      harness_.catalog->AcceptDeletions({}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is running")));
}

}  // namespace
}  // namespace bimbackup::crawl
