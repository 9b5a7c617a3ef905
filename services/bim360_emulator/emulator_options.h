// What the emulator is started with.

#ifndef SERVICES_BIM360_EMULATOR_EMULATOR_OPTIONS_H_
#define SERVICES_BIM360_EMULATOR_EMULATOR_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/bim360_emulator/account_nodes.h"

namespace bimbackup::bim360_emulator {

struct EmulatorOptions {
  // address:port; port 0 takes a free one.
  std::string listen = "127.0.0.1:0";
  // A shape (see ParseShape) or "dir:PATH".
  std::string account = "demo";
  uint64_t seed = 1;
  // Speeds up rate limits, latencies and bandwidth together. Lifetimes of
  // tokens and signed URLs and Retry-After stay in real seconds.
  double time_scale = 1;
  double size_scale = 1;
  bool limits = true;
  // Whether 429 tells Retry-After as an HTTP date instead of seconds.
  bool retry_after_date = false;
  bool batch_sign = false;
  absl::Duration api_latency = absl::ZeroDuration();
  absl::Duration first_byte_latency = absl::ZeroDuration();
  // Bytes a second of each connection to the storage host; 0 for no limit.
  int64_t connection_bandwidth = 0;
  absl::Duration token_lifetime = absl::Seconds(3599);
  RollupMode rollup = RollupMode::kPerfect;
  absl::Duration rollup_delay = absl::Seconds(30);
  int64_t rollup_delay_pages = 0;
  // Scheme and host of hrefs and signed URLs; empty takes the request's Host.
  std::string public_url;
  std::string client_id = "emulator";
  std::string client_secret = "emulator";
  std::string account_id = "00000000-0000-4000-8000-000000000001";
  std::string region = "US";
  int threads = 2;
};

// Reads flags and the environment into `options`; returns the exit code when
// the program should end instead.
std::optional<int> ParseEmulatorFlags(int argc, const char* const* argv,
                                      EmulatorOptions& options);

// "perfect", "content_only" or "late".
absl::StatusOr<RollupMode> ParseRollupMode(absl::string_view text);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_EMULATOR_OPTIONS_H_
