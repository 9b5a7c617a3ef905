#include "services/coordinator/catalog/known_hashes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

// Reads the index alone.
constexpr char kListFiles[] = "SELECT item_hash FROM files";

constexpr char kListMoved[] = "SELECT urn_hash FROM object_hashes";

constexpr char kListNewest[] = R"sql(
SELECT pk, urn FROM objects WHERE pk > (
  SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'hashed_objects')
)sql";

constexpr char kFindMoved[] =
    "SELECT object FROM object_hashes WHERE urn_hash = ?";

constexpr char kMove[] = "INSERT INTO object_hashes VALUES(?, ?)";

constexpr char kSetHashed[] =
    "UPDATE settings SET value = ? WHERE name = 'hashed_objects'";

}  // namespace

void KnownHashes::Load() {
  LoadNewest();
  Ready(moved_, kListMoved);
  Ready(files_, kListFiles);
}

void KnownHashes::RolledBack() {
  newest_.clear();
  newest_count_ = 0;
  newest_loaded_ = false;
}

ObjectPks KnownHashes::FindObjects(int64_t urn_hash) {
  LoadNewest();
  ObjectPks objects;
  const auto newest = newest_.find(urn_hash);
  if (newest != newest_.end()) objects = newest->second;
  if (Ready(moved_, kListMoved) && !moved_.hashes.MayContain(urn_hash)) {
    return objects;
  }
  Query query(database_, kFindMoved, urn_hash);
  while (query.Next()) objects.push_back(query.Int(0));
  return objects;
}

void KnownHashes::AddObject(int64_t urn_hash, int64_t object) {
  // After an error there is no such row, and the number is another's. What is
  // to be read yet is read with this row.
  if (!database_.ok() || !newest_loaded_) return;
  newest_[urn_hash].push_back(object);
  if (++newest_count_ >= kMovedAtOnce) MoveNewest(object);
}

bool KnownHashes::MayHaveFile(int64_t item_hash) {
  return !Ready(files_, kListFiles) || files_.hashes.MayContain(item_hash);
}

void KnownHashes::AddFile(int64_t item_hash) {
  if (files_.loaded) files_.hashes.Add(item_hash);
}

// To open a catalog of a million files takes 0.15 s, of which the two filters
// take most.
bool KnownHashes::Ready(Filter& filter, const char* list_hashes) {
  if (filter.loaded || !database_.ok()) return filter.loaded;
  Query query(database_, list_hashes);
  while (query.Next()) filter.hashes.Add(query.Int(0));
  // A filter that misses some would be worse than none.
  if (!database_.ok()) filter.hashes = HashFilter();
  filter.loaded = database_.ok();
  return filter.loaded;
}

void KnownHashes::LoadNewest() {
  if (newest_loaded_ || !database_.ok()) return;
  Query query(database_, kListNewest);
  while (query.Next()) {
    newest_[UrnHash(query.Bytes(1))].push_back(query.Int(0));
    ++newest_count_;
  }
  if (database_.ok()) {
    newest_loaded_ = true;
  } else {
    RolledBack();
  }
}

void KnownHashes::MoveNewest(int64_t last) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  rows.reserve(newest_count_);
  for (const auto& [hash, objects] : newest_) {
    for (const int64_t object : objects) rows.emplace_back(hash, object);
  }
  // Those that share a page come after one another.
  std::sort(rows.begin(), rows.end());
  for (const auto& [hash, object] : rows) {
    Run(database_, kMove, hash, object);
    if (moved_.loaded) moved_.hashes.Add(hash);
  }
  Run(database_, kSetHashed, last);
  newest_.clear();
  newest_count_ = 0;
}

}  // namespace bimbackup::catalog
