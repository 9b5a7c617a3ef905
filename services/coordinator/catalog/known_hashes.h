// What is in the catalog, by hashes, for the connection that writes it.

#ifndef SERVICES_COORDINATOR_CATALOG_KNOWN_HASHES_H_
#define SERVICES_COORDINATOR_CATALOG_KNOWN_HASHES_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "services/coordinator/catalog/hash_filter.h"
#include "services/coordinator/catalog/sqlite_database.h"

namespace bimbackup::catalog {

// Numbers of objects, of which more than one have the same hash hardly ever.
using ObjectPks = absl::InlinedVector<int64_t, 2>;

// Finds objects by their URNs' hashes, and tells what was never there without
// a search: in a first crawl that is everything. The hashes of the newest
// objects are only here, and are moved to the file many at a time. Takes some
// 8 MB for a million files, 25 MB for two. Belongs to one connection, through
// which alone objects and files are added as long as this lives; what is not in
// memory is read when it is first asked for. Errors stick to the connection.
// Not thread-safe.
class KnownHashes {
 public:
  // So many new objects are moved at once: some for each page of a million,
  // and no more than a commit may take time for.
  static constexpr size_t kMovedAtOnce = 32'768;

  // `database` outlives this.
  explicit KnownHashes(Database& database) : database_(database) {}

  // Reads everything now, so that no transaction has to wait for it.
  void Load();

  // The transaction's changes are undone. Before the next one begins.
  void RolledBack();

  // All objects whose URNs have this hash.
  ObjectPks FindObjects(int64_t urn_hash);
  // A new row of `objects`. May move the newest ones.
  void AddObject(int64_t urn_hash, int64_t object);

  // False where no file has this IdHash().
  bool MayHaveFile(int64_t item_hash);
  // A new row of `files`.
  void AddFile(int64_t item_hash);

 private:
  // The hashes of a table, and maybe others.
  struct Filter {
    HashFilter hashes;
    bool loaded = false;
  };

  // Whether the filter tells of the table.
  bool Ready(Filter& filter, const char* list_hashes);
  void LoadNewest();
  void MoveNewest(int64_t last);

  Database& database_;

  // Of objects that are not in object_hashes. Read again after a rollback,
  // which is seldom, when their numbers are given to others.
  absl::flat_hash_map<int64_t, ObjectPks> newest_;
  size_t newest_count_ = 0;
  bool newest_loaded_ = false;

  // Of object_hashes and of `files`. A rollback leaves them as they are: what
  // is too much does no harm, and Load() comes before anything is removed.
  Filter moved_;
  Filter files_;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_KNOWN_HASHES_H_
