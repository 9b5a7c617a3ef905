#include "services/coordinator/options.h"

#include <array>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/common/flags.h"
#include "services/common/status_macros.h"

namespace bimbackup::coordinator {
namespace {

constexpr absl::string_view kProgram = "bimbackup-coordinator";

// Values that are parsed after the command line.
struct RawFlags {
  std::string api_budget = "90%";
  std::string recheck_budget = "5m";
  std::string max_duration;
  std::string lease_duration = "60s";
  std::string windows_names = "on";
};

void AddServerFlags(CLI::App& app, Options& options) {
  app.add_option("--listen", options.listen,
                 "gRPC: host:port, port 0 for a free one")
      ->envname("BIMBACKUP_LISTEN")
      ->capture_default_str();
  app.add_option("--http_listen", options.http_listen,
                 "/healthz, /metrics and the status page; empty for none")
      ->envname("BIMBACKUP_HTTP_LISTEN")
      ->capture_default_str();
  app.add_option("--state_dir", options.state_dir, "where the catalog is kept")
      ->envname("BIMBACKUP_STATE_DIR");
  app.add_option("--storage", options.storage,
                 "where the backup is kept, such as file:///backup")
      ->envname("BIMBACKUP_STORAGE");
  app.add_flag("--rebuild_catalog", options.rebuild_catalog,
               "where the state folder holds no catalog, make it anew from the "
               "storage's copy of it, or its snapshots; no effect otherwise")
      ->envname("BIMBACKUP_REBUILD_CATALOG");
  app.add_option("--allowed_hosts", options.allowed_hosts,
                 "hosts to which signed URLs may point besides Autodesk's and "
                 "S3's, such as *.example.com")
      ->envname("BIMBACKUP_ALLOWED_HOSTS");
  app.add_option("--log_level", options.log_level,
                 "debug, info, warning or error")
      ->envname("BIMBACKUP_LOG_LEVEL")
      ->capture_default_str();
}

void AddAccountFlags(CLI::App& app, Options& options) {
  app.add_option("--bim360_base_url", options.bim360_base_url,
                 "Autodesk's API, or an emulator's")
      ->envname("BIM360_BASE_URL")
      ->capture_default_str();
  app.add_option("--client_id", options.client_id, "the APS app's client id")
      ->envname("APS_CLIENT_ID");
  app.add_option("--account_id", options.account_id, "the account's id")
      ->envname("APS_ACCOUNT_ID");
  app.add_option("--hub_id", options.hub_id, "the hub; b.<account> if empty")
      ->envname("APS_HUB_ID");
  app.add_option("--region", options.region, "the account's region")
      ->envname("APS_REGION");
  app.add_flag("--include_hidden", options.include_hidden,
               "back up deleted files and folders too")
      ->envname("BIMBACKUP_INCLUDE_HIDDEN");
  app.add_flag("--include_service_folders", options.include_service_folders,
               "back up folders that Autodesk's services keep for themselves")
      ->envname("BIMBACKUP_INCLUDE_SERVICE_FOLDERS");
}

void AddBackupFlags(CLI::App& app, Options& options, RawFlags& raw) {
  app.add_option("--api_budget", raw.api_budget,
                 "share of Autodesk's published rates, or unlimited")
      ->envname("BIMBACKUP_API_BUDGET")
      ->capture_default_str();
  app.add_option("--recheck_budget", raw.recheck_budget,
                 "time for listing unchanged folders again, each backup")
      ->envname("BIMBACKUP_RECHECK_BUDGET")
      ->capture_default_str();
  app.add_option("--max_duration", raw.max_duration,
                 "end a longer backup as PARTIAL; empty for no limit")
      ->envname("BIMBACKUP_MAX_DURATION");
  app.add_option("--lease_duration", raw.lease_duration,
                 "how long a worker may go unheard of before its transfers "
                 "go to others, 1s to 1h")
      ->envname("BIMBACKUP_LEASE_DURATION")
      ->capture_default_str();
  app.add_option("--latest", options.latest,
                 "the latest view: auto, reflink, hardlink, copy or off")
      ->envname("BIMBACKUP_LATEST")
      ->capture_default_str();
  app.add_option("--max_name_bytes", options.max_name_bytes,
                 "longest name on disk; 143 on encrypted shares")
      ->envname("BIMBACKUP_MAX_NAME_BYTES")
      ->capture_default_str();
  app.add_option("--windows_names", raw.windows_names,
                 "escape what Windows cannot hold: on or off")
      ->envname("BIMBACKUP_WINDOWS_NAMES")
      ->capture_default_str();
}

absl::Status Named(absl::string_view flag, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", status.message()));
}

absl::Status ReadRawFlags(const RawFlags& raw, Options& options) {
  const absl::StatusOr<double> budget = ParseShareFlag(raw.api_budget);
  if (!budget.ok()) return Named("--api_budget", budget.status());
  options.api_budget = *budget;
  const auto recheck = ParseDurationFlag(raw.recheck_budget);
  if (!recheck.ok()) return Named("--recheck_budget", recheck.status());
  options.recheck_budget = *recheck;
  if (!raw.max_duration.empty()) {
    const auto longest = ParseDurationFlag(raw.max_duration);
    if (!longest.ok()) return Named("--max_duration", longest.status());
    options.max_duration = *longest;
  }
  const auto lease = ParseDurationFlag(raw.lease_duration);
  if (!lease.ok()) return Named("--lease_duration", lease.status());
  options.lease_duration = *lease;
  if (raw.windows_names != "on" && raw.windows_names != "off") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--windows_names: \"", raw.windows_names, "\" is not on or off"));
  }
  options.windows_names = raw.windows_names == "on";
  return absl::OkStatus();
}

// A hub is called as its account, after "b.".
void CompleteAccount(Options& options) {
  if (!options.account_id.empty()) return;
  absl::string_view account = options.hub_id;
  absl::ConsumePrefix(&account, "b.");
  options.account_id = std::string(account.data(), account.size());
}

absl::Status Missing(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(what, " is not set"));
}

absl::Status ReadSecret(Options& options) {
  absl::StatusOr<Secret> secret =
      ReadSecretFromEnvironment("APS_CLIENT_SECRET");
  if (absl::IsNotFound(secret.status())) {
    return Missing("APS_CLIENT_SECRET or APS_CLIENT_SECRET_FILE");
  }
  if (!secret.ok()) return secret.status();
  options.client_secret = *std::move(secret);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const Options& options) {
  if (options.state_dir.empty()) {
    return Missing("--state_dir (BIMBACKUP_STATE_DIR)");
  }
  if (options.storage.empty()) return Missing("--storage (BIMBACKUP_STORAGE)");
  if (options.client_id.empty()) return Missing("APS_CLIENT_ID");
  if (options.client_secret.empty()) {
    return Missing("APS_CLIENT_SECRET or APS_CLIENT_SECRET_FILE");
  }
  if (options.account_id.empty()) {
    return Missing("APS_ACCOUNT_ID or APS_HUB_ID");
  }
  constexpr std::array kLatest = {"auto", "reflink", "hardlink", "copy", "off"};
  if (!absl::c_linear_search(kLatest, options.latest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--latest: \"", options.latest,
                     "\" is not auto, reflink, hardlink, copy or off"));
  }
  if (options.lease_duration < absl::Seconds(1) ||
      options.lease_duration > absl::Hours(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--lease_duration: ", absl::FormatDuration(options.lease_duration),
        " is not 1s to 1h"));
  }
  if (options.max_name_bytes < 64 || options.max_name_bytes > 255) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--max_name_bytes: ", options.max_name_bytes, " is not 64 to 255"));
  }
  return absl::OkStatus();
}

ParsedOptions ParseOptions(int argc, const char* const* argv) {
  ParsedOptions parsed;
  RawFlags raw;
  CLI::App app("Backs up a BIM 360 account: lists, leases, takes snapshots.",
               std::string(kProgram.data(), kProgram.size()));
  app.set_version_flag("--version", BIMBACKUP_VERSION);
  AddServerFlags(app, parsed.options);
  rpc::AddTlsFlags(app, parsed.options.security);
  rpc::AddInsecureFlag(app, parsed.options.security);
  AddAccountFlags(app, parsed.options);
  AddBackupFlags(app, parsed.options, raw);
  parsed.exit_code = ParseFlags(app, argc, argv);
  if (parsed.exit_code.has_value()) return parsed;
  absl::Status status = ReadRawFlags(raw, parsed.options);
  if (status.ok()) status = ReadSecret(parsed.options);
  CompleteAccount(parsed.options);
  if (status.ok()) status = CheckOptions(parsed.options);
  if (!status.ok()) parsed.exit_code = ReportUsageError(kProgram, status);
  return parsed;
}

}  // namespace bimbackup::coordinator
