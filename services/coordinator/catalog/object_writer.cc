#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kFindObject[] = R"sql(
SELECT pk, size, sha256 IS NOT NULL, asked FROM objects
WHERE urn_hash = ?1 AND urn = ?2)sql";

constexpr char kAddObject[] =
    "INSERT INTO objects(urn_hash, urn, size) VALUES(?, ?, ?)";

constexpr char kAddTransfer[] = R"sql(
INSERT INTO transfers(backup, object, project, file) VALUES(?, ?, ?, ?))sql";

constexpr char kSetAsked[] =
    "UPDATE objects SET asked = ?, transfer = ? WHERE pk = ?";

}  // namespace

int64_t IdHash(absl::string_view id) {
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return static_cast<int64_t>(hash);
}

ObjectRow FindOrAddObject(WriteBatch& batch, absl::string_view urn,
                          std::optional<int64_t> size) {
  Database& database = batch.database();
  const int64_t hash = IdHash(urn);
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
    Run(database, kAddObject, hash, urn, size);
    object.pk = database.LastInsertId();
    object.size = size;
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
