#include "clients/snapshot_diff/wire/change_messages.h"

#include "clients/snapshots/wire/snapshot_messages.h"

namespace bimbackup::snapshot_diff {
namespace {

v1::ChangeKind KindOf(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdded:
      return v1::CHANGE_KIND_ADDED;
    case ChangeKind::kChanged:
      return v1::CHANGE_KIND_CHANGED;
    case ChangeKind::kMoved:
      return v1::CHANGE_KIND_MOVED;
    case ChangeKind::kRemoved:
      return v1::CHANGE_KIND_REMOVED;
  }
  return v1::CHANGE_KIND_UNSPECIFIED;
}

}  // namespace

v1::EntryChange ToProto(const Change& change) {
  v1::EntryChange out;
  out.set_kind(KindOf(change.kind));
  if (change.before.has_value()) {
    *out.mutable_before() = snapshots::ToProto(*change.before);
  }
  if (change.after.has_value()) {
    *out.mutable_after() = snapshots::ToProto(*change.after);
  }
  return out;
}

}  // namespace bimbackup::snapshot_diff
