#include "clients/snapshots/wire/snapshot_messages.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace bimbackup::snapshots {
namespace {

using storage::format::EntryKind;
using storage::format::EntryStatus;
using storage::format::ManifestEntry;

v1::BackupState SnapshotState(const std::string& state) {
  return state == "SUCCEEDED" ? v1::BACKUP_STATE_SUCCEEDED
                              : v1::BACKUP_STATE_PARTIAL;
}

void SetCounts(const storage::format::Snapshot& snapshot, v1::Snapshot& out) {
  int64_t files = 0, folders = 0, bytes = 0, incomplete = 0;
  for (const storage::format::SnapshotProject& project : snapshot.projects) {
    files += project.counts.files;
    folders += project.counts.folders;
    bytes += project.counts.bytes;
    incomplete +=
        project.counts.carried + project.counts.failed + project.counts.guarded;
  }
  out.set_projects(static_cast<int64_t>(snapshot.projects.size()));
  out.set_files(files);
  out.set_folders(folders);
  out.set_bytes(bytes);
  out.set_incomplete(incomplete);
}

std::optional<EntryStatus> StatusNamed(const std::string& name) {
  for (const EntryStatus status :
       {EntryStatus::kStored, EntryStatus::kCarried, EntryStatus::kFailed,
        EntryStatus::kGuarded, EntryStatus::kNoContent}) {
    if (storage::format::EntryStatusName(status) == name) return status;
  }
  return std::nullopt;
}

}  // namespace

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  google::protobuf::Timestamp out;
  const timespec value = absl::ToTimespec(time);
  out.set_seconds(value.tv_sec);
  out.set_nanos(static_cast<int32_t>(value.tv_nsec));
  return out;
}

absl::Time FromTimestamp(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) +
         absl::Nanoseconds(time.nanos());
}

v1::Snapshot ToProto(const storage::format::Snapshot& snapshot) {
  v1::Snapshot out;
  out.set_name(absl::StrCat("snapshots/", snapshot.id));
  out.set_backup(absl::StrCat("backups/", snapshot.backup_id));
  *out.mutable_start_time() = ToTimestamp(snapshot.start_time);
  *out.mutable_end_time() = ToTimestamp(snapshot.end_time);
  out.set_state(SnapshotState(snapshot.state));
  SetCounts(snapshot, out);
  return out;
}

v1::Snapshot ToProto(const ListedSnapshot& listed) {
  v1::Snapshot out;
  if (listed.damage.empty()) {
    out = ToProto(listed.snapshot);
  } else {
    out.set_name(absl::StrCat("snapshots/", listed.snapshot.id));
    out.set_damage(listed.damage);
  }
  out.set_is_protected(listed.is_protected);
  return out;
}

v1::FileEntry ToProto(const ManifestEntry& entry) {
  v1::FileEntry out;
  out.set_kind(entry.kind == EntryKind::kFile ? "file" : "folder");
  out.set_project_id(entry.project_id);
  out.set_project_name(entry.project_name);
  out.mutable_path()->Assign(entry.path.begin(), entry.path.end());
  out.set_stored_path(entry.stored_path);
  out.set_item_id(entry.item_id);
  out.set_version_id(entry.version_id);
  out.set_version_number(entry.version_number);
  if (entry.size.has_value()) out.set_size(*entry.size);
  out.set_sha256(entry.sha256);
  if (entry.last_modified != absl::InfinitePast()) {
    *out.mutable_last_modified() = ToTimestamp(entry.last_modified);
  }
  const absl::string_view status =
      storage::format::EntryStatusName(entry.status);
  out.set_status(std::string(status.data(), status.size()));
  out.set_reason(entry.reason);
  return out;
}

absl::StatusOr<ManifestEntry> FromProto(const v1::FileEntry& entry) {
  const std::optional<EntryStatus> status = StatusNamed(entry.status());
  if ((entry.kind() != "file" && entry.kind() != "folder") || !status) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an entry of the unknown kind \"", entry.kind(), "\" or status \"",
        entry.status(), "\": is this program older than its coordinator?"));
  }
  ManifestEntry out;
  out.kind = entry.kind() == "file" ? EntryKind::kFile : EntryKind::kFolder;
  out.project_id = entry.project_id();
  out.project_name = entry.project_name();
  out.path.assign(entry.path().begin(), entry.path().end());
  out.stored_path = entry.stored_path();
  out.item_id = entry.item_id();
  out.version_id = entry.version_id();
  out.version_number = entry.version_number();
  if (entry.has_size()) out.size = entry.size();
  out.sha256 = entry.sha256();
  if (entry.has_last_modified()) {
    out.last_modified = FromTimestamp(entry.last_modified());
  }
  out.status = *status;
  out.reason = entry.reason();
  return out;
}

}  // namespace bimbackup::snapshots
