#include "clients/cli/command.h"

#include <ostream>

#include "absl/strings/str_replace.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/json_util.h"
#include "services/common/flags.h"

namespace bimbackup::cli {

int ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitSuccess;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return kExitUnreachable;
    case absl::StatusCode::kInvalidArgument:
      return kExitUsage;
    default:
      return kExitFailed;
  }
}

int ReportFailure(const CommandContext& context, absl::string_view what,
                  const absl::Status& status) {
  *context.err << "bimbackup: " << what << ": "
               << absl::StrReplaceAll(status.message(), {{"\n", " "}}) << "\n";
  return ExitCodeFor(status);
}

void PrintJson(const CommandContext& context,
               const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string text;
  // Fails only for messages with an Any, which this API does not have.
  (void)google::protobuf::util::MessageToJsonString(message, &text, options);
  *context.out << text << std::endl;
}

}  // namespace bimbackup::cli
