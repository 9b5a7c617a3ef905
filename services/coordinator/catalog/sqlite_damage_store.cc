// SqliteCatalogImpl as a DamageStore, and what a backup's beginning makes of
// what is there.

#include <utility>

#include "absl/strings/escaping.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/object_writer.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"
#include "services/coordinator/catalog/transfer_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr int kPlanChunk = 200;

constexpr char kRecord[] = R"sql(
INSERT INTO damaged_blobs(sha256, urn, size, found, project_id, project_name,
  item_id, path)
VALUES(?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET urn = excluded.urn, size = excluded.size,
  found = excluded.found, project_id = excluded.project_id,
  project_name = excluded.project_name, item_id = excluded.item_id,
  path = excluded.path, tries = CASE state WHEN 1 THEN 0 ELSE tries END,
  state = CASE state WHEN 1 THEN 0 ELSE state END)sql";

// What was fetched with other bytes cannot be mended by fetching it again.
constexpr char kGiveUpReplaced[] = R"sql(
UPDATE damaged_blobs SET state = 2 WHERE sha256 = ?1 AND state = 0
  AND EXISTS(SELECT 1 FROM objects WHERE pk = ?2 AND sha256 <> ?1))sql";

// What a file still has is tried as long as it has it.
constexpr char kWillBeMended[] = R"sql(
SELECT state = 0 AND (tries < ?2 OR EXISTS(
  SELECT 1 FROM objects o JOIN files f ON f.object = o.pk
  WHERE o.pk = ?3 AND o.sha256 IS NULL))
FROM damaged_blobs WHERE sha256 = ?1)sql";

constexpr char kFindByManifest[] = "SELECT pk FROM projects WHERE manifest = ?";

constexpr char kListMended[] =
    "SELECT sha256 FROM damaged_blobs WHERE state = 1 ORDER BY sha256 LIMIT ?";

constexpr char kForgetMended[] =
    "DELETE FROM damaged_blobs WHERE sha256 = ? AND state = 1";

constexpr char kListDamaged[] = R"sql(
SELECT sha256, urn, size, project_id, project_name, item_id, path
FROM damaged_blobs WHERE state = 0 AND tries < ?1 AND sha256 > ?2
ORDER BY sha256 LIMIT ?3)sql";

constexpr char kListObjects[] = "SELECT pk FROM objects WHERE sha256 = ?";

constexpr char kForgetObject[] =
    "UPDATE objects SET expected = sha256, sha256 = NULL WHERE pk = ?";

constexpr char kExpect[] = "UPDATE objects SET expected = ?2 WHERE pk = ?1";

constexpr char kListProjects[] =
    "SELECT DISTINCT project FROM files WHERE object = ?";

constexpr char kFindFile[] = R"sql(
SELECT f.pk, f.project FROM files f JOIN projects p ON p.pk = f.project
WHERE f.object = ? AND f.missing = 0 AND p.vanished = 0 LIMIT 1)sql";

constexpr char kFindProject[] = "SELECT pk FROM projects WHERE id = ?";

constexpr char kSetPath[] = R"sql(
UPDATE transfers SET path = ?2, item_id = ?3 WHERE id = ?1)sql";

constexpr char kCountTry[] =
    "UPDATE damaged_blobs SET tries = tries + 1 WHERE sha256 = ?";

constexpr char kIsDryRun[] =
    "SELECT validate_only FROM backups WHERE number = ?";

// One row, its digest and path as they are stored.
struct DamagedRow {
  std::string digest;
  std::string urn;
  std::optional<int64_t> size;
  std::string project_id;
  std::string project_name;
  std::string item_id;
  std::string path;
};

absl::StatusOr<std::vector<DamagedRow>> ReadDamaged(ReaderPool& readers,
                                                    const std::string& after) {
  ReaderPool::Reader reader(readers);
  std::vector<DamagedRow> rows;
  Query query(*reader, kListDamaged, kMaxMendingBackups, Blob{after},
              kPlanChunk);
  while (query.Next()) {
    DamagedRow& row = rows.emplace_back();
    row.digest = std::string(query.Bytes(0));
    row.urn = query.Text(1);
    row.size = query.OptionalInt(2);
    row.project_id = query.Text(3);
    row.project_name = query.Text(4);
    row.item_id = query.Text(5);
    row.path = std::string(query.Bytes(6));
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return rows;
}

bool IsWanted(const DamagedRow& row, const FileFilter& wanted) {
  if (!wanted) return true;
  std::vector<std::string> path = SplitPath(row.path);
  path.insert(path.begin(), row.project_name);
  return wanted(row.project_id, path);
}

std::vector<int64_t> ReadPks(Database& database, const char* sql,
                             const std::string& digest) {
  std::vector<int64_t> pks;
  Query query(database, sql, Blob{digest});
  while (query.Next()) pks.push_back(query.Int(0));
  return pks;
}

// Nothing that has these bytes counts as stored any more.
void ForgetStored(WriteBatch& batch, const std::string& digest) {
  Database& database = batch.database();
  for (const int64_t object : ReadPks(database, kListObjects, digest)) {
    Run(database, kForgetObject, object);
    Query query(database, kListProjects, object);
    while (query.Next()) batch.MarkChanged(query.Int(0));
  }
}

// A transfer of the object of a damaged blob, with a file that has it now or,
// where none does, with the one that had it.
void PlanMending(WriteBatch& batch, BackupNumber backup,
                 const ObjectRow& object, const DamagedRow& row) {
  Database& database = batch.database();
  int64_t file = 0;
  int64_t project = 0;
  {
    Query query(database, kFindFile, object.pk);
    if (query.Next()) {
      file = query.Int(0);
      project = query.Int(1);
    }
  }
  if (file == 0) project = ReadInt(database, 0, kFindProject, row.project_id);
  EnsureTransfer(batch, backup, object, project, file);
  if (file != 0) return;
  const int64_t transfer = ReadInt(
      database, 0, "SELECT transfer FROM objects WHERE pk = ?", object.pk);
  Run(database, kSetPath, transfer, Blob{row.path}, row.item_id);
}

void PlanRow(WriteBatch& batch, BackupNumber backup, const DamagedRow& row,
             bool dry_run) {
  Database& database = batch.database();
  ForgetStored(batch, row.digest);
  const ObjectRow object = FindOrAddObject(batch, row.urn, row.size);
  Run(database, kGiveUpReplaced, Blob{row.digest}, object.pk);
  if (object.stored || object.asked == backup) return;
  Run(database, kExpect, object.pk, Blob{row.digest});
  PlanMending(batch, backup, object, row);
  if (!dry_run) Run(database, kCountTry, Blob{row.digest});
}

}  // namespace

absl::StatusOr<bool> SqliteCatalogImpl::RecordDamagedBlob(
    const DamagedBlob& blob) {
  if (blob.storage_urn.empty()) return false;
  const std::string digest = absl::HexStringToBytes(blob.sha256);
  const std::string path = JoinPath(blob.path);
  bool will_be_mended = false;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    Run(database, kRecord, Blob{digest}, blob.storage_urn, blob.size,
        absl::ToUnixMicros(clock_.Now()), blob.project_id, blob.project_name,
        blob.item_id, Blob{path});
    const std::optional<ObjectRow> object = FindObject(batch, blob.storage_urn);
    const int64_t pk = object.has_value() ? object->pk : 0;
    Run(database, kGiveUpReplaced, Blob{digest}, pk);
    will_be_mended = ReadInt(database, 0, kWillBeMended, Blob{digest},
                             kMaxMendingBackups, pk) != 0;
    return absl::OkStatus();
  }));
  return will_be_mended;
}

absl::StatusOr<bool> SqliteCatalogImpl::RecordDamagedManifest(
    absl::string_view sha256) {
  const std::string digest = absl::HexStringToBytes(sha256);
  bool is_newest = false;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    is_newest = false;
    for (const int64_t project :
         ReadPks(batch.database(), kFindByManifest, digest)) {
      batch.MarkChanged(project);
      is_newest = true;
    }
    return absl::OkStatus();
  }));
  return is_newest;
}

absl::StatusOr<std::vector<std::string>> SqliteCatalogImpl::ListMended(
    int limit) {
  ReaderPool::Reader reader(*readers_);
  std::vector<std::string> mended;
  Query query(*reader, kListMended, limit);
  while (query.Next()) mended.push_back(absl::BytesToHexString(query.Bytes(0)));
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return mended;
}

absl::Status SqliteCatalogImpl::ForgetMended(
    const std::vector<std::string>& sha256s) {
  return writer_.Commit([&](WriteBatch& batch) {
    for (const std::string& sha256 : sha256s) {
      const std::string digest = absl::HexStringToBytes(sha256);
      Run(batch.database(), kForgetMended, Blob{digest});
    }
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::PlanDamaged(BackupNumber backup,
                                            const FileFilter& wanted) {
  std::string after;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::vector<DamagedRow> rows,
                          ReadDamaged(*readers_, after));
    if (rows.empty()) return absl::OkStatus();
    after = rows.back().digest;
    ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
      const bool dry_run = ReadInt(batch.database(), 0, kIsDryRun, backup) != 0;
      for (const DamagedRow& row : rows) {
        if (IsWanted(row, wanted)) PlanRow(batch, backup, row, dry_run);
      }
      return absl::OkStatus();
    }));
  }
}

}  // namespace bimbackup::catalog
