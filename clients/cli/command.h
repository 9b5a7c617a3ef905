// What the subcommands of `bimbackup` share: where they print, what they
// return.

#ifndef CLIENTS_CLI_COMMAND_H_
#define CLIENTS_CLI_COMMAND_H_

#include <functional>
#include <iosfwd>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/common/rpc/channel.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace bimbackup::cli {

// Exit codes, part of the public contract; 2, for usage errors, is
// kExitUsage of services/common/flags.h.
inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitPartial = 3;
inline constexpr int kExitUnreachable = 4;

// How results are written.
enum class Output { kText, kJson, kSvg };

// What a subcommand runs in. The streams outlive it.
struct CommandContext {
  // The coordinator; calls to any server are made with its credentials.
  rpc::Target coordinator;
  // host:port or unix:/path of the file-scan server.
  std::string file_scan = "127.0.0.1:50053";
  Output output = Output::kText;
  // `out` is a terminal: bars may be redrawn.
  bool terminal = false;
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;

  bool json() const { return output == Output::kJson; }
};

// A subcommand with its flags bound; returns the exit code.
using CommandAction = std::function<int(const CommandContext&)>;

// The exit code of a failed call: kExitUnreachable for UNAVAILABLE and
// DEADLINE_EXCEEDED, kExitUsage for INVALID_ARGUMENT, else kExitFailed.
int ExitCodeFor(const absl::Status& status);

// Prints `what: message` as one line on the error stream; returns
// ExitCodeFor(status).
int ReportFailure(const CommandContext& context, absl::string_view what,
                  const absl::Status& status);

// Prints a message in protobuf's JSON mapping, on one line, with default
// values, so that a script finds every counter.
void PrintJson(const CommandContext& context,
               const google::protobuf::Message& message);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_COMMAND_H_
