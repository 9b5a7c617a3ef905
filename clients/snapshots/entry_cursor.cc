#include "clients/snapshots/entry_cursor.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshots {
namespace {

using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::SnapshotProject;

// Says which manifest it is that cannot be read; other failures are the
// storage's own and stay as they are.
absl::Status NameManifest(const absl::Status& status,
                          const SnapshotProject& project) {
  if (absl::IsNotFound(status)) {
    return absl::DataLossError(
        absl::StrCat("manifest ", project.manifest_sha256, " of project \"",
                     project.name, "\" is missing"));
  }
  if (!absl::IsDataLoss(status) && !absl::IsInvalidArgument(status)) {
    return status;
  }
  return absl::DataLossError(absl::StrCat("manifest ", project.manifest_sha256,
                                          " of project \"", project.name,
                                          "\" is damaged: ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EntryCursor>> EntryCursor::Open(
    storage::Storage& storage, const EntryPosition& start) {
  ABSL_ASSIGN_OR_RETURN(
      storage::format::Snapshot snapshot,
      storage::format::ReadSnapshot(storage, start.snapshot_id));
  return absl::WrapUnique(new EntryCursor(storage, std::move(snapshot), start));
}

const SnapshotProject* EntryCursor::project() const {
  const auto count = static_cast<int64_t>(snapshot_.projects.size());
  if (position_.project < 0 || position_.project >= count) return nullptr;
  return &snapshot_.projects[position_.project];
}

absl::StatusOr<ManifestEntry*> EntryCursor::Peek() {
  while (project() != nullptr && !project_ended_ && !entry_.has_value()) {
    const absl::Status read = Read();
    if (!read.ok()) return NameManifest(read, *project());
  }
  return entry_.has_value() ? &*entry_ : nullptr;
}

absl::Status EntryCursor::Read() {
  if (reader_ == nullptr) ABSL_RETURN_IF_ERROR(OpenManifest());
  ABSL_ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader_->Next());
  if (!entry.has_value()) {
    project_ended_ = true;
  } else if (next_line_++ >= position_.line) {
    entry_ = *std::move(entry);
  }
  return absl::OkStatus();
}

absl::Status EntryCursor::OpenManifest() {
  ABSL_ASSIGN_OR_RETURN(
      reader_, ManifestReader::Open(storage_, project()->manifest_sha256));
  return absl::OkStatus();
}

void EntryCursor::Pass() {
  entry_.reset();
  ++position_.line;
}

void EntryCursor::NextProject() {
  entry_.reset();
  reader_.reset();
  project_ended_ = false;
  next_line_ = 0;
  ++position_.project;
  position_.line = 0;
}

size_t MessageBytes(const ManifestEntry& entry) {
  // Ids, a digest, numbers.
  size_t bytes = 512 + entry.project_name.size() + entry.stored_path.size() +
                 entry.reason.size();
  for (const std::string& name : entry.path) bytes += name.size() + 4;
  return bytes;
}

}  // namespace bimbackup::snapshots
