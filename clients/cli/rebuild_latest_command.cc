// `rebuild-latest`: the latest view made anew.

#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "clients/cli/commands.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/restore/rpc/stall_watch.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/rpc/grpc_status.h"

namespace bimbackup::cli {
namespace {

// Emptying a large view takes a while, in which nothing is said.
constexpr absl::Duration kPatience = absl::Minutes(30);
constexpr absl::Duration kBetweenLines = absl::Seconds(5);

std::string Describe(const v1::RebuildLatestViewResponse& response) {
  return absl::StrCat(response.snapshot(), ": ",
                      HumanCount(response.entries_done()), " of ",
                      HumanCount(response.entries()), " entries");
}

// Shows progress now and then, and the end.
class Report {
 public:
  Report(const CommandContext& context, Clock& clock)
      : context_(context), clock_(clock), next_(clock.Monotonic()) {}

  void Show(const v1::RebuildLatestViewResponse& response) {
    done_ = response.done();
    if (context_.json()) {
      PrintJson(context_, response);
    } else if (context_.terminal) {
      *context_.out << "\r" << Describe(response) << (done_ ? "\n" : "")
                    << std::flush;
    } else if (done_ || clock_.Monotonic() >= next_) {
      next_ = clock_.Monotonic() + kBetweenLines;
      *context_.out << Describe(response) << std::endl;
    }
  }
  bool done() const { return done_; }

 private:
  const CommandContext& context_;
  Clock& clock_;
  absl::Duration next_;
  bool done_ = false;
};

absl::Status Follow(const CommandContext& context,
                    const CoordinatorClient& client, Report& report) {
  restore::StallWatch watch(client.clock(), kPatience);
  grpc::ClientContext call;
  const auto reader =
      client.stub().RebuildLatestView(&call, v1::RebuildLatestViewRequest());
  v1::RebuildLatestViewResponse response;
  while (true) {
    restore::StallWatch::Wait wait(watch, call);
    if (!reader->Read(&response)) break;
    report.Show(response);
    if (!context.out->good()) call.TryCancel();
  }
  const absl::Status status = rpc::FromGrpcStatus(reader->Finish());
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(absl::StrCat("cannot reach the coordinator at ",
                                             client.target(), " (",
                                             status.message(), ")"));
}

int RunRebuildLatest(const CommandContext& context) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  Report report(context, clock);
  absl::Status status = Follow(context, client, report);
  if (status.ok() && !report.done()) {
    status = absl::DataLossError("the coordinator ended without the end");
  }
  if (!status.ok()) return ReportFailure(context, "rebuild-latest", status);
  return kExitSuccess;
}

}  // namespace

void AddRebuildLatestCommand(CLI::App& app, CommandAction& chosen) {
  app.add_subcommand("rebuild-latest",
                     "Make the latest view anew from the newest snapshot")
      ->callback([&chosen] { chosen = RunRebuildLatest; });
}

}  // namespace bimbackup::cli
