#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kReadObject[] = R"sql(
SELECT size, sha256 IS NOT NULL, asked FROM objects WHERE pk = ? AND urn = ?
)sql";

constexpr char kAddObject[] =
    "INSERT INTO objects(urn, size, asked, transfer) VALUES(?, ?, ?, ?)";

constexpr char kAddTransfer[] = R"sql(
INSERT INTO transfers(id, backup, object, project, file) VALUES(?, ?, ?, ?, ?)
)sql";

constexpr char kSetAsked[] =
    "UPDATE objects SET asked = ?, transfer = ? WHERE pk = ?";

std::optional<ObjectRow> FindByHash(WriteBatch& batch, int64_t hash,
                                    absl::string_view urn) {
  for (const int64_t pk : batch.hashes().FindObjects(hash)) {
    Query query(batch.database(), kReadObject, pk, urn);
    if (!query.Next()) continue;
    ObjectRow object;
    object.pk = pk;
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
  batch.hashes().AddObject(hash, object.pk);
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

std::optional<ObjectRow> FindObject(WriteBatch& batch, absl::string_view urn) {
  return FindByHash(batch, UrnHash(urn), urn);
}

ObjectRow FindOrAddObject(WriteBatch& batch, absl::string_view urn,
                          std::optional<int64_t> size) {
  return FindOrPlanObject(batch, /*backup=*/0, urn, size);
}

ObjectRow FindOrPlanObject(WriteBatch& batch, BackupNumber backup,
                           absl::string_view urn, std::optional<int64_t> size) {
  const int64_t hash = UrnHash(urn);
  const std::optional<ObjectRow> found = FindByHash(batch, hash, urn);
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
