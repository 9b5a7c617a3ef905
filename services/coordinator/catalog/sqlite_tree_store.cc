// SqliteCatalogImpl as a TreeStore.

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"
#include "services/coordinator/catalog/stored_time.h"
#include "services/coordinator/catalog/tree_reader.h"

namespace bimbackup::catalog {
namespace {

#define PROJECT_COLUMNS                                                    \
  "SELECT p.id, p.name, p.kind, r.id, p.vanished, p.changed, p.manifest, " \
  "CASE WHEN r.in_part = 0 THEN r.unlisted END "                           \
  "FROM projects p JOIN folders r ON r.pk = p.root "

constexpr char kListProjects[] =
    PROJECT_COLUMNS "WHERE p.vanished <> 2 ORDER BY p.id";
constexpr char kReadProject[] = PROJECT_COLUMNS "WHERE p.id = ?";

#undef PROJECT_COLUMNS

constexpr char kListFolders[] = R"sql(
SELECT id, name, CASE WHEN in_part = 0 THEN unlisted END, missing = 2
FROM folders WHERE parent = ? AND missing <> 3 ORDER BY name, id)sql";

constexpr char kListFiles[] = R"sql(
SELECT f.item_id, f.name, f.version_id, f.version_number, o.size, o.urn,
  f.modified, o.sha256, CASE WHEN o.pk IS NULL THEN f.reason ELSE o.failure END,
  f.missing = 2, f.former_version_id, f.former_number, s.size, s.urn, s.sha256,
  f.former_modified
FROM files f LEFT JOIN objects o ON o.pk = f.object
LEFT JOIN objects s ON s.pk = f.former_object
WHERE f.folder = ? AND f.missing <> 3 ORDER BY f.name, f.item_id)sql";

constexpr char kIsBelowGuarded[] = R"sql(
WITH RECURSIVE above(pk, parent, missing) AS (
  SELECT pk, parent, missing FROM folders WHERE pk = ?
  UNION
  SELECT f.pk, f.parent, f.missing FROM folders f JOIN above a
  ON f.pk = a.parent)
SELECT 1 FROM above WHERE missing = 2 LIMIT 1)sql";

constexpr char kSetManifest[] = R"sql(
UPDATE projects SET manifest = ?2, changed = MAX(changed - 1, 0)
WHERE id = ?1)sql";

constexpr char kSetSnapshot[] =
    "UPDATE backups SET snapshot_id = ?2 WHERE number = ?1";

constexpr char kListShown[] =
    "SELECT project_id, manifest, updating_to FROM shown ORDER BY project_id";

constexpr char kSetShown[] = R"sql(
INSERT INTO shown(project_id, manifest, updating_to) VALUES(?, ?, ?)
ON CONFLICT DO UPDATE SET manifest = excluded.manifest,
  updating_to = excluded.updating_to)sql";

// What was not listed, and what is guarded: projects that vanished, and the
// topmost of the folders and files that did.
constexpr char kListUnlisted[] = R"sql(
WITH problems(pk, reason, guarded, forbidden) AS (
  SELECT f.pk, f.unlisted, 0, f.denied = 1
  FROM folders f JOIN frontier t ON t.task = f.task
  WHERE f.unlisted IS NOT NULL AND t.blocked = 1
  UNION ALL
  SELECT root, 'guarded: vanished from the list of projects', 1, 0
  FROM projects WHERE vanished = 1
  UNION ALL
  SELECT pk, 'guarded: vanished with all that it held', 1, 0 FROM folders
  WHERE missing = 2
  UNION ALL
  SELECT folder, 'guarded: vanished files of this folder: ' || COUNT(*), 1, 0
  FROM files WHERE missing = 2 GROUP BY folder)
SELECT p.id, p.name, CASE WHEN f.parent = 0 THEN '' ELSE f.id END AS named,
  f.pk, GROUP_CONCAT(reason, '; '), MAX(guarded), MAX(forbidden)
FROM problems JOIN folders f ON f.pk = problems.pk
JOIN projects p ON p.pk = f.project
WHERE (p.id, named) > (?1, ?2)
GROUP BY p.id, named ORDER BY p.id, named LIMIT ?3)sql";

std::string Hex(absl::string_view bytes) {
  return absl::BytesToHexString(bytes);
}

ProjectRecord TakeProject(Query& query) {
  ProjectRecord record;
  record.project_id = query.Text(0);
  record.name = query.Text(1);
  record.kind = query.Text(2);
  record.root_folder_id = query.Text(3);
  record.vanished = query.Int(4) != 0;
  record.changed = query.Int(5) != 0;
  record.manifest_sha256 = Hex(query.Bytes(6));
  record.unlisted_reason = query.Text(7);
  return record;
}

FileRecord TakeFile(Query& query) {
  FileRecord record;
  record.item_id = query.Text(0);
  record.name = query.Text(1);
  record.version_id = query.Text(2);
  record.version_number = query.Int(3);
  record.size = query.OptionalInt(4);
  record.storage_urn = query.Text(5);
  record.last_modified = FromStoredTime(query.OptionalInt(6));
  record.sha256 = Hex(query.Bytes(7));
  record.reason = query.Text(8);
  record.guarded = query.Int(9) != 0;
  if (record.sha256.empty() && !query.IsNull(14)) {
    StoredVersion& former = record.former.emplace();
    former.version_id = query.Text(10);
    former.version_number = query.Int(11);
    former.size = query.OptionalInt(12);
    former.storage_urn = query.Text(13);
    former.sha256 = Hex(query.Bytes(14));
    former.last_modified = FromStoredTime(query.OptionalInt(15));
  }
  return record;
}

}  // namespace

absl::StatusOr<std::vector<ProjectRecord>> SqliteCatalogImpl::ListProjects() {
  ReaderPool::Reader reader(*readers_);
  std::vector<ProjectRecord> records;
  Query query(*reader, kListProjects);
  while (query.Next()) records.push_back(TakeProject(query));
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return records;
}

absl::StatusOr<ProjectRecord> SqliteCatalogImpl::GetProject(
    absl::string_view project_id) {
  ReaderPool::Reader reader(*readers_);
  std::optional<ProjectRecord> record;
  {
    Query query(*reader, kReadProject, project_id);
    if (query.Next()) record = TakeProject(query);
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  if (!record.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("the catalog has no project ", project_id));
  }
  return *std::move(record);
}

absl::StatusOr<FolderChildren> SqliteCatalogImpl::ListChildren(
    absl::string_view project_id, absl::string_view folder_id) {
  ReaderPool::Reader reader(*readers_);
  const int64_t project = FindProject(*reader, project_id);
  const int64_t folder = FindFolderPk(*reader, project, folder_id);
  const bool guarded = ReadInt(*reader, 0, kIsBelowGuarded, folder) != 0;
  FolderChildren children;
  Query folders(*reader, kListFolders, folder);
  while (folders.Next()) {
    FolderRecord& record = children.folders.emplace_back();
    record.folder_id = folders.Text(0);
    record.name = folders.Text(1);
    record.unlisted_reason = folders.Text(2);
    record.guarded = guarded || folders.Int(3) != 0;
    absl::StrAppend(&record.project_id, project_id);
    absl::StrAppend(&record.parent_id, folder_id);
  }
  Query files(*reader, kListFiles, folder);
  while (files.Next()) {
    FileRecord& record = children.files.emplace_back(TakeFile(files));
    record.guarded |= guarded;
    absl::StrAppend(&record.project_id, project_id);
    absl::StrAppend(&record.folder_id, folder_id);
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  if (folder == 0) {
    return absl::NotFoundError(absl::StrCat("the catalog has no folder ",
                                            folder_id, " in ", project_id));
  }
  return children;
}

absl::Status SqliteCatalogImpl::SetManifest(BackupNumber backup,
                                            absl::string_view project_id,
                                            absl::string_view manifest_sha256,
                                            bool written) {
  const std::string digest = absl::HexStringToBytes(manifest_sha256);
  return writer_.Commit([&](WriteBatch& batch) {
    Run(batch.database(), kSetManifest, project_id, Blob{digest});
    if (written) ++batch.Counters(backup).manifests_written;
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::SetSnapshot(BackupNumber backup,
                                            absl::string_view snapshot_id) {
  return writer_.Commit([&](WriteBatch& batch) {
    Run(batch.database(), kSetSnapshot, backup, snapshot_id);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<ShownProject>> SqliteCatalogImpl::ListShown() {
  ReaderPool::Reader reader(*readers_);
  std::vector<ShownProject> shown;
  Query query(*reader, kListShown);
  while (query.Next()) {
    shown.push_back({query.Text(0), query.Text(1), query.Text(2)});
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return shown;
}

absl::Status SqliteCatalogImpl::SetShown(const ShownProject& shown) {
  return writer_.Commit([&](WriteBatch& batch) {
    Run(batch.database(), kSetShown, shown.project_id, shown.manifest_sha256,
        shown.updating_to_sha256);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<UnlistedRecord>> SqliteCatalogImpl::ListUnlisted(
    absl::string_view after_project, absl::string_view after_folder,
    int limit) {
  ReaderPool::Reader reader(*readers_);
  std::vector<UnlistedRecord> records;
  Query query(*reader, kListUnlisted, after_project, after_folder, limit);
  while (query.Next()) {
    UnlistedRecord& record = records.emplace_back();
    record.project_id = query.Text(0);
    record.project_name = query.Text(1);
    record.folder_id = query.Text(2);
    record.path = ReadFolderPath(*reader, query.Int(3));
    record.reason = query.Text(4);
    record.guarded = query.Int(5) != 0;
    record.denied = query.Int(6) != 0;
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return records;
}

}  // namespace bimbackup::catalog
