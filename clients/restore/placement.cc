#include "clients/restore/placement.h"

#include <unistd.h>

#include <utility>

#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

constexpr size_t kMaxFiles = 32;
constexpr int64_t kMaxBytes = int64_t{256} << 20;

}  // namespace

absl::Status Placement::Add(WholeFile file) {
  std::vector<WholeFile> group;
  {
    MutexLock lock(mutex_);
    group_bytes_ += file.partial.size();
    group_.push_back(std::move(file));
    if (group_.size() < kMaxFiles && group_bytes_ < kMaxBytes) {
      return absl::OkStatus();
    }
    group.swap(group_);
    group_bytes_ = 0;
  }
  return Place(std::move(group));
}

absl::Status Placement::Finish() {
  std::vector<WholeFile> group;
  {
    MutexLock lock(mutex_);
    group.swap(group_);
    group_bytes_ = 0;
  }
  ABSL_RETURN_IF_ERROR(Place(std::move(group)));
  return destination_.SyncAtOnce().status();
}

absl::Status Placement::Place(std::vector<WholeFile> group) {
  if (group.empty()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const bool synced, destination_.SyncAtOnce());
  for (WholeFile& file : group) {
    if (!synced) ABSL_RETURN_IF_ERROR(file.partial.Sync());
  }
  for (WholeFile& file : group) {
    report_(PlaceFile(file));
    // The last sync of all covers names where one wait is enough for many.
    if (!synced) (void)fsync(file.partial.folder().fd());
  }
  return absl::OkStatus();
}

Outcome Placement::PlaceFile(WholeFile& file) const {
  Outcome outcome = std::move(file.outcome);
  const absl::Status placed = file.partial.Place(file.name, replace_);
  if (placed.ok()) return outcome;
  file.partial.Remove();
  const bool kept = absl::IsAlreadyExists(placed);
  outcome.kind = kept ? OutcomeKind::kKept : OutcomeKind::kFailed;
  outcome.message =
      kept ? "it was there already" : std::string(placed.message());
  return outcome;
}

}  // namespace bimbackup::restore
