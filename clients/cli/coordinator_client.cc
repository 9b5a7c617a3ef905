#include "clients/cli/coordinator_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"

namespace bimbackup::cli {
namespace {

constexpr absl::Duration kRetryPause = absl::Milliseconds(500);
constexpr absl::Duration kWatchLifetime = absl::Minutes(1);

std::unique_ptr<v1::CoordinatorService::Stub> DialCoordinator(
    const rpc::Target& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  return v1::CoordinatorService::NewStub(
      rpc::Dial(target, std::move(arguments)));
}

}  // namespace

CoordinatorClient::CoordinatorClient(const rpc::Target& target, Clock& clock)
    : target_(target.address), clock_(clock), stub_(DialCoordinator(target)) {}

absl::Status CoordinatorClient::Watch(
    const v1::WatchBackupRequest& request,
    const std::function<bool(const v1::WatchBackupResponse&)>& on_backup)
    const {
  grpc::ClientContext context;
  context.set_deadline(DeadlineIn(kWatchLifetime));
  const auto reader = stub_->WatchBackup(&context, request);
  v1::WatchBackupResponse response;
  bool wanted = true;
  while (wanted && reader->Read(&response)) wanted = on_backup(response);
  if (!wanted) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (!wanted) return absl::OkStatus();
  if (status.ok()) return absl::UnavailableError("the watch has ended");
  return Explain(rpc::FromGrpcStatus(status));
}

bool CoordinatorClient::MayRetry(const absl::Status& status,
                                 absl::Duration give_up) const {
  const bool lost = absl::IsUnavailable(status) ||
                    absl::IsDeadlineExceeded(status) ||
                    absl::IsCancelled(status);
  if (!lost || clock_.Monotonic() + kRetryPause >= give_up) return false;
  clock_.Sleep(kRetryPause);
  return true;
}

std::chrono::system_clock::time_point CoordinatorClient::DeadlineIn(
    absl::Duration duration) {
  return absl::ToChronoTime(absl::Now() + duration);
}

absl::Status CoordinatorClient::Explain(const absl::Status& status) const {
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) {
    return status;
  }
  return absl::Status(status.code(),
                      absl::StrCat("cannot reach the coordinator at ", target_,
                                   " (", status.message(), ")"));
}

}  // namespace bimbackup::cli
