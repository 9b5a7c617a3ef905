#include "clients/cli/restore/restore_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::cli {
namespace {

using restore::Outcome;
using restore::OutcomeKind;
using restore::RestoreSummary;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Outcome Damaged() {
  Outcome outcome;
  outcome.kind = OutcomeKind::kDamaged;
  outcome.snapshot_id = "1";
  outcome.entry.project_name = "To\"wer";
  outcome.entry.path = {"a\nb", "c"};
  outcome.entry.item_id = "item";
  outcome.entry.version_number = 3;
  outcome.entry.size = 7;
  outcome.entry.last_modified =
      absl::FromUnixSeconds(1'700'000'000) + absl::Milliseconds(5);
  outcome.local_path = "Tower/a\nb/c";
  outcome.message = "blob x is missing";
  return outcome;
}

TEST(RestoreTextTest, AnOutcomeIsOneLineThatSteersNoTerminal) {
  EXPECT_EQ(RenderOutcome(Damaged()),
            "damaged     Tower/a\\x0ab/c: blob x is missing");
}

TEST(RestoreTextTest, AnOutcomeIsOneJsonObject) {
  EXPECT_EQ(OutcomeJson(Damaged()),
            R"({"outcome":"damaged","localPath":"Tower/a\u000ab/c",)"
            R"("projectName":"To\"wer","path":["a\u000ab","c"],)"
            R"("snapshot":"snapshots/1","itemId":"item","versionNumber":3,)"
            R"("size":7,"sha256":"",)"
            R"("lastModified":"2023-11-14T22:13:20.005Z","status":"stored",)"
            R"("message":"blob x is missing"})");
}

TEST(RestoreTextTest, ASummaryNamesOnlyWhatThereWas) {
  RestoreSummary summary;
  summary.snapshot_id = "1";
  summary.restored = 1;
  summary.bytes = 1200;
  EXPECT_EQ(RenderRestoreSummary(summary, false, "/to"),
            "restored 1 file, 1.2 kB, into /to from snapshots/1\n");
  summary.damaged = 2;
  summary.unchanged = 1;
  summary.damage = {"manifest x is missing"};
  const std::string text = RenderRestoreSummary(summary, true, "/to");
  EXPECT_THAT(text, HasSubstr("would restore 1 file"));
  EXPECT_THAT(text, HasSubstr("  2 files DAMAGED"));
  EXPECT_THAT(text, HasSubstr("  DAMAGED: manifest x is missing\n"));
  EXPECT_THAT(text, Not(HasSubstr("FAILED")));
}

TEST(RestoreTextTest, ASummaryIsOneJsonObject) {
  RestoreSummary summary;
  summary.snapshot_id = "1";
  summary.restored = 2;
  summary.damage = {"a", "b"};
  EXPECT_EQ(SummaryJson(summary, true),
            R"({"summary":{"snapshot":"snapshots/1","dryRun":true,"folders":0,)"
            R"("restored":2,"bytes":0,"unchanged":0,"kept":0,"noContent":0,)"
            R"("damaged":0,"failed":0,"renamed":0,"damage":["a","b"]}})");
}

TEST(RestoreTextTest, BarsNeedTotals) {
  RestoreState state;
  state.files_done = 6;
  state.bytes_done = 1000;
  state.elapsed = absl::Seconds(10);
  EXPECT_THAT(RenderRestoreBars(state),
              ElementsAre("files   6, 10s", "bytes   1.0 kB, 100 B/s"));
  state.files = 12;
  state.bytes = 4000;
  EXPECT_THAT(
      RenderRestoreBars(state),
      ElementsAre("files   [############------------] 6 of 12, 10s",
                  "bytes   [######------------------] 1.0 kB of 4.0 kB, "
                  "100 B/s, ETA 30s"));
  EXPECT_EQ(RenderRestoreLine(state),
            "files 6 of 12, bytes 1.0 kB of 4.0 kB, 100 B/s, ETA 30s");
}

}  // namespace
}  // namespace bimbackup::cli
