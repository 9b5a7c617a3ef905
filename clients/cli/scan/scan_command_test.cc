#include "clients/cli/scan/scan_command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "CLI/CLI.hpp"
#include "clients/cli/scan/benchmark_report.h"
#include "clients/cli/scan/svg_chart.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "services/common/flags.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/server.h"

namespace bimbackup::cli::scan {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A file-scan server over a folder, and the command run against it.
class ScanCommandTest : public testing::Test {
 protected:
  ScanCommandTest() {
    std::string pattern = (fs::temp_directory_path() / "cliXXXXXX").string();
    base_ = mkdtemp(pattern.data());
    std::ofstream(base_ / "a.txt") << "one\ntwo\nthree";
    file_scan::Options options;
    options.listen = "127.0.0.1:0";
    options.root = base_.string();
    options.scratch = base_.string();
    auto server = file_scan::Server::Start(options);
    EXPECT_OK(server);
    server_ = *std::move(server);
  }
  ~ScanCommandTest() override {
    server_->Shutdown(absl::ZeroDuration());
    fs::remove_all(base_);
  }

  // Runs `bimbackup scan ARGUMENTS`; returns the exit code.
  int Run(std::vector<const char*> arguments, Output output = Output::kText) {
    CLI::App app("", "bimbackup");
    CommandAction chosen;
    AddScanCommand(app, chosen);
    arguments.insert(arguments.begin(), {"bimbackup", "scan"});
    if (const auto code = ParseFlags(app, static_cast<int>(arguments.size()),
                                     arguments.data())) {
      return *code;
    }
    out_.str("");
    err_.str("");
    CommandContext context;
    context.file_scan = server_->address();
    context.output = output;
    context.out = &out_;
    context.err = &err_;
    return chosen(context);
  }

  fs::path base_;
  std::unique_ptr<file_scan::Server> server_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ScanCommandTest, PrintsCounts) {
  EXPECT_EQ(Run({"a.txt"}), kExitSuccess) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("lines         3, the last one without"));
  EXPECT_THAT(out_.str(), HasSubstr("longest line  5 bytes"));
}

TEST_F(ScanCommandTest, PrintsTheMessageAsJson) {
  EXPECT_EQ(Run({"a.txt", "--strategy=parallel", "--offset=4"}, Output::kJson),
            kExitSuccess);
  v1::ScanResponse response;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(out_.str(), &response).ok());
  EXPECT_EQ(response.lines(), 2);
  EXPECT_TRUE(response.done());
}

TEST_F(ScanCommandTest, FileMayFollowAnyFlag) {
  EXPECT_EQ(Run({"--strategy", "mmap", "--buffer", "4KiB", "a.txt"}),
            kExitSuccess)
      << err_.str();
}

TEST_F(ScanCommandTest, SaysWhatIsWrong) {
  EXPECT_EQ(Run({"none.txt"}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("none.txt"));
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("name a FILE"));
  EXPECT_EQ(Run({"a.txt"}, Output::kSvg), kExitUsage);
  EXPECT_EQ(Run({"a.txt", "--strategy=fast"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("\"fast\" is not known"));
  EXPECT_EQ(Run({"../a.txt"}), kExitUsage);
  EXPECT_EQ(Run({"a.txt", "--buffer=lots"}), kExitUsage);
  EXPECT_EQ(Run({"a.txt", "--unknown"}), kExitUsage);
}

TEST_F(ScanCommandTest, UnreachableServerHasItsOwnExitCode) {
  server_->Shutdown(absl::ZeroDuration());
  EXPECT_EQ(Run({"a.txt"}), kExitUnreachable);
  EXPECT_THAT(err_.str(), HasSubstr(server_->address()));
}

TEST_F(ScanCommandTest, BenchmarkPrintsATableWithProgress) {
  EXPECT_EQ(Run({"--benchmark", "--corpus=200KB", "--buffer=1KiB,64KiB",
                 "--strategy=blocking,async", "--work=keep,count"}),
            kExitSuccess)
      << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("row 8 of 8: async 64 KiB count: "));
  EXPECT_THAT(out_.str(), HasSubstr("Reading 200 kB of text, 2,"));
  EXPECT_THAT(out_.str(), HasSubstr("Strategy"));
  EXPECT_THAT(out_.str(), HasSubstr("StdDev"));
  EXPECT_THAT(out_.str(), HasSubstr("1.00"));
}

TEST_F(ScanCommandTest, BenchmarkDefaultsToTheExperiment) {
  EXPECT_EQ(
      Run({"--benchmark", "--corpus=100KB", "--repetitions=1"}, Output::kJson),
      kExitSuccess);
  const std::string rows = out_.str();
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 6);
  EXPECT_THAT(rows, HasSubstr("\"bufferBytes\":10000000"));
  EXPECT_THAT(rows, HasSubstr("LINE_WORK_KEEP"));
}

TEST_F(ScanCommandTest, BenchmarkDrawsAChart) {
  EXPECT_EQ(Run({"a.txt", "--benchmark", "--buffer=64"}, Output::kSvg),
            kExitSuccess);
  EXPECT_EQ(out_.str().rfind("<svg ", 0), 0);
  EXPECT_THAT(out_.str(), HasSubstr("async 64 B keep"));
}

TEST(SvgChartTest, BarsAreAsLongAsTheirValuesAndTextIsEscaped) {
  const std::string svg = BarChartSvg(
      "a < b", {{"one", 2, "2 s"}, {"two & three", 1, "1 s"}, {"no", 0, "-"}},
      "note");
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("two &amp; three"));
  EXPECT_THAT(svg, HasSubstr("width=\"406.0\""));
  EXPECT_THAT(svg, HasSubstr("width=\"203.0\""));
  EXPECT_THAT(svg, HasSubstr("width=\"1.0\""));
}

TEST(BenchmarkReportTest, SizesAndTimesAreShort) {
  EXPECT_EQ(BufferSize(64), "64 B");
  EXPECT_EQ(BufferSize(1024), "1 KiB");
  EXPECT_EQ(BufferSize(10'000'000), "10 MB");
  EXPECT_EQ(BufferSize(2 << 20), "2 MiB");
  google::protobuf::Duration duration;
  duration.set_nanos(1'234'567);
  EXPECT_EQ(ShortTime(duration), "1.23 ms");
  duration.set_seconds(93);
  EXPECT_EQ(ShortTime(duration), "93.0 s");
}

TEST(BenchmarkReportTest, RowsThatAreNotAvailableSaySo) {
  v1::BenchmarkResponse row;
  row.set_strategy(v1::LINE_READ_STRATEGY_IO_URING);
  row.set_unavailable("io_uring is blocked");
  std::ostringstream out;
  PrintTable({row}, out);
  EXPECT_THAT(out.str(), HasSubstr("n/a: io_uring is blocked"));
  EXPECT_THAT(TableSvg({row}), HasSubstr("not available here"));
}

}  // namespace
}  // namespace bimbackup::cli::scan
