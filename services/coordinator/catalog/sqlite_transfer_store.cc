// SqliteCatalogImpl as a TransferStore: what is read, and leases.

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"
#include "services/coordinator/catalog/stored_time.h"
#include "services/coordinator/catalog/transfer_writer.h"
#include "services/coordinator/catalog/tree_reader.h"

namespace bimbackup::catalog {
namespace {

#define TRANSFER_COLUMNS                                                     \
  "SELECT t.id, o.urn, o.size, t.state, p.id, p.name, f.item_id, f.folder, " \
  "f.name, t.reason, t.attempts, t.item_id, t.path "                         \
  "FROM transfers t JOIN objects o ON o.pk = t.object "                      \
  "LEFT JOIN projects p ON p.pk = t.project "                                \
  "LEFT JOIN files f ON f.pk = t.file "

constexpr char kListPending[] = TRANSFER_COLUMNS
    "WHERE t.backup = ? AND t.state = 0 AND t.id > ? ORDER BY t.id LIMIT ?";
constexpr char kListFailed[] = TRANSFER_COLUMNS
    "WHERE t.backup = ? AND t.state = 3 AND t.id > ? ORDER BY t.id LIMIT ?";
constexpr char kListAll[] = TRANSFER_COLUMNS
    "WHERE t.backup = ?1 AND t.id > MAX(?2, (SELECT first_transfer - 1 "
    "FROM backups WHERE number = ?1)) AND t.id < IFNULL((SELECT "
    "first_transfer FROM backups WHERE number > ?1 ORDER BY number LIMIT 1), "
    "9223372036854775807) ORDER BY t.id LIMIT ?3";
constexpr char kReadTransfer[] = TRANSFER_COLUMNS "WHERE t.id = ?";

#undef TRANSFER_COLUMNS

constexpr char kLease[] = R"sql(
UPDATE transfers SET state = 1, epoch = ?2, worker = ?3
WHERE id = ?1 AND state IN (0, 1))sql";

constexpr char kListLeases[] = R"sql(
SELECT id, epoch, worker FROM transfers WHERE backup = ? AND state = 1
ORDER BY id)sql";

constexpr char kCountOpen[] = R"sql(
SELECT transfers - transfers_stored - transfers_failed FROM backups
WHERE number = ?)sql";

constexpr char kListAttempts[] = R"sql(
SELECT end_time, worker, outcome, http_status, bytes_received, message, late
FROM attempts WHERE transfer = ? ORDER BY number)sql";

constexpr char kReadEpoch[] =
    "SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'epoch_base'";

constexpr char kSetEpoch[] = R"sql(
INSERT INTO settings(name, value) VALUES('epoch_base', ?)
ON CONFLICT DO UPDATE SET value = excluded.value)sql";

// Bounds a transaction that changes many.
constexpr int kTransfersAtOnce = 2000;

// Far more leases than one process grants.
constexpr int64_t kEpochsPerProcess = int64_t{1} << 32;

// Paths of files that follow each other are mostly of one folder.
class PathReader {
 public:
  explicit PathReader(Database& database) : database_(database) {}

  std::vector<std::string> Read(int64_t folder, std::string name) {
    if (folder != folder_) {
      folder_ = folder;
      folder_path_ = ReadFolderPath(database_, folder);
    }
    std::vector<std::string> path = folder_path_;
    path.push_back(std::move(name));
    return path;
  }

 private:
  Database& database_;
  int64_t folder_ = 0;
  std::vector<std::string> folder_path_;
};

TransferRecord TakeTransfer(Query& query, PathReader& paths) {
  TransferRecord record;
  record.transfer_id = query.Int(0);
  record.storage_urn = query.Text(1);
  record.size = query.OptionalInt(2);
  record.state = static_cast<TransferState>(query.Int(3));
  record.project_id = query.Text(4);
  record.project_name = query.Text(5);
  record.reason = query.Text(9);
  record.attempts = query.Int(10);
  if (!query.IsNull(12)) {
    record.item_id = query.Text(11);
    record.path = SplitPath(query.Bytes(12));
  } else if (!query.IsNull(7)) {
    record.item_id = query.Text(6);
    record.path = paths.Read(query.Int(7), query.Text(8));
  }
  return record;
}

template <typename... Values>
absl::StatusOr<std::vector<TransferRecord>> ReadTransfers(
    ReaderPool& readers, const char* sql, const Values&... values) {
  ReaderPool::Reader reader(readers);
  PathReader paths(*reader);
  std::vector<TransferRecord> records;
  Query query(*reader, sql, values...);
  while (query.Next()) records.push_back(TakeTransfer(query, paths));
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return records;
}

}  // namespace

absl::StatusOr<std::vector<TransferRecord>> SqliteCatalogImpl::ListPending(
    BackupNumber backup, int64_t after, int limit) {
  return ReadTransfers(*readers_, kListPending, backup, after, limit);
}

absl::StatusOr<std::vector<TransferRecord>> SqliteCatalogImpl::ListTransfers(
    BackupNumber backup, bool failed_only, int64_t after, int limit) {
  return ReadTransfers(*readers_, failed_only ? kListFailed : kListAll, backup,
                       after, limit);
}

absl::StatusOr<TransferRecord> SqliteCatalogImpl::GetTransfer(
    int64_t transfer_id) {
  ABSL_ASSIGN_OR_RETURN(std::vector<TransferRecord> records,
                        ReadTransfers(*readers_, kReadTransfer, transfer_id));
  if (records.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no transfer ", transfer_id));
  }
  return std::move(records[0]);
}

// Workers wait for both, the crawl for its pages.
absl::Status SqliteCatalogImpl::RecordLeases(
    const std::vector<LeaseRecord>& leases) {
  return writer_.Commit(
      [&](WriteBatch& batch) {
        for (const LeaseRecord& lease : leases) {
          Run(batch.database(), kLease, lease.transfer_id, lease.epoch,
              lease.worker_id);
        }
        return absl::OkStatus();
      },
      GroupCommit::Urgency::kUrgent);
}

absl::StatusOr<std::vector<LeaseRecord>> SqliteCatalogImpl::ListLeases(
    BackupNumber backup) {
  ReaderPool::Reader reader(*readers_);
  std::vector<LeaseRecord> leases;
  Query query(*reader, kListLeases, backup);
  while (query.Next()) {
    leases.push_back({query.Int(0), query.Int(1), query.Text(2)});
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return leases;
}

absl::Status SqliteCatalogImpl::ApplyUpdates(
    BackupNumber /*backup*/, const std::vector<TransferUpdate>& updates) {
  return writer_.Commit(
      [&](WriteBatch& batch) {
        for (const TransferUpdate& update : updates) ApplyUpdate(batch, update);
        MaybeCrash("catalog.results_commit");
        return absl::OkStatus();
      },
      GroupCommit::Urgency::kUrgent);
}

absl::StatusOr<int64_t> SqliteCatalogImpl::CountOpen(BackupNumber backup) {
  ReaderPool::Reader reader(*readers_);
  const int64_t open = ReadInt(*reader, -1, kCountOpen, backup);
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  if (open < 0) {
    return absl::NotFoundError(absl::StrCat("there is no backup ", backup));
  }
  return open;
}

absl::Status SqliteCatalogImpl::FailOpen(BackupNumber backup,
                                         absl::string_view reason) {
  bool more = true;
  while (more) {
    ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
      more = FailOpenTransfers(batch, backup, reason, kTransfersAtOnce);
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SqliteCatalogImpl::PruneTransfers(int backups_kept) {
  bool more = false;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    more = PruneOldTransfers(batch, backups_kept, kTransfersAtOnce);
    return absl::OkStatus();
  }));
  return more;
}

absl::StatusOr<std::vector<AttemptRecord>> SqliteCatalogImpl::ListAttempts(
    int64_t transfer_id) {
  ReaderPool::Reader reader(*readers_);
  std::vector<AttemptRecord> attempts;
  Query query(*reader, kListAttempts, transfer_id);
  while (query.Next()) {
    AttemptRecord& attempt = attempts.emplace_back();
    attempt.end_time = FromStoredTime(query.Int(0));
    attempt.worker_id = query.Text(1);
    attempt.outcome = query.Int(2);
    attempt.http_status = query.Int(3);
    attempt.bytes_received = query.Int(4);
    attempt.message = query.Text(5);
    attempt.late = query.Int(6) != 0;
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return attempts;
}

absl::StatusOr<int64_t> SqliteCatalogImpl::NextEpochBase() {
  int64_t base = 0;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    base = ReadInt(batch.database(), 0, kReadEpoch) + kEpochsPerProcess;
    Run(batch.database(), kSetEpoch, base);
    return absl::OkStatus();
  }));
  return base;
}

}  // namespace bimbackup::catalog
