#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

// Two plain searches. As a view within IN, their rows would be gathered first.
constexpr char kFindHash[] = R"sql(
SELECT object FROM new_object_hashes WHERE urn_hash = ?1
UNION ALL SELECT object FROM object_hashes WHERE urn_hash = ?1)sql";

constexpr char kReadObject[] = R"sql(
SELECT size, sha256 IS NOT NULL, asked FROM objects WHERE pk = ? AND urn = ?
)sql";

constexpr char kAddObject[] =
    "INSERT INTO objects(urn, size, asked, transfer) VALUES(?, ?, ?, ?)";

constexpr char kMakeHashes[] = R"sql(
CREATE TEMP TABLE new_object_hashes(
  urn_hash INTEGER, object INTEGER,
  PRIMARY KEY(urn_hash, object)) WITHOUT ROWID;
CREATE TEMP VIEW urn_hashes AS
  SELECT urn_hash, object FROM object_hashes
  UNION ALL SELECT urn_hash, object FROM new_object_hashes;
)sql";

constexpr char kListNewest[] = R"sql(
SELECT pk, urn FROM objects WHERE pk > (
  SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'hashed_objects')
)sql";

constexpr char kAddHash[] = "INSERT INTO new_object_hashes VALUES(?, ?)";

// So many new hashes are moved at once: some for each page of a million, and
// no more than a commit may take time for.
constexpr int64_t kNewHashes = 32'768;

constexpr char kMoveHashes[] = R"sql(
INSERT INTO object_hashes SELECT urn_hash, object FROM new_object_hashes
ORDER BY urn_hash, object)sql";

constexpr char kRemoveNewHashes[] = "DELETE FROM new_object_hashes";

constexpr char kSetHashed[] =
    "UPDATE settings SET value = ? WHERE name = 'hashed_objects'";

constexpr char kAddTransfer[] = R"sql(
INSERT INTO transfers(id, backup, object, project, file) VALUES(?, ?, ?, ?, ?)
)sql";

constexpr char kSetAsked[] =
    "UPDATE objects SET asked = ?, transfer = ? WHERE pk = ?";

// Numbers of objects are given without a gap.
void AddHash(Database& database, int64_t hash, int64_t object) {
  Run(database, kAddHash, hash, object);
  if (object % kNewHashes != 0) return;
  Run(database, kMoveHashes);
  Run(database, kRemoveNewHashes);
  Run(database, kSetHashed, object);
}

std::optional<ObjectRow> FindObject(Database& database, int64_t hash,
                                    absl::string_view urn) {
  Query hashes(database, kFindHash, hash);
  while (hashes.Next()) {
    ObjectRow object;
    object.pk = hashes.Int(0);
    Query query(database, kReadObject, object.pk, urn);
    if (!query.Next()) continue;
    object.size = query.OptionalInt(0);
    object.stored = query.Int(1) != 0;
    object.asked = query.Int(2);
    return object;
  }
  return std::nullopt;
}

// With the promise of a transfer in backup `asked`, or of none where that
// is 0.
ObjectRow AddObject(WriteBatch& batch, int64_t hash, absl::string_view urn,
                    std::optional<int64_t> size, BackupNumber asked) {
  Database& database = batch.database();
  ObjectRow object;
  object.size = size;
  if (asked != 0) object.promised = batch.TakeTransferId();
  Run(database, kAddObject, urn, size, asked, object.promised);
  object.pk = database.LastInsertId();
  AddHash(database, hash, object.pk);
  return object;
}

}  // namespace

int64_t UrnHash(absl::string_view urn) {
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : urn) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return static_cast<int64_t>(hash);
}

int64_t IdHash(int64_t project, absl::string_view id) {
  return static_cast<int64_t>((static_cast<uint64_t>(project) << 40) |
                              (UrnHash(id) & 0xff'ffff'ffff));
}

void PrepareObjectHashes(Database& database) {
  database.Execute(kMakeHashes);
  Query query(database, kListNewest);
  while (query.Next()) {
    Run(database, kAddHash, UrnHash(query.Bytes(1)), query.Int(0));
  }
}

ObjectRow FindOrAddObject(WriteBatch& batch, absl::string_view urn,
                          std::optional<int64_t> size) {
  return FindOrPlanObject(batch, /*backup=*/0, urn, size);
}

ObjectRow FindOrPlanObject(WriteBatch& batch, BackupNumber backup,
                           absl::string_view urn, std::optional<int64_t> size) {
  const int64_t hash = UrnHash(urn);
  const std::optional<ObjectRow> found =
      FindObject(batch.database(), hash, urn);
  return found.has_value() ? *found : AddObject(batch, hash, urn, size, backup);
}

void EnsureTransfer(WriteBatch& batch, BackupNumber backup,
                    const ObjectRow& object, int64_t project, int64_t file) {
  if (object.stored || object.asked == backup) return;
  Database& database = batch.database();
  const bool promised = object.promised != 0;
  const int64_t id = promised ? object.promised : batch.TakeTransferId();
  Run(database, kAddTransfer, id, backup, object.pk, project, file);
  if (!promised) Run(database, kSetAsked, backup, id, object.pk);
  BackupCounters& counters = batch.Counters(backup);
  ++counters.transfers;
  counters.transfer_bytes += object.size.value_or(0);
}

}  // namespace bimbackup::catalog
