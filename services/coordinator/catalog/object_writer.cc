#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kFindObject[] = R"sql(
SELECT pk, size, sha256 IS NOT NULL, asked FROM objects
WHERE pk IN (SELECT object FROM urn_hashes WHERE urn_hash = ?1) AND urn = ?2
)sql";

constexpr char kAddObject[] = "INSERT INTO objects(urn, size) VALUES(?, ?)";

constexpr char kAddHash[] = "INSERT INTO new_object_hashes VALUES(?, ?)";

// So many new hashes are moved at once: some for each page of a million.
constexpr int64_t kNewHashes = 16'384;

constexpr char kMoveHashes[] = R"sql(
INSERT INTO object_hashes SELECT urn_hash, object FROM new_object_hashes
ORDER BY urn_hash, object)sql";

constexpr char kRemoveNewHashes[] = "DELETE FROM new_object_hashes";

constexpr char kAddTransfer[] = R"sql(
INSERT INTO transfers(backup, object, project, file) VALUES(?, ?, ?, ?))sql";

constexpr char kSetAsked[] =
    "UPDATE objects SET asked = ?, transfer = ? WHERE pk = ?";

// Numbers of objects are given without a gap.
void AddHash(Database& database, int64_t hash, int64_t object) {
  Run(database, kAddHash, hash, object);
  if (object % kNewHashes != 0) return;
  Run(database, kMoveHashes);
  Run(database, kRemoveNewHashes);
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

ObjectRow FindOrAddObject(WriteBatch& batch, absl::string_view urn,
                          std::optional<int64_t> size) {
  Database& database = batch.database();
  const int64_t hash = UrnHash(urn);
  ObjectRow object;
  {
    Query query(database, kFindObject, hash, urn);
    if (query.Next()) {
      object.pk = query.Int(0);
      object.size = query.OptionalInt(1);
      object.stored = query.Int(2) != 0;
      object.asked = query.Int(3);
    }
  }
  if (object.pk == 0) {
    Run(database, kAddObject, urn, size);
    object.pk = database.LastInsertId();
    object.size = size;
    AddHash(database, hash, object.pk);
  }
  return object;
}

void EnsureTransfer(WriteBatch& batch, BackupNumber backup,
                    const ObjectRow& object, int64_t project, int64_t file) {
  if (object.stored || object.asked == backup) return;
  Database& database = batch.database();
  Run(database, kAddTransfer, backup, object.pk, project, file);
  Run(database, kSetAsked, backup, database.LastInsertId(), object.pk);
  BackupCounters& counters = batch.Counters(backup);
  ++counters.transfers;
  counters.transfer_bytes += object.size.value_or(0);
}

}  // namespace bimbackup::catalog
