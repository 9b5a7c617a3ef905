// How servers and tools read their flags: CLI11 with the conventions of this
// project. Every flag has an environment twin; a secret has only that, or a
// file; an unknown flag or a bad value ends with one line and exit code 2.

#ifndef SERVICES_COMMON_FLAGS_H_
#define SERVICES_COMMON_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/secret.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup {

// The exit code of a usage error, bad configuration included.
inline constexpr int kExitUsage = 2;

// Parses the command line into `app`'s options. Returns nothing when the
// program should go on, else the exit code: 0 after --help or --version,
// kExitUsage after one line on standard error.
std::optional<int> ParseFlags(CLI::App& app, int argc, const char* const* argv);

// Prints `program: message` as one line on standard error; returns
// kExitUsage, so that main can return it.
int ReportUsageError(absl::string_view program, const absl::Status& status);

// The secret in the environment variable `name`, or in the file (without its
// final newline) that the variable `name`_FILE names. NOT_FOUND when neither
// is set, INVALID_ARGUMENT when both are or the file cannot be read.
absl::StatusOr<Secret> ReadSecretFromEnvironment(absl::string_view name);

// The environment variable `name`, or an empty string.
std::string ReadEnvironment(absl::string_view name);

// "5m", "1h30m", "250ms", "0"; INVALID_ARGUMENT otherwise or below zero.
absl::StatusOr<absl::Duration> ParseDurationFlag(absl::string_view text);

// Bytes: "512", "64KiB", "10MB", "8MB/s"; the suffix "/s" is allowed for
// rates. INVALID_ARGUMENT otherwise.
absl::StatusOr<int64_t> ParseBytesFlag(absl::string_view text);

// A share: "90%" is 0.9, "1000%" is 10, "unlimited" is infinity.
// INVALID_ARGUMENT otherwise or at or below zero.
absl::StatusOr<double> ParseShareFlag(absl::string_view text);

}  // namespace bimbackup

#endif  // SERVICES_COMMON_FLAGS_H_
