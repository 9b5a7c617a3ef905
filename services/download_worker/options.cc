#include "services/download_worker/options.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "services/common/flags.h"
#include "services/common/status_macros.h"

namespace bimbackup::download_worker {
namespace {

// As they stand on the command line.
struct RawFlags {
  std::string max_bandwidth = "0";
  std::string allowed_hosts;
  std::string idle_limit = "30s";
  std::string drain_grace = "30s";
};

void AddConnectionFlags(CLI::App& app, Options& options, RawFlags& raw) {
  app.add_option("--coordinator", options.coordinator,
                 "The coordinator's host:port")
      ->envname("BIMBACKUP_COORDINATOR")
      ->capture_default_str();
  app.add_option("--listen", options.listen,
                 "Where to serve DownloadWorkerService; port 0 takes a free "
                 "one")
      ->envname("BIMBACKUP_LISTEN")
      ->capture_default_str();
  app.add_option("--storage", options.storage,
                 "The storage that the coordinator uses too, such as "
                 "file:///backup")
      ->envname("BIMBACKUP_STORAGE")
      ->required();
  app.add_option("--allowed_hosts", raw.allowed_hosts,
                 "More hosts that URLs may point to, such as "
                 "*.example.com,host:8080")
      ->envname("BIMBACKUP_ALLOWED_HOSTS");
}

void AddTransferFlags(CLI::App& app, Options& options, RawFlags& raw) {
  app.add_option("--max_transfers", options.max_transfers,
                 "Requests that run at once, at most; the worker starts with "
                 "32 and finds out what moves most")
      ->envname("BIMBACKUP_MAX_TRANSFERS")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--max_bandwidth", raw.max_bandwidth,
                 "Bytes a second for all of them, such as 20MB/s; 0 for no "
                 "cap")
      ->envname("BIMBACKUP_MAX_BANDWIDTH")
      ->capture_default_str();
  app.add_option("--idle_limit", raw.idle_limit,
                 "How long a request may stand still")
      ->envname("BIMBACKUP_IDLE_LIMIT")
      ->capture_default_str();
  app.add_option("--drain_grace", raw.drain_grace,
                 "How long running transfers may go on after SIGTERM")
      ->envname("BIMBACKUP_DRAIN_GRACE")
      ->capture_default_str();
  app.add_option("--log_level", options.log_level,
                 "debug, info, warning or error")
      ->envname("BIMBACKUP_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
}

absl::Status Named(absl::string_view flag, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(flag, ": ", status.message()));
}

absl::Status Interpret(const RawFlags& raw, Options& options) {
  const auto bandwidth = ParseBytesFlag(raw.max_bandwidth);
  if (!bandwidth.ok()) return Named("--max_bandwidth", bandwidth.status());
  options.max_bandwidth = *bandwidth;
  const auto idle_limit = ParseDurationFlag(raw.idle_limit);
  if (!idle_limit.ok()) return Named("--idle_limit", idle_limit.status());
  if (*idle_limit <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--idle_limit: must be above zero");
  }
  options.idle_limit = *idle_limit;
  const auto grace = ParseDurationFlag(raw.drain_grace);
  if (!grace.ok()) return Named("--drain_grace", grace.status());
  options.drain_grace = *grace;
  auto hosts = http::HostPolicy::Parse(raw.allowed_hosts);
  if (!hosts.ok()) return Named("--allowed_hosts", hosts.status());
  options.allowed_hosts = *std::move(hosts);
  return absl::OkStatus();
}

}  // namespace

ParsedOptions ParseOptions(int argc, const char* const* argv) {
  ParsedOptions parsed;
  RawFlags raw;
  CLI::App app(
      "Moves the bytes of a backup: leases transfers from the coordinator,\n"
      "fetches them from signed URLs into the storage, verifies and commits\n"
      "them. Holds no Autodesk credential.",
      "bimbackup-worker");
  app.set_version_flag("--version", BIMBACKUP_VERSION);
  AddConnectionFlags(app, parsed.options, raw);
  AddTransferFlags(app, parsed.options, raw);
  rpc::AddTlsFlags(app, parsed.options.security);
  rpc::AddInsecureFlag(app, parsed.options.security);
  parsed.exit_code = ParseFlags(app, argc, argv);
  if (parsed.exit_code.has_value()) return parsed;
  const absl::Status interpreted = Interpret(raw, parsed.options);
  if (!interpreted.ok()) {
    parsed.exit_code = ReportUsageError("bimbackup-worker", interpreted);
  }
  return parsed;
}

}  // namespace bimbackup::download_worker
