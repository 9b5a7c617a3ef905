// What the coordinator is told: flags, their environment twins, secrets.

#ifndef SERVICES_COORDINATOR_OPTIONS_H_
#define SERVICES_COORDINATOR_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "services/common/rpc/security.h"
#include "services/common/secret.h"

namespace bimbackup::coordinator {

struct Options {
  std::string listen = "127.0.0.1:50051";
  // Empty: no HTTP side.
  std::string http_listen = "127.0.0.1:8080";
  std::string state_dir;
  // "file:///backup", or a plain absolute path.
  std::string storage;
  // Make a lost catalog anew from the storage.
  bool rebuild_catalog = false;
  std::string bim360_base_url = "https://developer.api.autodesk.com";
  std::string client_id;
  Secret client_secret;
  // "<hub_id>" without its "b." where empty.
  std::string account_id;
  // "b.<account_id>" where empty.
  std::string hub_id;
  // For people; no call takes one.
  std::string region;
  // Share of Autodesk's published rates; infinite for no limit.
  double api_budget = 0.9;
  absl::Duration recheck_budget = absl::Minutes(5);
  absl::Duration max_duration = absl::InfiniteDuration();
  // How long a worker may go unheard of before its transfers go to others.
  absl::Duration lease_duration = absl::Seconds(60);
  // auto, reflink, hardlink, copy or off.
  std::string latest = "auto";
  int max_name_bytes = 255;
  bool windows_names = true;
  bool include_hidden = false;
  bool include_service_folders = false;
  std::string allowed_hosts;
  rpc::SecurityFlags security;
  // debug, info, warning or error.
  std::string log_level = "info";

  std::string hub() const {
    return hub_id.empty() ? "b." + account_id : hub_id;
  }
};

// INVALID_ARGUMENT, naming the flag or variable, for what cannot be right.
absl::Status CheckOptions(const Options& options);

// What the command line asks for: options, or the exit code with which the
// process should end at once, after --help or one line on standard error.
struct ParsedOptions {
  Options options;
  std::optional<int> exit_code;
};

ParsedOptions ParseOptions(int argc, const char* const* argv);

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_OPTIONS_H_
