#include "services/coordinator/rebuild/catalog_rebuilder.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/catalog_rebuild.h"
#include "services/coordinator/rebuild/catalog_copy.h"
#include "services/coordinator/rebuild/manifest_tree.h"

namespace bimbackup::rebuild {
namespace {

using catalog::BackupState;
using catalog::CatalogRebuild;
using storage::format::EntryKind;
using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::Snapshot;
using storage::format::SnapshotProject;

constexpr absl::Duration kBetweenLines = absl::Seconds(10);

// It is torn or gone: named, and passed over.
bool IsLost(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) ||
         absl::IsInvalidArgument(status);
}

// One rebuilding, from the newest snapshot to the oldest.
class Rebuilder {
 public:
  Rebuilder(storage::Storage& storage, CatalogRebuild& rebuild,
            absl::string_view account_id, Clock& clock)
      : storage_(storage),
        rebuild_(rebuild),
        account_id_(account_id.data(), account_id.size()),
        clock_(clock),
        next_line_(clock.Monotonic() + kBetweenLines) {}

  absl::Status Run();

 private:
  struct Left {
    std::string id;
    BackupState state = BackupState::kSucceeded;
    absl::Time start_time;
    absl::Time end_time;
  };

  absl::Status Start();
  absl::Status TryCopy(const std::string& key);
  absl::Status TakeSnapshot(const std::string& id, bool known);
  absl::Status TakeProject(const SnapshotProject& project, bool newest);
  absl::Status CheckManifest(const std::string& digest);
  absl::Status TakeObjects(const std::string& digest);
  absl::Status TakeTree(const SnapshotProject& project, bool newest);
  absl::Status TakeStored(const ManifestEntry& entry);
  absl::Status End();
  absl::StatusOr<bool> IsThere(absl::string_view sha256, int64_t size);
  void LogProgress();

  storage::Storage& storage_;
  CatalogRebuild& rebuild_;
  const std::string account_id_;
  Clock& clock_;
  std::string copy_;
  std::vector<std::string> ids_;
  // Newest first.
  std::vector<Left> left_;
  // The projects of the newest snapshot, once it was read; and those of them
  // whose tree is not there yet.
  std::optional<std::set<std::string>> wanted_;
  std::set<std::string> pending_;
  // The newest snapshot is one that the copy knew.
  bool current_ = false;
  int64_t entries_ = 0;
  int64_t lost_ = 0;
  absl::Duration next_line_;
};

absl::Status Rebuilder::Run() {
  ABSL_ASSIGN_OR_RETURN(ids_, storage::format::ListSnapshotIds(storage_));
  ABSL_RETURN_IF_ERROR(Start());
  ABSL_ASSIGN_OR_RETURN(const std::set<std::string> known,
                        rebuild_.KnownSnapshots());
  for (auto id = ids_.rbegin(); id != ids_.rend(); ++id) {
    ABSL_RETURN_IF_ERROR(TakeSnapshot(*id, known.count(*id) > 0));
  }
  return End();
}

absl::Status Rebuilder::Start() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> copies,
                        ListCatalogCopies(storage_));
  for (const std::string& key : copies) {
    const absl::Status status = TryCopy(key);
    if (status.ok()) {
      copy_ = key;
      spdlog::info("the catalog is brought back from {}", key);
      ABSL_ASSIGN_OR_RETURN(
          lost_,
          rebuild_.CheckStored([this](absl::string_view sha256, int64_t size) {
            return IsThere(sha256, size);
          }));
      return absl::OkStatus();
    }
    if (absl::IsResourceExhausted(status)) return status;
    spdlog::warn("{} is of no use: {}", key, status.message());
  }
  spdlog::info("the catalog is made anew from {} snapshots", ids_.size());
  return rebuild_.StartEmpty(storage_.id());
}

absl::Status Rebuilder::TryCopy(const std::string& key) {
  ABSL_RETURN_IF_ERROR(rebuild_.ClearCopy());
  ABSL_RETURN_IF_ERROR(
      ReadCatalogCopy(storage_, key, [this](absl::string_view bytes) {
        LogProgress();
        return rebuild_.AppendCopy(bytes);
      }));
  return rebuild_.StartFromCopy(storage_.id());
}

absl::Status Rebuilder::TakeSnapshot(const std::string& id, bool known) {
  absl::StatusOr<Snapshot> snapshot =
      storage::format::ReadSnapshot(storage_, id);
  if (IsLost(snapshot.status())) {
    spdlog::warn("passed over: {}", snapshot.status().message());
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(snapshot.status());
  if (snapshot->account_id != account_id_) {
    return absl::FailedPreconditionError(
        absl::StrCat("snapshot ", id, " is of account ", snapshot->account_id,
                     ", not of ", account_id_, ": is this the right storage?"));
  }
  left_.push_back({id,
                   snapshot->state == "SUCCEEDED" ? BackupState::kSucceeded
                                                  : BackupState::kPartial,
                   snapshot->start_time, snapshot->end_time});
  const bool newest = !wanted_.has_value();
  if (newest) {
    current_ = known;
    wanted_.emplace();
    for (const SnapshotProject& project : snapshot->projects) {
      wanted_->insert(project.project_id);
    }
    if (!known) pending_ = *wanted_;
  }
  if (known) return absl::OkStatus();
  for (const SnapshotProject& project : snapshot->projects) {
    ABSL_RETURN_IF_ERROR(TakeProject(project, newest));
  }
  return absl::OkStatus();
}

absl::Status Rebuilder::TakeProject(const SnapshotProject& project,
                                    bool newest) {
  LogProgress();
  const std::string& digest = project.manifest_sha256;
  ABSL_ASSIGN_OR_RETURN(const bool unread, rebuild_.NoteManifest(digest));
  if (!unread) return absl::OkStatus();
  const bool pending = pending_.count(project.project_id) > 0;
  if (pending) {
    ABSL_ASSIGN_OR_RETURN(const std::string former,
                          rebuild_.ManifestOf(project.project_id));
    if (newest && former == digest) {
      pending_.erase(project.project_id);
      return absl::OkStatus();
    }
  }
  // Whole, before anything of it counts.
  const absl::Status readable = CheckManifest(digest);
  if (IsLost(readable)) {
    spdlog::warn("passed over, a manifest of project {}: {}", project.name,
                 readable.message());
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(readable);
  if (!pending) return TakeObjects(digest);
  pending_.erase(project.project_id);
  return TakeTree(project, newest);
}

absl::Status Rebuilder::CheckManifest(const std::string& digest) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                        ManifestReader::Open(storage_, digest));
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry,
                          reader->Next());
    if (!entry.has_value()) return absl::OkStatus();
    LogProgress();
  }
}

absl::Status Rebuilder::TakeObjects(const std::string& digest) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                        ManifestReader::Open(storage_, digest));
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry,
                          reader->Next());
    if (!entry.has_value()) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(TakeStored(*entry));
  }
}

absl::Status Rebuilder::TakeTree(const SnapshotProject& project, bool newest) {
  ABSL_ASSIGN_OR_RETURN(
      const std::unique_ptr<ManifestReader> reader,
      ManifestReader::Open(storage_, project.manifest_sha256));
  std::optional<ManifestTree> tree;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry,
                          reader->Next());
    if (!entry.has_value()) break;
    if (!tree.has_value()) {
      const bool vanished = ManifestTree::IsVanished(*entry);
      tree.emplace(vanished);
      ABSL_RETURN_IF_ERROR(
          rebuild_.BeginProject(project.project_id, project.name, vanished));
    }
    if (entry->kind == EntryKind::kFolder) {
      ABSL_RETURN_IF_ERROR(rebuild_.AddFolder(tree->TakeFolder(*entry)));
      continue;
    }
    ABSL_RETURN_IF_ERROR(TakeStored(*entry));
    ABSL_RETURN_IF_ERROR(rebuild_.AddFile(tree->TakeFile(*entry)));
  }
  if (!tree.has_value()) return absl::OkStatus();
  // An older one does not say what the newest snapshot does.
  return rebuild_.EndProject(newest ? project.manifest_sha256 : "");
}

absl::Status Rebuilder::TakeStored(const ManifestEntry& entry) {
  LogProgress();
  ++entries_;
  if (entry.sha256.empty() || entry.storage_urn.empty()) {
    return absl::OkStatus();
  }
  ABSL_ASSIGN_OR_RETURN(const bool known, rebuild_.IsStored(entry.storage_urn));
  if (known) return absl::OkStatus();
  const int64_t size = entry.size.value_or(0);
  ABSL_ASSIGN_OR_RETURN(const bool there, IsThere(entry.sha256, size));
  if (there) return rebuild_.AddStored(entry.storage_urn, entry.sha256, size);
  ++lost_;
  return absl::OkStatus();
}

absl::StatusOr<bool> Rebuilder::IsThere(absl::string_view sha256,
                                        int64_t size) {
  LogProgress();
  const absl::StatusOr<int64_t> found = storage_.GetBlobSize(sha256);
  if (found.ok()) return *found == size;
  if (absl::IsNotFound(found.status()) ||
      absl::IsInvalidArgument(found.status())) {
    return false;
  }
  return found.status();
}

absl::Status Rebuilder::End() {
  if (!wanted_.has_value()) {
    return absl::DataLossError("none of the storage's snapshots can be read");
  }
  for (auto left = left_.rbegin(); left != left_.rend(); ++left) {
    ABSL_RETURN_IF_ERROR(rebuild_.AddBackup(left->id, left->state,
                                            left->start_time, left->end_time));
  }
  if (!current_) {
    ABSL_RETURN_IF_ERROR(rebuild_.KeepProjects(*wanted_));
    ABSL_RETURN_IF_ERROR(rebuild_.ForgetShown());
  }
  for (const std::string& project : pending_) {
    spdlog::warn("no manifest of project {} can be read: it is listed anew",
                 project);
  }
  ABSL_RETURN_IF_ERROR(rebuild_.Finish());
  spdlog::info(
      "the catalog is back: {}, {} snapshots, {} entries of manifests; {} "
      "blobs are missing and will be fetched where they are still wanted",
      copy_.empty() ? "no copy" : copy_, left_.size(), entries_, lost_);
  return absl::OkStatus();
}

void Rebuilder::LogProgress() {
  const absl::Duration now = clock_.Monotonic();
  if (now < next_line_) return;
  next_line_ = now + kBetweenLines;
  spdlog::info("the catalog is being rebuilt: {} of {} snapshots, {} entries",
               left_.size(), ids_.size(), entries_);
}

}  // namespace

absl::Status RebuildCatalog(storage::Storage& storage,
                            const std::string& state_dir,
                            absl::string_view account_id, Clock& clock) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<CatalogRebuild> rebuild,
                        CatalogRebuild::Begin(state_dir, clock));
  return Rebuilder(storage, *rebuild, account_id, clock).Run();
}

}  // namespace bimbackup::rebuild
