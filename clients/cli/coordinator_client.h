// Calls to one coordinator, each with a deadline.

#ifndef CLIENTS_CLI_COORDINATOR_CLIENT_H_
#define CLIENTS_CLI_COORDINATOR_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "services/common/clock.h"
#include "services/common/rpc/channel.h"
#include "services/common/rpc/grpc_status.h"

namespace bimbackup::cli {

// Thread-safe. Dials at the first call and again after a loss.
class CoordinatorClient {
 public:
  // `clock` outlives the client.
  CoordinatorClient(const rpc::Target& target, Clock& clock);

  const std::string& target() const { return target_; }
  Clock& clock() const { return clock_; }
  // For streams, whose callers bound each wait themselves.
  v1::CoordinatorService::Stub& stub() const { return *stub_; }

  // One unary call, such as Call(&Stub::GetBackup, request), for at most 30
  // s. The server's status, its message preceded by the target where the
  // server could not be reached.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(
      grpc::Status (v1::CoordinatorService::Stub::*method)(grpc::ClientContext*,
                                                           const Request&,
                                                           Response*),
      const Request& request) const {
    Response response;
    grpc::ClientContext context;
    context.set_deadline(DeadlineIn(absl::Seconds(30)));
    const grpc::Status status =
        (stub_.get()->*method)(&context, request, &response);
    if (!status.ok()) return Explain(rpc::FromGrpcStatus(status));
    return response;
  }

  // Call(), tried again while the coordinator cannot be reached, for at most
  // `patience`. For calls that may be repeated.
  template <typename Request, typename Response>
  absl::StatusOr<Response> CallPatiently(
      grpc::Status (v1::CoordinatorService::Stub::*method)(grpc::ClientContext*,
                                                           const Request&,
                                                           Response*),
      const Request& request, absl::Duration patience) const {
    const absl::Duration give_up = clock_.Monotonic() + patience;
    while (true) {
      absl::StatusOr<Response> response = Call(method, request);
      if (response.ok() || !MayRetry(response.status(), give_up)) {
        return response;
      }
    }
  }

  // Opens WatchBackup and passes on every backup it tells of, until
  // `on_backup` returns false (then OK), the stream ends, or a minute has
  // passed, which is DEADLINE_EXCEEDED: the caller opens the next.
  absl::Status Watch(const v1::WatchBackupRequest& request,
                     const std::function<bool(const v1::WatchBackupResponse&)>&
                         on_backup) const;

  // Waits a little, unless `status` is not worth another try or `give_up`
  // (of clock().Monotonic()) has passed; then returns false.
  bool MayRetry(const absl::Status& status, absl::Duration give_up) const;

 private:
  static std::chrono::system_clock::time_point DeadlineIn(
      absl::Duration duration);
  absl::Status Explain(const absl::Status& status) const;

  const std::string target_;
  Clock& clock_;
  const std::unique_ptr<v1::CoordinatorService::Stub> stub_;
};

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_COORDINATOR_CLIENT_H_
