// What a CatalogRebuild is filled with.

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/catalog_rebuild.h"
#include "services/coordinator/catalog/object_writer.h"
#include "services/coordinator/catalog/stored_time.h"
#include "services/coordinator/catalog/tree_reader.h"
#include "services/coordinator/catalog/tree_writer.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {
namespace {

constexpr char kListSnapshots[] =
    "SELECT snapshot_id FROM backups WHERE snapshot_id <> ''";

constexpr int kObjectsAtOnce = 10'000;

constexpr char kListStored[] = R"sql(
SELECT pk, sha256, size FROM objects WHERE pk > ? AND sha256 IS NOT NULL
ORDER BY pk LIMIT ?)sql";

constexpr char kForgetStored[] =
    "UPDATE objects SET sha256 = NULL WHERE pk = ?";

constexpr char kSetStored[] = R"sql(
UPDATE objects SET sha256 = ?2, size = ?3, failure = NULL WHERE pk = ?1)sql";

constexpr char kSetFailure[] =
    "UPDATE objects SET failure = ?2 WHERE pk = ?1 AND sha256 IS NULL";

constexpr char kNoteManifest[] =
    "INSERT OR IGNORE INTO seen_manifests VALUES(?)";

constexpr char kReadManifest[] = "SELECT manifest FROM projects WHERE id = ?";

constexpr char kAddProject[] =
    "INSERT INTO projects(id, name, kind) VALUES(?, ?, '')";

constexpr char kResetProject[] = R"sql(
UPDATE projects SET name = ?2, root = 0, vanished = ?3, changed = 1,
  manifest = NULL, seen = 0, files = 0, folders = 0, bytes = 0
WHERE pk = ?1)sql";

constexpr char kRemoveTasks[] = "DELETE FROM frontier WHERE project = ?";

constexpr char kClearTree[] = R"sql(
CREATE TEMP TABLE IF NOT EXISTS tree(pk INTEGER PRIMARY KEY);
DELETE FROM tree)sql";

constexpr char kFindTree[] = R"sql(
INSERT INTO tree
WITH RECURSIVE below(pk) AS (
  SELECT root FROM projects WHERE pk = ?
  UNION
  SELECT f.pk FROM folders f JOIN below b ON f.parent = b.pk)
SELECT pk FROM below)sql";

constexpr char kRemoveFiles[] =
    "DELETE FROM files WHERE folder IN (SELECT pk FROM tree)";

constexpr char kRemoveFolders[] =
    "DELETE FROM folders WHERE pk IN (SELECT pk FROM tree)";

constexpr char kAddFolder[] = R"sql(
INSERT INTO folders(project, parent, depth, id_hash, id, name, listed, missing,
  unlisted)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr char kSetRoot[] = "UPDATE projects SET root = ?2 WHERE pk = ?1";

// A root that shows its files has been listed with them.
constexpr char kSetRootListed[] = "UPDATE folders SET listed = 1 WHERE pk = ?";

constexpr char kAddFile[] = R"sql(
INSERT INTO files(project, folder, item_hash, item_id, name, version_id,
  version_number, object, modified, reason, seen, missing)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?))sql";

constexpr char kEndProject[] = R"sql(
UPDATE projects SET manifest = ?2, changed = ?3, files = ?4, folders = ?5,
  bytes = ?6
WHERE pk = ?1)sql";

constexpr char kListProjects[] =
    "SELECT pk, id FROM projects WHERE vanished <> 2";

constexpr char kRemoveProject[] = "DELETE FROM projects WHERE pk = ?";

constexpr char kReadBackupState[] = "SELECT state FROM backups WHERE id = ?";

constexpr char kEndBackup[] = R"sql(
UPDATE backups SET state = ?2, end_time = ?3, snapshot_id = ?1,
  crawl_ended = 1
WHERE id = ?1)sql";

constexpr char kAddBackup[] = R"sql(
INSERT INTO backups(id, request_id, validate_only, full_recheck, state,
  message, create_time, end_time, snapshot_id, first_transfer, crawl_ended)
VALUES(?1, '', 0, 0, ?2, 'known from its snapshot alone', ?3, ?4, ?1,
  (SELECT IFNULL(MAX(id), 0) + 1 FROM transfers), 1))sql";

constexpr char kForgetShown[] = "DELETE FROM shown";

}  // namespace

absl::StatusOr<std::set<std::string>> CatalogRebuild::KnownSnapshots() {
  std::set<std::string> known;
  Query query(*database_, kListSnapshots);
  while (query.Next()) known.insert(query.Text(0));
  ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  return known;
}

absl::StatusOr<int64_t> CatalogRebuild::CheckStored(
    const std::function<absl::StatusOr<bool>(absl::string_view, int64_t)>&
        is_there) {
  int64_t forgotten = 0;
  int64_t after = 0;
  int rows = kObjectsAtOnce;
  while (rows == kObjectsAtOnce) {
    std::vector<int64_t> missing;
    rows = 0;
    {
      Query query(*database_, kListStored, after, kObjectsAtOnce);
      while (query.Next()) {
        ++rows;
        after = query.Int(0);
        ABSL_ASSIGN_OR_RETURN(
            const bool there,
            is_there(absl::BytesToHexString(query.Bytes(1)), query.Int(2)));
        if (!there) missing.push_back(after);
      }
    }
    for (const int64_t object : missing) Run(*database_, kForgetStored, object);
    forgotten += static_cast<int64_t>(missing.size());
    ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  }
  return forgotten;
}

absl::StatusOr<bool> CatalogRebuild::IsStored(absl::string_view storage_urn) {
  WriteBatch batch(*database_, *hashes_);
  const std::optional<ObjectRow> object = FindObject(batch, storage_urn);
  ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  return object.has_value() && object->stored;
}

absl::Status CatalogRebuild::AddStored(absl::string_view storage_urn,
                                       absl::string_view sha256, int64_t size) {
  WriteBatch batch(*database_, *hashes_);
  const ObjectRow object = FindOrAddObject(batch, storage_urn, size);
  if (!object.stored) {
    const std::string digest = absl::HexStringToBytes(sha256);
    Run(*database_, kSetStored, object.pk, Blob{digest}, size);
  }
  return Step();
}

absl::StatusOr<bool> CatalogRebuild::NoteManifest(
    absl::string_view manifest_sha256) {
  const std::string digest = absl::HexStringToBytes(manifest_sha256);
  Run(*database_, kNoteManifest, Blob{digest});
  const bool noted = database_->Changes() > 0;
  ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  return noted;
}

absl::StatusOr<std::string> CatalogRebuild::ManifestOf(
    absl::string_view project_id) {
  std::string manifest;
  {
    Query query(*database_, kReadManifest, project_id);
    if (query.Next()) manifest = absl::BytesToHexString(query.Bytes(0));
  }
  ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  return manifest;
}

void CatalogRebuild::RemoveTree(int64_t project) {
  database_->Execute(kClearTree);
  Run(*database_, kFindTree, project);
  Run(*database_, kRemoveFiles);
  Run(*database_, kRemoveFolders);
  Run(*database_, kRemoveTasks, project);
}

absl::Status CatalogRebuild::BeginProject(absl::string_view project_id,
                                          absl::string_view name,
                                          bool vanished) {
  project_ = FindProject(*database_, project_id);
  if (project_ != 0) {
    RemoveTree(project_);
  } else {
    Run(*database_, kAddProject, project_id, name);
    project_ = database_->LastInsertId();
  }
  Run(*database_, kResetProject, project_, name, vanished);
  folders_.clear();
  files_ = 0;
  folder_count_ = 0;
  bytes_ = 0;
  return Step();
}

absl::Status CatalogRebuild::AddFolder(const RebuiltFolder& folder) {
  const size_t depth = static_cast<size_t>(std::max(folder.depth, 0));
  if (depth > folders_.size() || (depth == 0 && !folders_.empty())) {
    return absl::DataLossError(
        absl::StrCat("folder ", folder.id, " has no parent"));
  }
  folders_.resize(depth);
  const bool is_root = depth == 0;
  std::optional<std::string> unlisted;
  if (!folder.unlisted_reason.empty()) unlisted = folder.unlisted_reason;
  Run(*database_, kAddFolder, project_, is_root ? 0 : folders_.back(),
      folder.depth, IdHash(project_, folder.id), folder.id,
      is_root ? "" : folder.name,
      absl::StartsWith(folder.id, kMadeUpId) ? kMadeUp : 0,
      folder.guarded ? Presence::kGuarded : Presence::kPresent, unlisted);
  folders_.push_back(database_->LastInsertId());
  if (is_root) {
    Run(*database_, kSetRoot, project_, folders_.back());
  } else {
    ++folder_count_;
  }
  return Step();
}

absl::Status CatalogRebuild::AddFile(const RebuiltFile& file) {
  const size_t depth = static_cast<size_t>(std::max(file.depth, 0));
  if (depth == 0 || depth > folders_.size()) {
    return absl::DataLossError(
        absl::StrCat("file ", file.item_id, " has no folder"));
  }
  folders_.resize(depth);
  std::optional<int64_t> object;
  if (!file.storage_urn.empty()) {
    WriteBatch batch(*database_, *hashes_);
    object = FindOrAddObject(batch, file.storage_urn, file.size).pk;
    if (file.sha256.empty() && !file.reason.empty()) {
      Run(*database_, kSetFailure, *object, file.reason);
    }
  }
  const int64_t hash = IdHash(project_, file.item_id);
  Run(*database_, kAddFile, project_, folders_.back(), hash, file.item_id,
      file.name, file.version_id, file.version_number, object,
      ToStoredTime(file.last_modified), object.has_value() ? "" : file.reason,
      file.guarded ? Presence::kGuarded : Presence::kPresent);
  hashes_->AddFile(hash);
  if (depth == 1) Run(*database_, kSetRootListed, folders_.back());
  ++files_;
  bytes_ += object.has_value() ? file.size.value_or(0) : 0;
  return Step();
}

absl::Status CatalogRebuild::EndProject(absl::string_view manifest_sha256) {
  const std::string digest = absl::HexStringToBytes(manifest_sha256);
  if (digest.empty()) {
    Run(*database_, kEndProject, project_, std::optional<std::string>(), 1,
        files_, folder_count_, bytes_);
  } else {
    Run(*database_, kEndProject, project_, Blob{digest}, 0, files_,
        folder_count_, bytes_);
  }
  return Step();
}

absl::Status CatalogRebuild::KeepProjects(
    const std::set<std::string>& project_ids) {
  std::vector<int64_t> others;
  {
    Query query(*database_, kListProjects);
    while (query.Next()) {
      if (project_ids.count(query.Text(1)) == 0) others.push_back(query.Int(0));
    }
  }
  for (const int64_t project : others) {
    RemoveTree(project);
    Run(*database_, kRemoveProject, project);
  }
  return Step();
}

absl::Status CatalogRebuild::AddBackup(absl::string_view snapshot_id,
                                       BackupState state,
                                       absl::Time create_time,
                                       absl::Time end_time) {
  const int64_t known = ReadInt(*database_, -1, kReadBackupState, snapshot_id);
  if (known < 0) {
    Run(*database_, kAddBackup, snapshot_id, state,
        absl::ToUnixMicros(create_time), absl::ToUnixMicros(end_time));
  } else if (!HasEnded(static_cast<BackupState>(known))) {
    Run(*database_, kEndBackup, snapshot_id, state,
        absl::ToUnixMicros(end_time));
  }
  return Step();
}

absl::Status CatalogRebuild::ForgetShown() {
  Run(*database_, kForgetShown);
  return Step();
}

}  // namespace bimbackup::catalog
