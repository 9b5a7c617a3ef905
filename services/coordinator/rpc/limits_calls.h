// GetLimits and UpdateLimits.

#ifndef SERVICES_COORDINATOR_RPC_LIMITS_CALLS_H_
#define SERVICES_COORDINATOR_RPC_LIMITS_CALLS_H_

#include "absl/status/statusor.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "clients/bim360/api_limiter.h"
#include "services/coordinator/lease/lease_pool.h"

namespace bimbackup::coordinator_rpc {

// Thread-safe.
class LimitsCalls {
 public:
  // Both outlive the calls.
  LimitsCalls(bim360::ApiLimiter& limiter, lease::LeasePool& pool)
      : limiter_(limiter), pool_(pool) {}

  v1::Limits Get() const;

  // INVALID_ARGUMENT and NOT_FOUND as the RPC; then nothing has changed.
  absl::StatusOr<v1::Limits> Update(const v1::UpdateLimitsRequest& request);

 private:
  bim360::ApiLimiter& limiter_;
  lease::LeasePool& pool_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_LIMITS_CALLS_H_
