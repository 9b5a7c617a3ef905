// SqliteCatalogImpl as a BackupStore.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"
#include "services/coordinator/catalog/stored_time.h"

namespace bimbackup::catalog {
namespace {

#define BACKUP_COLUMNS                                                     \
  "SELECT number, id, request_id, validate_only, full_recheck, state, "    \
  "message, create_time, end_time, snapshot_id, folders_listed, "          \
  "folders_skipped, transfers, transfer_bytes, transfers_stored, "         \
  "bytes_stored, transfers_failed, unlisted, guarded, manifests_written, " \
  "denied "                                                                \
  "FROM backups "

constexpr char kReadById[] = BACKUP_COLUMNS "WHERE id = ?";
constexpr char kReadByNumber[] = BACKUP_COLUMNS "WHERE number = ?";
constexpr char kReadRunning[] = BACKUP_COLUMNS "WHERE state < 3";
constexpr char kListNewest[] =
    BACKUP_COLUMNS "WHERE number < ? ORDER BY number DESC LIMIT ?";

#undef BACKUP_COLUMNS

constexpr char kFindByRequest[] =
    "SELECT number FROM backups WHERE request_id = ? AND request_id <> ''";

constexpr char kFindRunning[] = "SELECT id FROM backups WHERE state < 3";

constexpr char kAddBackup[] = R"sql(
INSERT INTO backups(id, request_id, validate_only, full_recheck, state,
  create_time, first_transfer)
VALUES(?, ?, ?, ?, ?, ?, (SELECT IFNULL(MAX(id), 0) + 1 FROM transfers)))sql";

constexpr char kAddFilter[] = R"sql(
INSERT INTO backup_filters(backup, kind, position, value) VALUES(?, ?, ?, ?)
)sql";

constexpr char kReadFilters[] = R"sql(
SELECT kind, value FROM backup_filters WHERE backup = ? ORDER BY kind, position
)sql";

constexpr char kReadApiCalls[] =
    "SELECT name, calls FROM backup_api_calls WHERE backup = ?";

constexpr char kAddApiCalls[] = R"sql(
INSERT INTO backup_api_calls(backup, name, calls) VALUES(?, ?, ?)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls)sql";

constexpr char kReadState[] = "SELECT state FROM backups WHERE number = ?";

constexpr char kSetState[] = R"sql(
UPDATE backups SET state = ?2, message = ?3, end_time = ?4 WHERE number = ?1
)sql";

constexpr char kReadTotals[] = R"sql(
SELECT COUNT(*), SUM(folders), SUM(files), SUM(bytes) FROM projects
WHERE vanished <> 2)sql";

constexpr char kCountFrontier[] =
    "SELECT COUNT(*) FROM frontier WHERE blocked = 0";

constexpr char kReadSetting[] = "SELECT value FROM settings WHERE name = ?";

constexpr char kSetSetting[] = R"sql(
INSERT INTO settings(name, value) VALUES(?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value)sql";

// Kinds of backup_filters.
enum FilterKind { kProject = 0, kInclude = 1, kExclude = 2 };

void AddFilters(Database& database, BackupNumber backup, FilterKind kind,
                const std::vector<std::string>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Run(database, kAddFilter, backup, kind, i, values[i]);
  }
}

BackupRecord TakeRow(Query& query) {
  BackupRecord record;
  record.number = query.Int(0);
  record.id = query.Text(1);
  record.request.request_id = query.Text(2);
  record.request.validate_only = query.Int(3) != 0;
  record.request.full_recheck = query.Int(4) != 0;
  record.state = static_cast<BackupState>(query.Int(5));
  record.message = query.Text(6);
  record.create_time = FromStoredTime(query.Int(7));
  if (!query.IsNull(8)) record.end_time = FromStoredTime(query.Int(8));
  record.snapshot_id = query.Text(9);
  BackupCounters& counters = record.counters;
  counters.folders_listed = query.Int(10);
  counters.folders_skipped = query.Int(11);
  counters.transfers = query.Int(12);
  counters.transfer_bytes = query.Int(13);
  counters.transfers_stored = query.Int(14);
  counters.bytes_stored = query.Int(15);
  counters.transfers_failed = query.Int(16);
  counters.unlisted = query.Int(17);
  counters.guarded = query.Int(18);
  counters.manifests_written = query.Int(19);
  counters.denied = query.Int(20);
  return record;
}

// Reads what is not in the backup's own row.
void ReadDetails(Database& database, BackupRecord& record) {
  Query filters(database, kReadFilters, record.number);
  while (filters.Next()) {
    std::vector<std::string>& values =
        filters.Int(0) == kProject   ? record.request.projects
        : filters.Int(0) == kInclude ? record.request.include
                                     : record.request.exclude;
    values.push_back(filters.Text(1));
  }
  Query calls(database, kReadApiCalls, record.number);
  while (calls.Next()) record.counters.api_calls[calls.Text(0)] = calls.Int(1);
}

template <typename... Values>
absl::StatusOr<std::vector<BackupRecord>> ReadBackups(ReaderPool& readers,
                                                      const char* sql,
                                                      const Values&... values) {
  ReaderPool::Reader reader(readers);
  std::vector<BackupRecord> records;
  Query query(*reader, sql, values...);
  while (query.Next()) records.push_back(TakeRow(query));
  for (BackupRecord& record : records) ReadDetails(*reader, record);
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return records;
}

// The second, its microseconds and some randomness: sorts by time even where
// two backups began in one second.
std::string MakeBackupId(absl::Time now, Random& random) {
  return absl::StrCat(
      absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone()), "-",
      absl::StrFormat("%05x%03x", absl::ToUnixMicros(now) % 1'000'000,
                      random.Next() & 0xfff));
}

}  // namespace

absl::StatusOr<BackupRecord> SqliteCatalogImpl::CreateBackup(
    const BackupRequest& request) {
  const absl::Time now = clock_.Now();
  const std::string id = MakeBackupId(now, random_);
  BackupNumber number = 0;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    number = ReadInt(database, 0, kFindByRequest, request.request_id);
    if (number != 0) return absl::OkStatus();
    Query running(database, kFindRunning);
    if (running.Next()) {
      return absl::AbortedError(
          absl::StrCat("backups/", running.Text(0),
                       " is running; wait for it or cancel it"));
    }
    Run(database, kAddBackup, id, request.request_id, request.validate_only,
        request.full_recheck, BackupState::kCrawling, absl::ToUnixMicros(now));
    number = database.LastInsertId();
    AddFilters(database, number, kProject, request.projects);
    AddFilters(database, number, kInclude, request.include);
    AddFilters(database, number, kExclude, request.exclude);
    return absl::OkStatus();
  }));
  return ReadBackup(number);
}

absl::StatusOr<BackupRecord> SqliteCatalogImpl::ReadBackup(
    BackupNumber number) {
  ABSL_ASSIGN_OR_RETURN(std::vector<BackupRecord> records,
                        ReadBackups(*readers_, kReadByNumber, number));
  if (records.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no backup ", number));
  }
  return std::move(records[0]);
}

absl::StatusOr<BackupRecord> SqliteCatalogImpl::GetBackup(
    absl::string_view id) {
  ABSL_ASSIGN_OR_RETURN(std::vector<BackupRecord> records,
                        ReadBackups(*readers_, kReadById, id));
  if (records.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no backups/", id));
  }
  return std::move(records[0]);
}

absl::StatusOr<std::optional<BackupRecord>>
SqliteCatalogImpl::GetRunningBackup() {
  ABSL_ASSIGN_OR_RETURN(std::vector<BackupRecord> records,
                        ReadBackups(*readers_, kReadRunning));
  if (records.empty()) return std::nullopt;
  return std::move(records[0]);
}

absl::StatusOr<std::vector<BackupRecord>> SqliteCatalogImpl::ListBackups(
    BackupNumber before, int limit) {
  const int64_t below = before == 0 ? INT64_MAX : before;
  return ReadBackups(*readers_, kListNewest, below, limit);
}

absl::Status SqliteCatalogImpl::SetBackupState(BackupNumber number,
                                               BackupState state,
                                               absl::string_view message) {
  std::optional<int64_t> end_time;
  if (HasEnded(state)) end_time = absl::ToUnixMicros(clock_.Now());
  return writer_.Commit([&](WriteBatch& batch) {
    const int64_t old = ReadInt(batch.database(), -1, kReadState, number);
    if (old < 0) {
      return absl::NotFoundError(absl::StrCat("there is no backup ", number));
    }
    if (HasEnded(static_cast<BackupState>(old))) {
      return absl::FailedPreconditionError(
          absl::StrCat("backup ", number, " has ended already"));
    }
    Run(batch.database(), kSetState, number, state, message, end_time);
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::AddApiCalls(
    BackupNumber number, const std::map<std::string, int64_t>& calls) {
  return writer_.Commit([&](WriteBatch& batch) {
    for (const auto& [name, count] : calls) {
      Run(batch.database(), kAddApiCalls, number, name, count);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<AccountTotals> SqliteCatalogImpl::GetTotals() {
  ReaderPool::Reader reader(*readers_);
  AccountTotals totals;
  {
    Query query(*reader, kReadTotals);
    if (query.Next()) {
      totals.projects = query.Int(0);
      totals.folders = query.Int(1);
      totals.files = query.Int(2);
      totals.bytes = query.Int(3);
    }
  }
  totals.frontier = ReadInt(*reader, 0, kCountFrontier);
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  return totals;
}

absl::StatusOr<std::string> SqliteCatalogImpl::GetSetting(
    absl::string_view name) {
  ReaderPool::Reader reader(*readers_);
  std::optional<std::string> value;
  {
    Query query(*reader, kReadSetting, name);
    if (query.Next()) value = query.Text(0);
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  if (!value.has_value()) {
    return absl::NotFoundError(absl::StrCat("the catalog has no ", name));
  }
  return *std::move(value);
}

absl::Status SqliteCatalogImpl::SetSetting(absl::string_view name,
                                           absl::string_view value) {
  return writer_.Commit([&](WriteBatch& batch) {
    Run(batch.database(), kSetSetting, name, value);
    return absl::OkStatus();
  });
}

}  // namespace bimbackup::catalog
