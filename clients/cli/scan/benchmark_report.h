// A benchmark's rows for people.

#ifndef CLIENTS_CLI_SCAN_BENCHMARK_REPORT_H_
#define CLIENTS_CLI_SCAN_BENCHMARK_REPORT_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "bimbackup/v1/file_scan_service.pb.h"

namespace bimbackup::cli::scan {

// "io_uring", "keep_views".
std::string StrategyName(v1::LineReadStrategy strategy);
std::string WorkName(v1::LineWork work);

// "async 1 KiB keep".
std::string RowLabel(const v1::BenchmarkResponse& row);

// "1.234 s", "56.7 ms", "890 µs": three digits.
std::string ShortTime(const google::protobuf::Duration& duration);

// "1 KiB", "10 MB", "100 B": the unit that leaves no rest, if there is one.
std::string BufferSize(int64_t bytes);

// "row 2 of 6: async 1 KiB keep: 1.234 s".
std::string RowLine(const v1::BenchmarkResponse& row);

// The table with its note.
void PrintTable(const std::vector<v1::BenchmarkResponse>& rows,
                std::ostream& out);

// The bar chart of the means.
std::string TableSvg(const std::vector<v1::BenchmarkResponse>& rows);

}  // namespace bimbackup::cli::scan

#endif  // CLIENTS_CLI_SCAN_BENCHMARK_REPORT_H_
