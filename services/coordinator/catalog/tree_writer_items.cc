// TreeWriter's files.

#include <string>
#include <utility>

#include "services/coordinator/catalog/object_writer.h"
#include "services/coordinator/catalog/stored_time.h"
#include "services/coordinator/catalog/tree_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kFindFile[] = R"sql(
SELECT f.pk, f.folder, f.name, f.version_id, f.version_number, f.object,
  f.modified, f.reason, f.missing, o.size, o.sha256 IS NOT NULL
FROM files f LEFT JOIN objects o ON o.pk = f.object
WHERE f.item_hash = ?1 AND f.item_id = ?2 AND f.project = ?3)sql";

constexpr char kAddFile[] = R"sql(
INSERT INTO files(project, folder, item_hash, item_id, name, version_id,
  version_number, object, modified, reason, seen)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr char kUpdateFile[] = R"sql(
UPDATE files SET folder = ?2, name = ?3, version_id = ?4, version_number = ?5,
  object = ?6, modified = ?7, reason = ?8, seen = ?9, missing = 0
WHERE pk = ?1)sql";

constexpr char kKeepFile[] =
    "UPDATE files SET folder = ?2, seen = ?3, missing = 0 WHERE pk = ?1";

constexpr char kSetFormer[] = R"sql(
UPDATE files SET former_object = object, former_version_id = version_id,
  former_number = version_number, former_modified = modified
WHERE pk = ?)sql";

}  // namespace

// A row of `files` with its object.
struct TreeWriter::FileRow {
  int64_t pk = 0;
  int64_t folder = 0;
  std::string name;
  std::string version_id;
  int64_t version_number = 0;
  std::optional<int64_t> object;
  std::optional<int64_t> modified;
  std::string reason;
  Presence presence = Presence::kPresent;
  int64_t size = 0;
  bool stored = false;
};

void TreeWriter::WriteItem(const ListedItem& listed) {
  const bim360::Item& item = listed.item;
  const int64_t hash = IdHash(folder_.project, item.item_id);
  const std::optional<FileRow> row = FindFile(item.item_id, hash);
  if (listed.filtered_out) {
    const bool known = row.has_value() && row->name == item.name &&
                       row->version_id == item.version_id &&
                       row->folder == folder_.pk;
    if (!known) task_.keep = true;
    if (row.has_value()) KeepFile(*row);
  } else if (!row.has_value()) {
    AddFile(item, hash, listed.no_content_reason);
  } else if (item.version_id.empty()) {
    // The page did not tell what the tip is: no reason to forget it.
    KeepFile(*row);
  } else {
    UpdateFile(*row, item, listed.no_content_reason);
  }
}

std::optional<TreeWriter::FileRow> TreeWriter::FindFile(
    absl::string_view item_id, int64_t hash) {
  if (!batch_.hashes().MayHaveFile(hash)) return std::nullopt;
  Query query(database_, kFindFile, hash, item_id, folder_.project);
  if (!query.Next()) return std::nullopt;
  FileRow row;
  row.pk = query.Int(0);
  row.folder = query.Int(1);
  row.name = query.Text(2);
  row.version_id = query.Text(3);
  row.version_number = query.Int(4);
  row.object = query.OptionalInt(5);
  row.modified = query.OptionalInt(6);
  row.reason = query.Text(7);
  row.presence = static_cast<Presence>(query.Int(8));
  row.size = query.Int(9);
  row.stored = query.Int(10) != 0;
  return row;
}

void TreeWriter::AddFile(const bim360::Item& item, int64_t hash,
                         absl::string_view reason) {
  std::optional<ObjectRow> object;
  if (!item.storage_urn.empty()) {
    object =
        FindOrPlanObject(batch_, options_.backup, item.storage_urn, item.size);
  }
  Run(database_, kAddFile, folder_.project, folder_.pk, hash, item.item_id,
      item.name, item.version_id, item.version_number,
      object.has_value() ? std::optional<int64_t>(object->pk) : std::nullopt,
      ToStoredTime(item.last_modified), reason, task_.task);
  const int64_t file = database_.LastInsertId();
  batch_.hashes().AddFile(hash);
  batch_.AddTotals(folder_.project, /*folders=*/0, /*files=*/1,
                   object.has_value() ? object->size.value_or(0) : 0);
  batch_.MarkChanged(folder_.project);
  if (object.has_value()) {
    EnsureTransfer(batch_, options_.backup, *object, folder_.project, file);
  }
}

void TreeWriter::UpdateFile(const FileRow& row, const bim360::Item& item,
                            absl::string_view reason) {
  std::optional<ObjectRow> object;
  std::optional<int64_t> object_pk;
  if (!item.storage_urn.empty()) {
    object =
        FindOrPlanObject(batch_, options_.backup, item.storage_urn, item.size);
    object_pk = object->pk;
  }
  const std::optional<int64_t> modified = ToStoredTime(item.last_modified);
  const bool changed = row.folder != folder_.pk || row.name != item.name ||
                       row.version_id != item.version_id ||
                       row.version_number != item.version_number ||
                       row.object != object_pk || row.modified != modified ||
                       row.reason != reason ||
                       row.presence == Presence::kGuarded;
  if (!changed) {
    KeepFile(row);
  } else {
    if (row.stored && row.object != object_pk) {
      Run(database_, kSetFormer, row.pk);
    }
    Run(database_, kUpdateFile, row.pk, folder_.pk, item.name, item.version_id,
        item.version_number, object_pk, modified, reason, task_.task);
    const int64_t size = object.has_value() ? object->size.value_or(0) : 0;
    batch_.AddTotals(folder_.project, /*folders=*/0, /*files=*/0,
                     size - row.size);
    batch_.MarkChanged(folder_.project);
  }
  if (object.has_value()) {
    EnsureTransfer(batch_, options_.backup, *object, folder_.project, row.pk);
  }
}

void TreeWriter::KeepFile(const FileRow& row) {
  Run(database_, kKeepFile, row.pk, folder_.pk, task_.task);
  if (row.folder != folder_.pk || row.presence == Presence::kGuarded) {
    batch_.MarkChanged(folder_.project);
  }
}

}  // namespace bimbackup::catalog
