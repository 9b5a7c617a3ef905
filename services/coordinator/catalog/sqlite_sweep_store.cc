// SqliteCatalogImpl as a SweepStore.

#include "absl/strings/escaping.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"

namespace bimbackup::catalog {
namespace {

constexpr char kListObjects[] = "SELECT pk FROM objects WHERE sha256 = ?";

constexpr char kIsNeeded[] = R"sql(
SELECT 1 FROM files WHERE object = ?1
UNION ALL
SELECT 1 FROM files f LEFT JOIN objects tip ON tip.pk = f.object
WHERE f.former_object = ?1 AND tip.sha256 IS NULL
LIMIT 1)sql";

// Not asked for, so that also the backup that stored it may ask again.
constexpr char kForget[] =
    "UPDATE objects SET sha256 = NULL, asked = 0 WHERE pk = ?";

// The objects that have these bytes; whether a file needs one of them.
struct Use {
  std::vector<int64_t> objects;
  bool needed = false;
};

Use FindUse(Database& database, const std::string& sha256) {
  const std::string digest = absl::HexStringToBytes(sha256);
  Use use;
  {
    Query query(database, kListObjects, Blob{digest});
    while (query.Next()) use.objects.push_back(query.Int(0));
  }
  for (const int64_t object : use.objects) {
    use.needed |= ReadInt(database, 0, kIsNeeded, object) != 0;
  }
  return use;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SqliteCatalogImpl::ListNeeded(
    const std::vector<std::string>& sha256s) {
  ReaderPool::Reader reader(*readers_);
  std::vector<std::string> needed;
  for (const std::string& sha256 : sha256s) {
    if (FindUse(*reader, sha256).needed) needed.push_back(sha256);
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return needed;
}

absl::StatusOr<std::vector<std::string>> SqliteCatalogImpl::ForgetUnneeded(
    const std::vector<std::string>& sha256s) {
  std::vector<std::string> needed;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    // It may run twice.
    needed.clear();
    for (const std::string& sha256 : sha256s) {
      const Use use = FindUse(batch.database(), sha256);
      if (use.needed) {
        needed.push_back(sha256);
        continue;
      }
      for (const int64_t object : use.objects) {
        Run(batch.database(), kForget, object);
      }
    }
    return absl::OkStatus();
  }));
  return needed;
}

}  // namespace bimbackup::catalog
