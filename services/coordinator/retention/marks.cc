#include "services/coordinator/retention/marks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/manifest.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::retention {
namespace {

using catalog::ProjectRecord;
using catalog::ShownProject;
using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::Snapshot;
using storage::format::SnapshotProject;

// Between two looks whether the caller is still there.
constexpr int kLinesBetweenLooks = 1000;

bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) ||
         absl::IsInvalidArgument(status);
}

}  // namespace

Marks::Marks(storage::Storage& storage, catalog::TreeStore& tree,
             std::string scratch_folder, std::set<std::string> without)
    : storage_(storage),
      tree_(tree),
      without_(std::move(without)),
      blobs_(std::move(scratch_folder)) {}

int Marks::ProjectIndex(const std::string& project_id) {
  const int next = static_cast<int>(projects_.size());
  return projects_.emplace(project_id, next).first->second;
}

void Marks::Add(const std::string& project_id,
                absl::string_view manifest_sha256, int snapshot) {
  Manifest added;
  added.project = ProjectIndex(project_id);
  added.snapshot = snapshot;
  const auto [manifest, fresh] =
      manifests_.emplace(ToBinary(manifest_sha256), added);
  if (!fresh && manifest->second.snapshot < 0) {
    manifest->second.snapshot = snapshot;
  }
}

absl::Status Marks::AddSnapshots() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  for (const std::string& id : ids) {
    if (without_.contains(id) || seen_.contains(id)) continue;
    const absl::StatusOr<Snapshot> snapshot =
        storage::format::ReadSnapshot(storage_, id);
    if (IsDamage(snapshot.status())) {
      return absl::FailedPreconditionError(absl::StrCat(
          "nothing can be swept while snapshots/", id, " cannot be read (",
          snapshot.status().message(), "): mend it, or forget it by its name"));
    }
    ABSL_RETURN_IF_ERROR(snapshot.status());
    for (const SnapshotProject& project : snapshot->projects) {
      Add(project.project_id, project.manifest_sha256,
          static_cast<int>(snapshots_.size()));
    }
    snapshots_.push_back(id);
    seen_.insert(id);
  }
  if (!snapshots_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "nothing is swept where there is no snapshot");
}

absl::Status Marks::AddCatalog() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<ProjectRecord> projects,
                        tree_.ListProjects());
  for (const ProjectRecord& project : projects) {
    if (project.manifest_sha256.empty()) continue;
    Add(project.project_id, project.manifest_sha256, -1);
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<ShownProject> shown,
                        tree_.ListShown());
  for (const ShownProject& project : shown) {
    // Some records say something else than a digest.
    for (const std::string& digest :
         {project.manifest_sha256, project.updating_to_sha256}) {
      if (IsSha256Hex(digest)) Add(project.project_id, digest, -1);
    }
  }
  return absl::OkStatus();
}

bool Marks::IsNamed(absl::string_view manifest_sha256) const {
  return manifests_.contains(ToBinary(manifest_sha256));
}

absl::Status Marks::AddBlobs(const std::function<bool()>& cancelled) {
  std::vector<std::map<BinaryDigest, Manifest>::value_type*> unread;
  for (auto& manifest : manifests_) {
    if (!manifest.second.read) unread.push_back(&manifest);
  }
  // Manifests of one project hold mostly the same blobs.
  std::stable_sort(unread.begin(), unread.end(),
                   [](const auto* a, const auto* b) {
                     return a->second.project < b->second.project;
                   });
  for (auto* manifest : unread) {
    const std::string digest = ToHex(manifest->first);
    const absl::Status read = AddBlobsOf(digest, cancelled);
    ABSL_RETURN_IF_ERROR(Explain(read, digest, manifest->second));
    manifest->second.read = read.ok();
  }
  return absl::OkStatus();
}

absl::Status Marks::AddBlobsOf(const std::string& digest,
                               const std::function<bool()>& cancelled) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                        ManifestReader::Open(storage_, digest));
  for (int line = 0;; ++line) {
    if (line % kLinesBetweenLooks == 0 && cancelled()) {
      return absl::CancelledError("the caller has gone");
    }
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry,
                          reader->Next());
    if (!entry.has_value()) return absl::OkStatus();
    if (entry->sha256.empty()) continue;
    ABSL_RETURN_IF_ERROR(blobs_.Add(entry->sha256));
  }
}

absl::Status Marks::Explain(const absl::Status& status,
                            const std::string& digest,
                            const Manifest& manifest) const {
  if (!IsDamage(status)) return status;
  const bool only_catalog = manifest.snapshot < 0;
  // Nobody can read a blob's name in what does not exist.
  if (only_catalog && absl::IsNotFound(status)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "no blob can be swept while manifest ", digest, " of ",
      only_catalog ? "the catalog"
                   : absl::StrCat("snapshots/", snapshots_[manifest.snapshot]),
      " cannot be read (", status.message(), ")"));
}

}  // namespace bimbackup::retention
