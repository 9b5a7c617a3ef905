#include "clients/cli/scan/benchmark_report.h"

#include <ostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "clients/cli/format.h"
#include "clients/cli/scan/svg_chart.h"

namespace bimbackup::cli::scan {
namespace {

constexpr char kNote[] =
    "Error is half of the 99.9 % confidence interval. Handing a refill to "
    "another thread costs most on an idle machine, where a sleeping core has "
    "to wake for it.";

double Seconds(const google::protobuf::Duration& duration) {
  return duration.seconds() + duration.nanos() / 1e9;
}

std::string NameWithout(const std::string& prefix, const std::string& name) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string TimeOrDash(bool present,
                       const google::protobuf::Duration& duration) {
  return present ? ShortTime(duration) : "-";
}

// What was read, as a title.
std::string Title(const std::vector<v1::BenchmarkResponse>& rows) {
  for (const v1::BenchmarkResponse& row : rows) {
    if (row.lines() == 0) continue;
    return absl::StrCat("Reading ", HumanBytes(row.bytes()), " of text, ",
                        HumanCount(row.lines()), " lines");
  }
  return "Reading a text file";
}

}  // namespace

std::string StrategyName(v1::LineReadStrategy strategy) {
  return NameWithout("LINE_READ_STRATEGY_",
                     v1::LineReadStrategy_Name(strategy));
}

std::string WorkName(v1::LineWork work) {
  return NameWithout("LINE_WORK_", v1::LineWork_Name(work));
}

std::string RowLabel(const v1::BenchmarkResponse& row) {
  return absl::StrCat(StrategyName(row.strategy()), " ",
                      BufferSize(row.buffer_bytes()), " ",
                      WorkName(row.work()));
}

std::string ShortTime(const google::protobuf::Duration& duration) {
  const double seconds = Seconds(duration);
  if (seconds >= 100) return absl::StrFormat("%.0f s", seconds);
  if (seconds >= 10) return absl::StrFormat("%.1f s", seconds);
  if (seconds >= 1) return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 0.1) return absl::StrFormat("%.0f ms", seconds * 1e3);
  if (seconds >= 0.01) return absl::StrFormat("%.1f ms", seconds * 1e3);
  if (seconds >= 0.001) return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.0f µs", seconds * 1e6);
}

std::string BufferSize(int64_t bytes) {
  for (const auto& [unit, name] :
       {std::pair<int64_t, const char*>{1 << 20, "MiB"},
        {1'000'000, "MB"},
        {1 << 10, "KiB"},
        {1'000, "KB"}}) {
    if (bytes >= unit && bytes % unit == 0) {
      return absl::StrCat(bytes / unit, " ", name);
    }
  }
  return absl::StrCat(bytes, " B");
}

std::string RowLine(const v1::BenchmarkResponse& row) {
  return absl::StrCat(
      "row ", row.row(), " of ", row.rows(), ": ", RowLabel(row), ": ",
      row.unavailable().empty() ? ShortTime(row.mean()) : row.unavailable());
}

void PrintTable(const std::vector<v1::BenchmarkResponse>& rows,
                std::ostream& out) {
  out << Title(rows) << "\n\n";
  Table table({"Strategy", ">Buffer", "Work", ">Mean", ">Error", ">StdDev",
               ">Min", ">Max", ">GB/s", ">Ratio", ">CPU"});
  std::string unavailable;
  for (const v1::BenchmarkResponse& row : rows) {
    std::vector<std::string> cells = {StrategyName(row.strategy()),
                                      BufferSize(row.buffer_bytes()),
                                      WorkName(row.work())};
    if (!row.unavailable().empty()) {
      cells.insert(cells.end(), {"n/a", "-", "-", "-", "-", "-", "-", "-"});
      unavailable = row.unavailable();
    } else {
      cells.insert(
          cells.end(),
          {ShortTime(row.mean()), TimeOrDash(row.has_error(), row.error()),
           TimeOrDash(row.has_standard_deviation(), row.standard_deviation()),
           ShortTime(row.min()), ShortTime(row.max()),
           absl::StrFormat("%.2f", row.gigabytes_per_second()),
           absl::StrFormat("%.2f", row.ratio()), ShortTime(row.cpu())});
    }
    table.AddRow(std::move(cells));
  }
  table.Print(out);
  out << "\n" << kNote << "\n";
  if (!unavailable.empty()) out << "n/a: " << unavailable << "\n";
}

std::string TableSvg(const std::vector<v1::BenchmarkResponse>& rows) {
  std::vector<ChartBar> bars;
  for (const v1::BenchmarkResponse& row : rows) {
    ChartBar& bar = bars.emplace_back();
    bar.label = RowLabel(row);
    bar.value = Seconds(row.mean());
    bar.text = row.unavailable().empty()
                   ? absl::StrFormat("%s, %.2f GB/s", ShortTime(row.mean()),
                                     row.gigabytes_per_second())
                   : "not available here";
  }
  return BarChartSvg(Title(rows), bars,
                     "Mean time; shorter is better. Made by bimbackup scan "
                     "--benchmark --output=svg.");
}

}  // namespace bimbackup::cli::scan
