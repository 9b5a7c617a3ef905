#include "clients/cli/format.h"

#include <sstream>

#include "clients/cli/command.h"
#include "gtest/gtest.h"

namespace bimbackup::cli {
namespace {

TEST(FormatTest, Bytes) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1000), "1.0 kB");
  EXPECT_EQ(HumanBytes(9'949'999), "9.9 MB");
  EXPECT_EQ(HumanBytes(9'960'000), "10 MB");
  EXPECT_EQ(HumanBytes(999'600'000), "1.0 GB");
  EXPECT_EQ(HumanBytes(50e12), "50 TB");
  EXPECT_EQ(HumanBytes(9.2e18), "9.2 EB");
}

TEST(FormatTest, Counts) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1000), "1,000");
  EXPECT_EQ(HumanCount(40230), "40,230");
  EXPECT_EQ(HumanCount(10'000'000), "10,000,000");
  EXPECT_EQ(HumanCount(-123456), "-123,456");
}

TEST(FormatTest, Durations) {
  EXPECT_EQ(HumanDuration(absl::Milliseconds(-5)), "0s");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(1600)), "2s");
  EXPECT_EQ(HumanDuration(absl::Seconds(185)), "3m 05s");
  EXPECT_EQ(HumanDuration(absl::Minutes(127)), "2h 07m");
  EXPECT_EQ(HumanDuration(absl::Hours(76)), "3d 04h");
}

TEST(FormatTest, NoNameCanSteerATerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\n\x7f"), "a\\x1b[2Jb\\x0a\\x7f");
  EXPECT_EQ(Printable("Größe 🏗"), "Größe 🏗");
}

TEST(FormatTest, ResourceNames) {
  EXPECT_EQ(ResourceName("backups", ""), "backups/-");
  EXPECT_EQ(ResourceName("backups", "7"), "backups/7");
  EXPECT_EQ(ResourceName("backups", "backups/7"), "backups/7");
  EXPECT_EQ(ResourceName("snapshots", "-"), "snapshots/-");
}

TEST(FormatTest, StatesAndTheirExitCodes) {
  EXPECT_EQ(StateName(v1::BACKUP_STATE_CRAWLING), "crawling");
  EXPECT_FALSE(HasEnded(v1::BACKUP_STATE_COMMITTING));
  EXPECT_TRUE(HasEnded(v1::BACKUP_STATE_CANCELLED));
  EXPECT_EQ(ExitCodeOf(v1::BACKUP_STATE_SUCCEEDED), 0);
  EXPECT_EQ(ExitCodeOf(v1::BACKUP_STATE_PARTIAL), 3);
  EXPECT_EQ(ExitCodeOf(v1::BACKUP_STATE_FAILED), 1);
  EXPECT_EQ(ExitCodeOf(v1::BACKUP_STATE_CANCELLED), 1);
}

TEST(FormatTest, ExitCodesOfFailedCalls) {
  EXPECT_EQ(ExitCodeFor(absl::UnavailableError("")), 4);
  EXPECT_EQ(ExitCodeFor(absl::DeadlineExceededError("")), 4);
  EXPECT_EQ(ExitCodeFor(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeFor(absl::AbortedError("")), 1);
}

TEST(FormatTest, TablesAreAligned) {
  Table table({"NAME", ">SIZE", "STATE"});
  table.AddRow({"Größe", "1", "ok"});
  table.AddRow({"b", "1,000", "no"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "NAME    SIZE  STATE\n"
            "Größe      1  ok\n"
            "b      1,000  no\n");
}

}  // namespace
}  // namespace bimbackup::cli
