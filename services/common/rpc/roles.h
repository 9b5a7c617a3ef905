// Who may call what. Where there is TLS, the role in a client's certificate
// decides; the one place that does.

#ifndef SERVICES_COMMON_RPC_ROLES_H_
#define SERVICES_COMMON_RPC_ROLES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/security/auth_context.h"
#include "grpcpp/security/auth_metadata_processor.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::rpc {

// The role stands in the certificate as a name of type URI:
// bimbackup://role/worker, .../operator, .../reader.
enum class Role {
  // No such name, an unknown one, or several.
  kNone,
  // Calls WorkerPoolService.
  kWorker,
  // Calls what only reads.
  kReader,
  // Calls everything but WorkerPoolService.
  kOperator,
};

// "worker", "reader", "operator" or "no role".
absl::string_view RoleName(Role role);

// The role of whoever is at the other end of a connection.
Role RoleOf(const grpc::AuthContext& peer);

// Whether a certificate with `role` may call `method`, such as
// "/bimbackup.v1.CoordinatorService/StartBackup". Health and reflection are
// for every certificate of the CA; a method that no table names is for none.
bool MayCall(Role role, absl::string_view method);

// Looks at every call before its service does, and ends what its caller's
// role does not allow with PERMISSION_DENIED. Tells the log, at most once a
// second. Thread-safe.
class RoleGate : public grpc::AuthMetadataProcessor {
 public:
  // `clock` outlives the gate.
  explicit RoleGate(Clock& clock) : clock_(clock) {}

  // Runs where the call is read: it only looks at a table.
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* peer,
                       OutputMetadata* consumed,
                       OutputMetadata* response) override;

 private:
  void Log(const std::string& message);

  Clock& clock_;
  Mutex mutex_;
  absl::Duration next_line_ ABSL_GUARDED_BY(mutex_);
  // Refusals that no line told of.
  int64_t untold_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_ROLES_H_
