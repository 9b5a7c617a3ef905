// What is not the same in two snapshots.

#ifndef CLIENTS_SNAPSHOT_DIFF_CHANGE_H_
#define CLIENTS_SNAPSHOT_DIFF_CHANGE_H_

#include <functional>
#include <optional>

#include "clients/storage/format/manifest.h"

namespace bimbackup::snapshot_diff {

// added; changed (other bytes or another version at the same path); moved
// (the same item at another path, its bytes changed or not); removed.
enum class ChangeKind { kAdded, kChanged, kMoved, kRemoved };

struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  // Nothing for what was added, or removed.
  std::optional<storage::format::ManifestEntry> before;
  std::optional<storage::format::ManifestEntry> after;
};

// Whether to give up; asked often, from the thread that asks for changes.
using Cancelled = std::function<bool()>;

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_CHANGE_H_
