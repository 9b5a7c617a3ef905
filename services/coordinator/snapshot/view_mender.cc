#include "services/coordinator/snapshot/view_mender.h"

#include <memory>
#include <optional>
#include <vector>

#include "clients/storage/format/manifest.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {

using storage::LatestView;
using storage::format::EntryKind;
using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::Snapshot;
using storage::format::SnapshotProject;

namespace {

// For so many the manifests are read once.
constexpr int kMendedAtOnce = 100'000;

absl::Status PutProject(storage::Storage& storage, LatestView& view,
                        const SnapshotProject& project,
                        const std::set<std::string>& mended) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                        ManifestReader::Open(storage, project.manifest_sha256));
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry,
                          reader->Next());
    if (!entry.has_value()) return absl::OkStatus();
    if (entry->kind != EntryKind::kFile || !mended.contains(entry->sha256)) {
      continue;
    }
    ABSL_RETURN_IF_ERROR(
        view.PutFile(entry->stored_path, entry->sha256, entry->last_modified));
  }
}

}  // namespace

absl::Status ViewMender::Mend(const Snapshot& snapshot) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> mended,
                          store_.ListMended(kMendedAtOnce));
    if (mended.empty()) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(PutAgain(snapshot, {mended.begin(), mended.end()}));
    MaybeCrash("latest.mended");
    ABSL_RETURN_IF_ERROR(store_.ForgetMended(mended));
  }
}

absl::Status ViewMender::PutAgain(const Snapshot& snapshot,
                                  const std::set<std::string>& mended) {
  const auto view = storage_.OpenLatestView();
  if (absl::IsUnimplemented(view.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(view.status());
  for (const SnapshotProject& project : snapshot.projects) {
    ABSL_RETURN_IF_ERROR(PutProject(storage_, **view, project, mended));
  }
  return (*view)->Sync();
}

}  // namespace bimbackup::snapshot
