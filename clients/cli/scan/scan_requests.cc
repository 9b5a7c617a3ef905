#include "clients/cli/scan/scan_requests.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::cli::scan {
namespace {

constexpr absl::Duration kProgressInterval = absl::Milliseconds(500);

// What a benchmark measures unless told: the experiment that this project
// started from.
constexpr v1::LineReadStrategy kDefaultStrategies[] = {
    v1::LINE_READ_STRATEGY_BLOCKING, v1::LINE_READ_STRATEGY_ASYNC};
constexpr int32_t kDefaultBuffers[] = {1024, 64 << 10, 10'000'000};

// Fails with one line for a name that the enum does not have.
template <typename Enum>
absl::StatusOr<Enum> ParseName(absl::string_view prefix,
                               const std::string& name,
                               bool (*parse)(const std::string&, Enum*)) {
  Enum value{};
  if (!parse(absl::StrCat(prefix, absl::AsciiStrToUpper(name)), &value) ||
      value == Enum{}) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\" is not known; see --help"));
  }
  return value;
}

absl::StatusOr<v1::LineReadStrategy> ParseStrategy(const std::string& name) {
  return ParseName<v1::LineReadStrategy>(
      "LINE_READ_STRATEGY_", name,
      [](const std::string& text, v1::LineReadStrategy* value) {
        return v1::LineReadStrategy_Parse(text, value);
      });
}

absl::StatusOr<v1::LineWork> ParseWork(const std::string& name) {
  return ParseName<v1::LineWork>(
      "LINE_WORK_", name, [](const std::string& text, v1::LineWork* value) {
        return v1::LineWork_Parse(text, value);
      });
}

absl::Status FillMatrix(const ScanOptions& options,
                        v1::BenchmarkRequest& request) {
  for (const std::string& name : options.strategies) {
    absl::StatusOr<v1::LineReadStrategy> strategy = ParseStrategy(name);
    if (!strategy.ok()) return strategy.status();
    request.add_strategies(*strategy);
  }
  for (const std::string& name : options.works) {
    absl::StatusOr<v1::LineWork> work = ParseWork(name);
    if (!work.ok()) return work.status();
    request.add_works(*work);
  }
  for (const int64_t bytes : options.buffer_bytes) {
    request.add_buffer_bytes(static_cast<int32_t>(bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ScanRequest> ScanRequestFrom(const ScanOptions& options,
                                                bool progress) {
  v1::ScanRequest request;
  request.set_path(options.path);
  request.set_start_offset(options.start_offset);
  v1::LineReadOptions& reading = *request.mutable_options();
  reading.set_threads(options.threads);
  reading.set_max_line_bytes(options.max_line_bytes);
  if (!options.buffer_bytes.empty()) {
    reading.set_buffer_bytes(static_cast<int32_t>(options.buffer_bytes[0]));
  }
  if (!options.strategies.empty()) {
    absl::StatusOr<v1::LineReadStrategy> strategy =
        ParseStrategy(options.strategies[0]);
    if (!strategy.ok()) return strategy.status();
    reading.set_strategy(*strategy);
  }
  if (progress) {
    request.mutable_progress_interval()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(kProgressInterval)));
  }
  return request;
}

absl::StatusOr<v1::BenchmarkRequest> BenchmarkRequestFrom(
    const ScanOptions& options) {
  v1::BenchmarkRequest request;
  const absl::Status status = FillMatrix(options, request);
  if (!status.ok()) return status;
  if (request.strategies().empty()) {
    for (const auto strategy : kDefaultStrategies) {
      request.add_strategies(strategy);
    }
  }
  if (options.buffer_bytes.empty() && options.strategies.empty()) {
    for (const int32_t bytes : kDefaultBuffers) {
      request.add_buffer_bytes(bytes);
    }
  }
  if (request.works().empty()) request.add_works(v1::LINE_WORK_KEEP);
  request.set_repetitions(options.repetitions);
  request.set_threads(options.threads);
  request.set_cache(options.cold ? v1::CACHE_STATE_COLD : v1::CACHE_STATE_WARM);
  if (!options.path.empty()) {
    request.set_path(options.path);
  } else {
    request.mutable_corpus()->set_bytes(options.corpus_bytes);
    request.mutable_corpus()->set_mean_line_bytes(options.mean_line_bytes);
  }
  return request;
}

}  // namespace bimbackup::cli::scan
