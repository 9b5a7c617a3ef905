#include "clients/cli/progress.h"

#include <sstream>
#include <string>

#include "clients/cli/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"

namespace bimbackup::cli {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::ResultOf;
using testing::SizeIs;
using testing::StartsWith;

v1::WatchBackupResponse Running() {
  v1::WatchBackupResponse response;
  v1::Backup& backup = *response.mutable_backup();
  backup.set_name("backups/7");
  backup.set_state(v1::BACKUP_STATE_CRAWLING);
  v1::BackupProgress& p = *backup.mutable_progress();
  p.set_projects(1);
  p.set_folders(30);
  p.set_folders_listed(10);
  p.set_folders_skipped(5);
  p.set_folders_pending(15);
  p.set_files(136);
  p.set_transfers(100);
  p.set_transfers_stored(25);
  p.set_transfer_bytes(300'000'000);
  p.set_bytes_stored(150'000'000);
  p.set_bytes_per_second(25e6);
  p.mutable_eta()->set_seconds(6);
  p.set_limited_by(v1::LIMIT_API_FOLDERS);
  return response;
}

size_t CountLines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

class ProgressTest : public testing::Test {
 protected:
  ProgressTest() {
    context_.out = &out_;
    context_.err = &err_;
  }

  std::ostringstream out_;
  std::ostringstream err_;
  CommandContext context_;
  FakeClock clock_;
};

TEST_F(ProgressTest, BarsShowFilesBytesRateTimeLeftAndLimit) {
  const std::vector<std::string> lines =
      RenderBars(Running().backup(), absl::Seconds(65), 120);
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_THAT(lines[0], AllOf(HasSubstr("backups/7"), HasSubstr("1m 05s")));
  EXPECT_THAT(lines[1], AllOf(HasSubstr("[############------------]"),
                              HasSubstr("15 of 30 so far")));
  EXPECT_THAT(lines[2], HasSubstr("25 of 100 to fetch, 136 known"));
  EXPECT_THAT(lines[3], HasSubstr("150 MB of 300 MB, 25 MB/s, ETA 6s"));
  EXPECT_THAT(lines[4], HasSubstr("listing folders"));
}

TEST_F(ProgressTest, BarsFitTheTerminal) {
  v1::WatchBackupResponse response = Running();
  response.mutable_backup()->set_message(std::string(300, '\n') + "🏗🏗");
  EXPECT_THAT(
      RenderBars(response.backup(), absl::Seconds(1), 40),
      Each(ResultOf([](const std::string& line) { return DisplayWidth(line); },
                    testing::Le(40))));
}

TEST_F(ProgressTest, BarsAreRedrawnInPlace) {
  context_.terminal = true;
  const std::unique_ptr<Progress> progress = MakeProgress(context_, clock_);
  progress->Update(Running());
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b[")));
  out_.str("");
  progress->Update(Running());
  EXPECT_THAT(out_.str(), StartsWith("\x1b[5A\x1b[J"));
}

TEST_F(ProgressTest, LinesAreRareUnlessTheStateChanges) {
  const std::unique_ptr<Progress> progress = MakeProgress(context_, clock_);
  v1::WatchBackupResponse response = Running();
  for (int i = 0; i < 40; ++i) {
    progress->Update(response);
    clock_.Advance(absl::Milliseconds(250));
  }
  EXPECT_EQ(CountLines(out_.str()), 1);
  progress->Update(response);
  EXPECT_EQ(CountLines(out_.str()), 2);
  response.mutable_backup()->set_state(v1::BACKUP_STATE_TRANSFERRING);
  progress->Update(response);
  EXPECT_EQ(CountLines(out_.str()), 3);
  response.mutable_backup()->set_message("the storage is full");
  progress->Update(response);
  EXPECT_EQ(CountLines(out_.str()), 4);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("the storage is full"), Not(HasSubstr("\x1b"))));
}

TEST_F(ProgressTest, JsonIsOneMessageALine) {
  context_.output = Output::kJson;
  const std::unique_ptr<Progress> progress = MakeProgress(context_, clock_);
  progress->Update(Running());
  progress->Finish(Running().backup());
  EXPECT_EQ(CountLines(out_.str()), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("\"transfersStored\":\"25\""),
                    HasSubstr("\"transfersFailed\":\"0\""),
                    HasSubstr("\"state\":\"BACKUP_STATE_CRAWLING\"")));
}

TEST_F(ProgressTest, TheSummaryNamesTroubleAndTheSnapshot) {
  v1::Backup backup = Running().backup();
  backup.set_state(v1::BACKUP_STATE_PARTIAL);
  backup.set_snapshot("snapshots/s1");
  backup.mutable_progress()->set_transfers_failed(2);
  backup.mutable_progress()->set_unlisted(1);
  (*backup.mutable_progress()->mutable_api_calls())["folders"] = 40;
  EXPECT_THAT(
      RenderSummary(backup),
      AllOf(HasSubstr("backups/7 partial"), HasSubstr("40 API calls"),
            HasSubstr("2 failed, 1 not listed"),
            HasSubstr("bimbackup failures"), HasSubstr("left snapshots/s1")));
}

TEST_F(ProgressTest, ADryRunSaysWhatABackupWouldFetchAndHowLongThatTakes) {
  v1::Backup backup = Running().backup();
  backup.mutable_request()->set_validate_only(true);
  (*backup.mutable_progress()->mutable_api_calls())["folders"] = 907;
  v1::BackupPlan& plan = *backup.mutable_progress()->mutable_plan();
  plan.set_transfers(40'230);
  plan.set_bytes(5'000'000);
  (*plan.mutable_api_calls())["storage"] = 40'230;
  (*plan.mutable_api_calls())["projects"] = 2;
  plan.mutable_floor()->set_seconds(2400);
  plan.set_floor_class("storage");
  plan.set_floor_calls_per_minute(1000);
  const std::string text = RenderSummary(backup);
  EXPECT_THAT(text, HasSubstr("would fetch 40,230 files, 5.0 MB"));
  EXPECT_THAT(text, HasSubstr("API calls of this dry run: 907 folders\n"));
  EXPECT_THAT(text, HasSubstr("of the backup: 2 projects, 40,230 storage\n"));
  EXPECT_THAT(
      text,
      HasSubstr("at least 40 min: 40,230 signed URLs at 1,000 a minute\n"));
  plan.set_transfers(50'000);
  EXPECT_THAT(
      RenderSummary(backup),
      HasSubstr("at least 40 min: 40,230 signing calls at 1,000 a minute\n"));
}

TEST_F(ProgressTest, ADryRunWithoutARateHasNoShortestTime) {
  v1::Backup backup = Running().backup();
  backup.mutable_request()->set_validate_only(true);
  backup.mutable_progress()->mutable_plan()->set_transfers(1);
  const std::string text = RenderSummary(backup);
  EXPECT_THAT(text, HasSubstr("would fetch 1 file,"));
  EXPECT_THAT(text, testing::Not(HasSubstr("at least")));
}

}  // namespace
}  // namespace bimbackup::cli
