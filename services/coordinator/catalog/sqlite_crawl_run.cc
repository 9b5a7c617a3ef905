// SqliteCatalogImpl as a CrawlStore: a crawl's beginning and end.

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/crawl_end.h"
#include "services/coordinator/catalog/object_writer.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"
#include "services/coordinator/catalog/tree_reader.h"

namespace bimbackup::catalog {
namespace {

constexpr int kPlanChunk = 500;

constexpr char kReadViewer[] =
    "SELECT value FROM settings WHERE name = 'viewer'";

constexpr char kSetViewer[] = R"sql(
INSERT INTO settings(name, value) VALUES('viewer', ?)
ON CONFLICT DO UPDATE SET value = excluded.value)sql";

constexpr char kForgetRollups[] =
    "UPDATE folders SET listed_rollup = '' WHERE listed_rollup <> ''";

constexpr char kReadCrawlTask[] =
    "SELECT crawl_task FROM backups WHERE number = ?";

constexpr char kSetCrawlTask[] =
    "UPDATE backups SET crawl_task = ?2 WHERE number = ?1";

constexpr char kUnblock[] =
    "UPDATE frontier SET blocked = 0 WHERE blocked IN (1, 2)";

constexpr char kListBegun[] =
    "SELECT task FROM frontier WHERE page_number > 0 ORDER BY task";

constexpr char kRemoveProjectsTask[] = "DELETE FROM frontier WHERE kind = 0";

// Once through the objects that are not stored, which are few on most nights,
// in order, so that a chunk goes on where the one before ended. Files are few
// to an object.
constexpr char kListUnstored[] = R"sql(
SELECT o.pk, f.pk, f.project, f.folder, f.name, p.id, p.name
FROM objects o INDEXED BY objects_unstored
CROSS JOIN files f ON f.object = o.pk
CROSS JOIN projects p ON p.pk = f.project
WHERE o.pk >= ?1 AND o.sha256 IS NULL AND (o.pk > ?1 OR f.pk > ?2)
  AND o.asked <> ?3 AND f.missing = 0 AND p.vanished = 0
ORDER BY o.pk, f.pk LIMIT ?4)sql";

constexpr char kReadObject[] = R"sql(
SELECT size, sha256 IS NOT NULL, asked FROM objects WHERE pk = ?)sql";

constexpr char kReadRechecked[] =
    "SELECT rechecked FROM backups WHERE number = ?";

constexpr char kSetRechecked[] =
    "UPDATE backups SET rechecked = ?2 WHERE number = ?1";

constexpr char kListOldest[] = R"sql(
SELECT f.pk, f.project, f.rollup FROM folders f
JOIN projects p ON p.pk = f.project
WHERE f.listed > 0 AND f.task = 0 AND f.parent <> 0 AND f.missing = 0
  AND p.vanished = 0
ORDER BY f.listed LIMIT ?)sql";

constexpr char kReadCrawlEnded[] =
    "SELECT crawl_ended FROM backups WHERE number = ?";

// A file whose object is not stored.
struct Unstored {
  int64_t object = 0;
  int64_t file = 0;
  int64_t project = 0;
};

struct UnstoredChunk {
  std::vector<Unstored> wanted;
  // Where the next chunk begins; nothing after the last.
  std::optional<Unstored> last;
};

absl::StatusOr<UnstoredChunk> ReadUnstored(ReaderPool& readers,
                                           BackupNumber backup,
                                           const Unstored& after,
                                           const FileFilter& wanted) {
  ReaderPool::Reader reader(readers);
  UnstoredChunk chunk;
  int rows = 0;
  Query query(*reader, kListUnstored, after.object, after.file, backup,
              kPlanChunk);
  while (query.Next()) {
    const Unstored unstored = {query.Int(0), query.Int(1), query.Int(2)};
    if (++rows == kPlanChunk) chunk.last = unstored;
    if (wanted) {
      std::vector<std::string> path = ReadFolderPath(*reader, query.Int(3));
      path.insert(path.begin(), query.Text(6));
      path.push_back(query.Text(4));
      if (!wanted(query.Bytes(5), path)) continue;
    }
    chunk.wanted.push_back(unstored);
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return chunk;
}

void PlanTransfer(WriteBatch& batch, BackupNumber backup,
                  const Unstored& unstored) {
  ObjectRow object;
  object.pk = unstored.object;
  {
    Query query(batch.database(), kReadObject, unstored.object);
    if (!query.Next()) return;
    object.size = query.OptionalInt(0);
    object.stored = query.Int(1) != 0;
    object.asked = query.Int(2);
  }
  EnsureTransfer(batch, backup, object, unstored.project, unstored.file);
}

// What an earlier backup left half-read is read from its first page.
void RestartListings(Database& database) {
  std::vector<int64_t> tasks;
  {
    Query query(database, kListBegun);
    while (query.Next()) tasks.push_back(query.Int(0));
  }
  for (const int64_t task : tasks) {
    const std::optional<FrontierRow> row = FindTask(database, task);
    if (row.has_value()) RenewTask(database, *row, Blocked::kOpen);
  }
}

}  // namespace

absl::Status SqliteCatalogImpl::SetViewer(absl::string_view viewer) {
  {
    ReaderPool::Reader reader(*readers_);
    bool same = false;
    {
      Query query(*reader, kReadViewer);
      same = query.Next() && query.Text(0) == viewer;
    }
    ABSL_RETURN_IF_ERROR(reader->TakeStatus());
    if (same) return absl::OkStatus();
  }
  // A catalog of an older version does not say who looked: its folders are
  // listed once more, which is cheaper than to miss what changed unseen.
  return writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    Run(database, kForgetRollups);
    // Pages of two viewers make no listing.
    RestartListings(database);
    Run(database, kSetViewer, viewer);
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::BeginCrawl(BackupNumber backup,
                                           const FileFilter& wanted) {
  {
    ReaderPool::Reader reader(*readers_);
    const int64_t task = ReadInt(*reader, -1, kReadCrawlTask, backup);
    ABSL_RETURN_IF_ERROR(reader->TakeStatus());
    if (task > 0) return absl::OkStatus();
    if (task < 0) {
      return absl::NotFoundError(absl::StrCat("there is no backup ", backup));
    }
  }
  ABSL_RETURN_IF_ERROR(PurgeAccepted(std::numeric_limits<int>::max()));
  ABSL_RETURN_IF_ERROR(PlanDamaged(backup, wanted));
  ABSL_RETURN_IF_ERROR(PlanUnstored(backup, wanted));
  return writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    Run(database, kRemoveProjectsTask);
    Run(database, kUnblock);
    RestartListings(database);
    const int64_t task =
        PushTask(database, FrontierTask::Kind::kProjects, /*project=*/0,
                 /*folder=*/0, /*rollup=*/"", Blocked::kOpen);
    Run(database, kSetCrawlTask, backup, task);
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::PlanUnstored(BackupNumber backup,
                                             const FileFilter& wanted) {
  std::optional<Unstored> after = Unstored{};
  while (after.has_value()) {
    ABSL_ASSIGN_OR_RETURN(const UnstoredChunk chunk,
                          ReadUnstored(*readers_, backup, *after, wanted));
    after = chunk.last;
    if (chunk.wanted.empty()) continue;
    ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
      for (const Unstored& unstored : chunk.wanted) {
        PlanTransfer(batch, backup, unstored);
      }
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteCatalogImpl::PushOldestFolders(
    BackupNumber backup, int64_t count) {
  int64_t pushed = 0;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    pushed = ReadInt(database, -1, kReadRechecked, backup);
    if (pushed >= 0) return absl::OkStatus();
    struct Oldest {
      int64_t folder;
      int64_t project;
      std::string rollup;
    };
    std::vector<Oldest> oldest;
    {
      Query query(database, kListOldest, count);
      while (query.Next()) {
        oldest.push_back({query.Int(0), query.Int(1), query.Text(2)});
      }
    }
    // The oldest comes last and is thus listed first.
    for (auto folder = oldest.rbegin(); folder != oldest.rend(); ++folder) {
      PushTask(database, FrontierTask::Kind::kFolder, folder->project,
               folder->folder, folder->rollup, Blocked::kOpen);
    }
    pushed = static_cast<int64_t>(oldest.size());
    Run(database, kSetRechecked, backup, pushed);
    return absl::OkStatus();
  }));
  return pushed;
}

absl::Status SqliteCatalogImpl::EndCrawl(BackupNumber backup,
                                         absl::string_view left_open_reason) {
  return writer_.Commit([&](WriteBatch& batch) {
    const int64_t ended =
        ReadInt(batch.database(), -1, kReadCrawlEnded, backup);
    if (ended < 0) {
      return absl::NotFoundError(absl::StrCat("there is no backup ", backup));
    }
    if (ended > 0) return absl::OkStatus();
    batch.Flush();
    SettleMissing(batch, backup);
    CloseFrontier(batch, left_open_reason);
    CountAtEnd(batch, backup);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<std::string>> SqliteCatalogImpl::GetFolderPath(
    absl::string_view project_id, absl::string_view folder_id) {
  ReaderPool::Reader reader(*readers_);
  const int64_t project = FindProject(*reader, project_id);
  const int64_t folder = FindFolderPk(*reader, project, folder_id);
  std::vector<std::string> path = ReadFolderPath(*reader, folder);
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  if (folder == 0) {
    return absl::NotFoundError(absl::StrCat("the catalog has no folder ",
                                            folder_id, " in ", project_id));
  }
  return path;
}

}  // namespace bimbackup::catalog
