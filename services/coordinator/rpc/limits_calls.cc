#include "services/coordinator/rpc/limits_calls.h"

#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/common/flags.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::coordinator_rpc {
namespace {

std::string BudgetText(double budget) {
  return std::isfinite(budget) ? absl::StrCat(budget * 100, "%") : "unlimited";
}

}  // namespace

v1::Limits LimitsCalls::Get() const {
  v1::Limits limits;
  limits.set_api_budget(BudgetText(limiter_.budget()));
  const lease::BandwidthShares bandwidth = pool_.bandwidth();
  limits.set_max_bandwidth(bandwidth.fleet());
  for (const auto& [worker_id, cap] : bandwidth.workers()) {
    (*limits.mutable_worker_bandwidth())[worker_id] = cap;
  }
  return limits;
}

absl::StatusOr<v1::Limits> LimitsCalls::Update(
    const v1::UpdateLimitsRequest& request) {
  std::optional<double> budget;
  if (request.has_api_budget()) {
    const absl::StatusOr<double> given = ParseShareFlag(request.api_budget());
    if (!given.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("api_budget: ", given.status().message()));
    }
    budget = *given;
  }
  if (request.has_max_bandwidth()) {
    if (request.max_bandwidth() < 0) {
      return absl::InvalidArgumentError("max_bandwidth: is negative");
    }
    ABSL_RETURN_IF_ERROR(
        pool_.SetBandwidth(request.worker_id(), request.max_bandwidth()));
  } else if (!request.worker_id().empty()) {
    return absl::InvalidArgumentError("worker_id: without max_bandwidth");
  }
  if (budget.has_value()) limiter_.SetBudget(*budget);
  v1::Limits limits = Get();
  spdlog::info(
      "limits: API budget {}, bandwidth of all {} B/s, {} workers "
      "with a cap of their own",
      limits.api_budget(), limits.max_bandwidth(),
      limits.worker_bandwidth_size());
  return limits;
}

}  // namespace bimbackup::coordinator_rpc
