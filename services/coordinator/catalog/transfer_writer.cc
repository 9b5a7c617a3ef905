#include "services/coordinator/catalog/transfer_writer.h"

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/coordinator/catalog/stored_time.h"
#include "services/coordinator/catalog/tree_reader.h"

namespace bimbackup::catalog {
namespace {

constexpr char kReadTransfer[] = R"sql(
SELECT t.backup, t.object, t.file, t.state, t.attempts, o.size, o.failure,
  o.transfer, o.expected
FROM transfers t JOIN objects o ON o.pk = t.object WHERE t.id = ?)sql";

constexpr char kSetState[] = R"sql(
UPDATE transfers SET state = ?2, reason = ?3, worker = '' WHERE id = ?1)sql";

constexpr char kCountAttempt[] =
    "UPDATE transfers SET attempts = attempts + 1 WHERE id = ?";

constexpr char kAddAttempt[] = R"sql(
INSERT INTO attempts(transfer, number, end_time, worker, outcome, http_status,
  bytes_received, message, late)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr char kDropAttempts[] =
    "DELETE FROM attempts WHERE transfer = ? AND number <= ?";

constexpr char kStoreObject[] = R"sql(
UPDATE objects SET sha256 = ?2, size = ?3, failure = NULL, expected = NULL
WHERE pk = ?1)sql";

constexpr char kMendBlob[] =
    "UPDATE damaged_blobs SET state = 1 WHERE sha256 = ?";

constexpr char kGiveUpBlob[] =
    "UPDATE damaged_blobs SET state = 2 WHERE sha256 = ? AND state = 0";

constexpr char kFailObject[] = "UPDATE objects SET failure = ?2 WHERE pk = ?1";

constexpr char kListProjects[] = "SELECT project FROM files WHERE object = ?";

constexpr char kReadFile[] =
    "SELECT folder, name, item_id FROM files WHERE pk = ?";

constexpr char kSetPath[] =
    "UPDATE transfers SET path = ?2, item_id = ?3 WHERE id = ?1";

constexpr char kListOpen[] = R"sql(
SELECT id FROM transfers WHERE backup = ?1 AND state = 0
UNION ALL SELECT id FROM transfers WHERE backup = ?1 AND state = 1
LIMIT ?2)sql";

constexpr char kReadBackupState[] =
    "SELECT state FROM backups WHERE number = ?";

// Ids of a backup's transfers are above those of earlier ones. The newest
// stays, so that no id is given twice.
constexpr char kListOld[] = R"sql(
SELECT id FROM transfers
WHERE id < (SELECT first_transfer FROM backups ORDER BY number DESC
            LIMIT 1 OFFSET ?1)
  AND id <> (SELECT MAX(id) FROM transfers)
ORDER BY id LIMIT ?2)sql";

constexpr char kRemove[] = "DELETE FROM transfers WHERE id = ?";

constexpr char kRemoveAttempts[] = "DELETE FROM attempts WHERE transfer = ?";

// A transfer with its object.
struct TransferRow {
  int64_t id = 0;
  BackupNumber backup = 0;
  int64_t object = 0;
  int64_t file = 0;
  TransferState state = TransferState::kPending;
  int64_t attempts = 0;
  int64_t size = 0;
  std::optional<std::string> failure;
  // The object's newest transfer.
  int64_t newest = 0;
  // The digest of the damaged blob that is to be mended; empty for none.
  std::string expected;
};

std::optional<TransferRow> ReadRow(Database& database, int64_t id) {
  Query query(database, kReadTransfer, id);
  if (!query.Next()) return std::nullopt;
  TransferRow row;
  row.id = id;
  row.backup = query.Int(0);
  row.object = query.Int(1);
  row.file = query.Int(2);
  row.state = static_cast<TransferState>(query.Int(3));
  row.attempts = query.Int(4);
  row.size = query.Int(5);
  if (!query.IsNull(6)) row.failure = query.Text(6);
  row.newest = query.Int(7);
  row.expected = std::string(query.Bytes(8));
  return row;
}

void AddAttempt(Database& database, const TransferRow& row,
                const AttemptRecord& attempt) {
  const int64_t number = row.attempts + 1;
  Run(database, kCountAttempt, row.id);
  Run(database, kAddAttempt, row.id, number,
      absl::ToUnixMicros(attempt.end_time), attempt.worker_id, attempt.outcome,
      attempt.http_status, attempt.bytes_received, attempt.message,
      attempt.late);
  if (number > kAttemptsKept) {
    Run(database, kDropAttempts, row.id, number - kAttemptsKept);
  }
}

// Marks every project changed that has a file with this object.
void MarkProjects(WriteBatch& batch, int64_t object, int64_t bytes_more) {
  Query query(batch.database(), kListProjects, object);
  while (query.Next()) {
    batch.MarkChanged(query.Int(0));
    batch.AddTotals(query.Int(0), /*folders=*/0, /*files=*/0, bytes_more);
  }
}

// A backup that commits or has ended has said what became of the transfer,
// and its snapshot was made of that: there it stays as it is.
bool HasSaid(Database& database, BackupNumber backup) {
  return ReadInt(database, 0, kReadBackupState, backup) >=
         static_cast<int64_t>(BackupState::kCommitting);
}

void CountStored(WriteBatch& batch, const TransferRow& row, int64_t size) {
  if (HasSaid(batch.database(), row.backup)) return;
  BackupCounters& counters = batch.Counters(row.backup);
  if (row.state == TransferState::kFailed) --counters.transfers_failed;
  ++counters.transfers_stored;
  counters.bytes_stored += size;
  Run(batch.database(), kSetState, row.id, TransferState::kStored, "");
}

// Notes where the file is, should it be removed while people still ask why.
void SavePath(Database& database, const TransferRow& row) {
  int64_t folder = 0;
  std::string name;
  std::string item_id;
  {
    Query query(database, kReadFile, row.file);
    if (!query.Next()) return;
    folder = query.Int(0);
    name = query.Text(1);
    item_id = query.Text(2);
  }
  std::vector<std::string> path = ReadFolderPath(database, folder);
  path.push_back(name);
  const std::string joined = JoinPath(path);
  Run(database, kSetPath, row.id, Blob{joined}, item_id);
}

// Other bytes came than the damaged blob had: that one is not mended.
void CountOther(WriteBatch& batch, const TransferRow& row,
                const TransferUpdate& update) {
  Database& database = batch.database();
  if (row.state == TransferState::kFailed || HasSaid(database, row.backup)) {
    return;
  }
  ++batch.Counters(row.backup).transfers_failed;
  Run(database, kSetState, row.id, TransferState::kFailed,
      absl::StrCat(
          "the damaged blob ", absl::BytesToHexString(row.expected),
          " cannot be mended: what can be fetched now has the SHA-256 ",
          update.sha256));
  SavePath(database, row);
}

void Count(WriteBatch& batch, const TransferRow& row,
           const TransferUpdate& update, bool other) {
  if (other) {
    CountOther(batch, row, update);
  } else {
    CountStored(batch, row, update.size);
  }
}

void Store(WriteBatch& batch, const TransferRow& row,
           const TransferUpdate& update) {
  Database& database = batch.database();
  const std::string digest = absl::HexStringToBytes(update.sha256);
  Run(database, kStoreObject, row.object, Blob{digest}, update.size);
  Run(database, kMendBlob, Blob{digest});
  const bool other = !row.expected.empty() && row.expected != digest;
  if (other) Run(database, kGiveUpBlob, Blob{row.expected});
  Count(batch, row, update, other);
  MarkProjects(batch, row.object, update.size - row.size);
  if (row.newest == row.id) return;
  // A late result: what a newer backup asked for has come, too.
  std::optional<TransferRow> newest = ReadRow(database, row.newest);
  if (newest.has_value() && newest->state != TransferState::kStored) {
    newest->expected = row.expected;
    Count(batch, *newest, update, other);
  }
}

void Fail(WriteBatch& batch, const TransferRow& row, absl::string_view reason) {
  Database& database = batch.database();
  if (row.state == TransferState::kFailed) return;
  ++batch.Counters(row.backup).transfers_failed;
  Run(database, kSetState, row.id, TransferState::kFailed, reason);
  SavePath(database, row);
  if (row.newest != row.id || row.failure == reason) return;
  Run(database, kFailObject, row.object, reason);
  MarkProjects(batch, row.object, /*bytes_more=*/0);
}

std::vector<int64_t> ReadIds(Database& database, const char* sql, int64_t first,
                             int limit) {
  std::vector<int64_t> ids;
  Query query(database, sql, first, limit);
  while (query.Next()) ids.push_back(query.Int(0));
  return ids;
}

}  // namespace

void ApplyUpdate(WriteBatch& batch, const TransferUpdate& update) {
  Database& database = batch.database();
  const std::optional<TransferRow> row = ReadRow(database, update.transfer_id);
  if (!row.has_value() || row->state == TransferState::kStored) return;
  if (update.attempt.has_value()) AddAttempt(database, *row, *update.attempt);
  if (update.attempt_only) return;
  switch (update.state) {
    case TransferState::kStored:
      Store(batch, *row, update);
      return;
    case TransferState::kFailed:
      Fail(batch, *row, update.reason);
      return;
    case TransferState::kPending:
    case TransferState::kLeased:
      if (row->state == TransferState::kFailed) return;
      Run(database, kSetState, row->id, TransferState::kPending, "");
      return;
  }
}

bool FailOpenTransfers(WriteBatch& batch, BackupNumber backup,
                       absl::string_view reason, int limit) {
  const std::vector<int64_t> open =
      ReadIds(batch.database(), kListOpen, backup, limit);
  for (const int64_t id : open) {
    const std::optional<TransferRow> row = ReadRow(batch.database(), id);
    if (row.has_value()) Fail(batch, *row, reason);
  }
  return static_cast<int>(open.size()) == limit;
}

bool PruneOldTransfers(WriteBatch& batch, int backups_kept, int limit) {
  const std::vector<int64_t> old =
      ReadIds(batch.database(), kListOld, backups_kept - 1, limit);
  for (const int64_t id : old) {
    Run(batch.database(), kRemoveAttempts, id);
    Run(batch.database(), kRemove, id);
  }
  return static_cast<int>(old.size()) == limit;
}

std::string JoinPath(const std::vector<std::string>& path) {
  return absl::StrJoin(path, absl::string_view("\0", 1));
}

std::vector<std::string> SplitPath(absl::string_view joined) {
  return absl::StrSplit(joined, absl::ByChar('\0'));
}

}  // namespace bimbackup::catalog
