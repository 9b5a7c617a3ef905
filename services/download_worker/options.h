// The download worker's configuration: flags with environment twins.

#ifndef SERVICES_DOWNLOAD_WORKER_OPTIONS_H_
#define SERVICES_DOWNLOAD_WORKER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/http/host_policy.h"
#include "services/common/rpc/security.h"

namespace bimbackup::download_worker {

struct Options {
  std::string coordinator = "127.0.0.1:50051";
  std::string listen = "127.0.0.1:50052";
  // "file:///backup", or a plain absolute path.
  std::string storage;
  // Requests that run at once, at most.
  int max_transfers = 64;
  // Bytes a second for all of them together; 0 for no cap.
  int64_t max_bandwidth = 0;
  http::HostPolicy allowed_hosts = http::HostPolicy::Default();
  // Fewer than a few bytes within this time is a stall.
  absl::Duration idle_limit = absl::Seconds(30);
  // How long a fresh storage may take to get its marker from the coordinator.
  absl::Duration storage_wait = absl::Seconds(60);
  // How long a drain lets running transfers go on.
  absl::Duration drain_grace = absl::Seconds(30);
  rpc::SecurityFlags security;
  // debug, info, warning or error.
  std::string log_level = "info";
};

// What the command line asks for: options, or the exit code with which the
// process should end at once, after --help or one line on standard error.
struct ParsedOptions {
  Options options;
  std::optional<int> exit_code;
};

ParsedOptions ParseOptions(int argc, const char* const* argv);

}  // namespace bimbackup::download_worker

#endif  // SERVICES_DOWNLOAD_WORKER_OPTIONS_H_
