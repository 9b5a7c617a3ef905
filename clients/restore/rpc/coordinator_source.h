// Restores through a coordinator, which has the storage.

#ifndef CLIENTS_RESTORE_RPC_COORDINATOR_SOURCE_H_
#define CLIENTS_RESTORE_RPC_COORDINATOR_SOURCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "clients/restore/restore_source.h"
#include "clients/restore/rpc/stall_watch.h"
#include "services/common/clock.h"

namespace bimbackup::restore {

// Thread-safe. Its streams end with UNAVAILABLE where the coordinator goes,
// with DEADLINE_EXCEEDED where it says nothing for a minute.
class CoordinatorSource : public RestoreSource {
 public:
  using Stub = v1::CoordinatorService::StubInterface;

  // Both outlive the source.
  CoordinatorSource(Stub& stub, Clock& clock,
                    absl::Duration patience = absl::Minutes(1))
      : stub_(stub), watch_(clock, patience) {}

  absl::StatusOr<std::unique_ptr<EntryStream>> ListEntries(
      const Selection& selection) override;
  absl::StatusOr<std::unique_ptr<BlobStream>> OpenBlob(absl::string_view sha256,
                                                       int64_t offset) override;

 private:
  Stub& stub_;
  StallWatch watch_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_RPC_COORDINATOR_SOURCE_H_
