#include "services/coordinator/retention/decisions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/common/status_macros.h"

namespace bimbackup::retention {
namespace {

// What keeps a snapshot whatever was asked.
void AddFixedReasons(std::vector<Decision>& decisions) {
  bool newest = true;
  for (Decision& decision : decisions) {
    const SnapshotRow& row = decision.row;
    if (newest && row.problem.empty()) {
      decision.reasons.push_back("newest");
      newest = false;
    }
    if (row.is_protected) decision.reasons.push_back("protected");
    if (row.holds_guarded) decision.reasons.push_back("guarded");
  }
}

// To those whose time is known.
void AddRules(const RetentionPolicy& policy, absl::Time now,
              std::vector<Decision>& decisions) {
  std::vector<Decision*> readable;
  std::vector<absl::Time> times;
  for (Decision& decision : decisions) {
    if (!decision.row.problem.empty()) {
      decision.reasons.push_back("unreadable");
      continue;
    }
    readable.push_back(&decision);
    times.push_back(decision.row.head.start_time);
  }
  const auto kept = ApplyPolicy(policy, times, now);
  for (size_t i = 0; i < kept.size(); ++i) {
    readable[i]->reasons.insert(readable[i]->reasons.end(), kept[i].begin(),
                                kept[i].end());
  }
}

absl::Status CheckNamed(const Decision& decision) {
  if (decision.reasons.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("snapshots/", decision.row.head.id,
                   " must stay: ", absl::StrJoin(decision.reasons, ", ")));
}

absl::Status ApplyNames(const std::vector<std::string>& ids,
                        std::vector<Decision>& decisions) {
  std::set<std::string> wanted(ids.begin(), ids.end());
  // The newest: refused below, by its name.
  const auto newest = std::find_if(
      decisions.begin(), decisions.end(),
      [](const Decision& decision) { return decision.row.problem.empty(); });
  if (newest != decisions.end() && wanted.erase("-") > 0) {
    wanted.insert(newest->row.head.id);
  }
  for (Decision& decision : decisions) {
    if (wanted.erase(decision.row.head.id) == 0) {
      decision.reasons.push_back("not named");
      continue;
    }
    ABSL_RETURN_IF_ERROR(CheckNamed(decision));
  }
  if (wanted.empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no snapshots/", *wanted.begin()));
}

}  // namespace

absl::Status CheckRequest(const ForgetRequest& request) {
  const RetentionPolicy& policy = request.policy;
  for (const int count : {policy.last, policy.daily, policy.weekly,
                          policy.monthly, policy.yearly}) {
    if (count < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("policy: a rule cannot keep ", count, " snapshots"));
    }
  }
  const int given = (policy.empty() ? 0 : 1) + (request.ids.empty() ? 0 : 1) +
                    (request.sweep_only ? 1 : 0);
  if (given == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      given == 0 ? "say what to keep, or name what to forget"
                 : "give a policy, or names, or sweep_only: only one of them");
}

absl::StatusOr<std::vector<Decision>> Decide(std::vector<SnapshotRow> rows,
                                             const ForgetRequest& request,
                                             absl::Time now) {
  std::vector<Decision> decisions;
  decisions.reserve(rows.size());
  for (SnapshotRow& row : rows) decisions.push_back({std::move(row), true, {}});
  if (request.sweep_only) return decisions;
  AddFixedReasons(decisions);
  if (request.ids.empty()) {
    AddRules(request.policy, now, decisions);
  } else {
    ABSL_RETURN_IF_ERROR(ApplyNames(request.ids, decisions));
  }
  for (Decision& decision : decisions) {
    decision.kept = !decision.reasons.empty();
  }
  return decisions;
}

}  // namespace bimbackup::retention
