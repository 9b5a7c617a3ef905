#include "clients/cli/verify/verify_command.h"

#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/snapshot_lists.h"
#include "clients/cli/verify/verify_report.h"
#include "clients/restore/rpc/stall_watch.h"
#include "clients/verify/messages.h"
#include "clients/verify/response_observer.h"
#include "clients/verify/snapshot_verifier.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/flags.h"
#include "services/common/random.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/status_macros.h"

namespace bimbackup::cli {
namespace {

// A coordinator that reads from a slow share says several things a second.
constexpr absl::Duration kPatience = absl::Minutes(10);

constexpr absl::string_view kCollection = "snapshots/";

struct VerifyFlags {
  std::string snapshot;
  std::string storage;
  v1::VerifySnapshotRequest request;
};

// "3/30"; an error text where it is none, as CLI11 wants it.
std::string ReadPart(const std::string& text, v1::VerifyPart& part) {
  const size_t slash = text.find('/');
  int32_t number = 0;
  int32_t count = 0;
  if (slash != std::string::npos &&
      absl::SimpleAtoi(text.substr(0, slash), &number) &&
      absl::SimpleAtoi(text.substr(slash + 1), &count) && number >= 1 &&
      number <= count) {
    part.set_number(number);
    part.set_count(count);
    return "";
  }
  return absl::StrCat("'", text, "' is no part such as 3/30");
}

int VerifyStorage(const CommandContext& context, const VerifyFlags& flags) {
  SystemClock clock;
  SeededRandom random;
  const auto storage = OpenStorageToRead(flags.storage);
  if (!storage.ok()) {
    return ReportStorageFailure(context, "verify", storage.status());
  }
  VerifyReport report(context, clock, /*offline=*/true);
  verify::ResponseObserver observer(
      clock, {.keep = [](const verify::Damage&) -> absl::StatusOr<bool> {
                return false;
              },
              .write = [&](const auto& response) { report.Show(response); },
              // A reader that left (`| head`) wants no more.
              .cancelled = [&] { return !context.out->good(); }});
  verify::SnapshotVerifier verifier(**storage, clock, random);
  absl::string_view id = flags.request.name();
  absl::ConsumePrefix(&id, kCollection);
  const auto progress =
      verifier.Verify(id, verify::OptionsOf(flags.request), observer);
  if (!progress.ok()) {
    return ReportStorageFailure(context, "verify", progress.status());
  }
  observer.Finish(*progress);
  return report.Finish();
}

// Shows every message; the call's status.
absl::Status Follow(const CommandContext& context, CoordinatorClient& client,
                    const VerifyFlags& flags, VerifyReport& report) {
  restore::StallWatch watch(client.clock(), kPatience);
  grpc::ClientContext call;
  const auto reader = client.stub().VerifySnapshot(&call, flags.request);
  v1::VerifySnapshotResponse response;
  bool stalled = false;
  while (true) {
    restore::StallWatch::Wait wait(watch, call);
    const bool more = reader->Read(&response);
    stalled = wait.expired();
    if (!more) break;
    report.Show(response);
    if (!context.out->good()) call.TryCancel();
  }
  const absl::Status status = rpc::FromGrpcStatus(reader->Finish());
  if (stalled) {
    return absl::DeadlineExceededError(
        absl::StrCat("the coordinator has said nothing for ",
                     absl::FormatDuration(kPatience)));
  }
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(absl::StrCat("cannot reach the coordinator at ",
                                             client.target(), " (",
                                             status.message(), ")"));
}

int VerifyThroughCoordinator(const CommandContext& context,
                             const VerifyFlags& flags) {
  SystemClock clock;
  CoordinatorClient client(context.coordinator, clock);
  VerifyReport report(context, clock, /*offline=*/false);
  const absl::Status status = Follow(context, client, flags, report);
  if (!status.ok()) return ReportFailure(context, "verify", status);
  return report.Finish();
}

int RunVerify(const CommandContext& context, VerifyFlags& flags) {
  flags.request.set_name(SnapshotName(flags.snapshot));
  absl::string_view id = flags.request.name();
  if (!absl::ConsumePrefix(&id, kCollection) || absl::StrContains(id, '/')) {
    return ReportFailure(context, "verify",
                         absl::InvalidArgumentError(absl::StrCat(
                             "'", flags.snapshot, "' is no snapshot")));
  }
  return flags.storage.empty() ? VerifyThroughCoordinator(context, flags)
                               : VerifyStorage(context, flags);
}

void AddSelection(CLI::App& command, VerifyFlags& flags) {
  CLI::Option* part =
      command
          .add_option_function<std::string>(
              "--part",
              [&flags](const std::string& text) {
                const std::string error =
                    ReadPart(text, *flags.request.mutable_part());
                if (!error.empty()) throw CLI::ValidationError("--part", error);
              },
              "Read only one of several equal shares, such as 3/30 on the "
              "third of thirty nights")
          ->type_name("N/T");
  command
      .add_option_function<double>(
          "--percent",
          [&flags](double percent) { flags.request.set_percent(percent); },
          "Read only a random share, such as 5")
      ->check(CLI::Range(0.000001, 100.0))
      ->excludes(part);
  command
      .add_option_function<std::string>(
          "--max_bandwidth",
          [&flags](const std::string& text) {
            const absl::StatusOr<int64_t> bytes = ParseBytesFlag(text);
            if (!bytes.ok()) {
              throw CLI::ValidationError("--max_bandwidth",
                                         std::string(bytes.status().message()));
            }
            flags.request.set_max_bandwidth(*bytes);
          },
          "Bytes read a second at most, such as 50MB")
      ->type_name("BYTES");
}

}  // namespace

void AddVerifyCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* verify = app.add_subcommand(
      "verify",
      "Check that what a snapshot names is there and whole; damaged files are "
      "fetched again by the next backup. Exit 3: damage was found");
  const auto flags = std::make_shared<VerifyFlags>();
  verify->add_option("snapshot", flags->snapshot,
                     "snapshots/ID or ID; the newest where it is not given, - "
                     "or latest");
  AddSelection(*verify, *flags);
  verify->add_option("--storage", flags->storage,
                     "Read file:///backup itself, without a coordinator; "
                     "damage is only reported");
  verify->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunVerify(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
