// The file and its place; what it is filled with is in
// catalog_rebuild_rows.cc.

#include "services/coordinator/catalog/catalog_rebuild.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/schema.h"

namespace bimbackup::catalog {
namespace {

constexpr char kName[] = "catalog.db.rebuild";
constexpr const char* kSuffixes[] = {"", "-wal", "-shm", "-journal"};

// Rows between two commits.
constexpr int kStepsAtOnce = 20'000;

// Nothing of it is worth anything before it is whole, so nothing is
// journalled, and the disk is waited for once.
constexpr char kPragmas[] = R"sql(
PRAGMA journal_mode = DELETE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
CREATE TEMP TABLE seen_manifests(digest BLOB PRIMARY KEY) WITHOUT ROWID;
)sql";

constexpr char kSetSetting[] = R"sql(
INSERT INTO settings(name, value) VALUES(?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value)sql";

constexpr char kReadStorageId[] =
    "SELECT value FROM settings WHERE name = 'storage_id'";

// What ran when the copy was made had no time to say how it ended, but for
// those whose snapshot AddBackup() is told of before.
constexpr char kEndRunning[] = R"sql(
UPDATE backups SET state = 5, end_time = create_time,
  message = 'the catalog was lost while it ran'
WHERE state < 3)sql";

constexpr char kEndOpenTransfers[] = R"sql(
UPDATE transfers SET state = 3, worker = '', reason = 'the catalog was lost'
WHERE state IN (0, 1))sql";

// Results of transfers that only the lost catalog knew must not be taken for
// those of others: ids go on far above any that it can have given.
constexpr char kLeapTransfers[] = R"sql(
INSERT OR IGNORE INTO transfers(id, backup, object, file, state)
VALUES(?, 0, 0, 0, 2))sql";

absl::Status FileError(absl::string_view what, const std::string& path) {
  const int error = errno;
  const std::string text =
      absl::StrCat("cannot ", what, " ", path, ": ", strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(text);
  }
  return absl::UnavailableError(text);
}

bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

absl::Status SyncPath(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("open", path);
  const int failed = fsync(fd);
  const absl::Status status =
      failed == 0 ? absl::OkStatus() : FileError("sync", path);
  close(fd);
  return status;
}

}  // namespace

CatalogRebuild::CatalogRebuild(std::unique_ptr<StateLock> lock,
                               std::string state_dir, Clock& clock)
    : lock_(std::move(lock)),
      state_dir_(std::move(state_dir)),
      path_(absl::StrCat(state_dir_, "/", kName)),
      clock_(clock) {}

CatalogRebuild::~CatalogRebuild() {
  if (copy_fd_ >= 0) close(copy_fd_);
}

absl::StatusOr<std::unique_ptr<CatalogRebuild>> CatalogRebuild::Begin(
    const std::string& state_dir, Clock& clock) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<StateLock> lock,
                        StateLock::Acquire(state_dir));
  if (Exists(absl::StrCat(state_dir, "/catalog.db"))) {
    return absl::AlreadyExistsError(
        absl::StrCat("the state folder ", state_dir, " holds a catalog"));
  }
  std::unique_ptr<CatalogRebuild> rebuild(
      new CatalogRebuild(std::move(lock), state_dir, clock));
  rebuild->RemoveFiles();
  return rebuild;
}

void CatalogRebuild::RemoveFiles() {
  for (const char* suffix : kSuffixes) {
    unlink(absl::StrCat(path_, suffix).c_str());
  }
}

absl::Status CatalogRebuild::StartEmpty(absl::string_view storage_id) {
  database_.reset();
  RemoveFiles();
  ABSL_RETURN_IF_ERROR(OpenDatabase());
  ABSL_RETURN_IF_ERROR(MigrateSchema(*database_, path_, clock_.Now()));
  Run(*database_, "BEGIN");
  Run(*database_, kSetSetting, "storage_id", storage_id);
  return database_->TakeStatus();
}

absl::Status CatalogRebuild::OpenDatabase() {
  ABSL_ASSIGN_OR_RETURN(database_,
                        Database::Open(path_, Database::Mode::kReadWrite));
  hashes_.emplace(*database_);
  database_->Execute(kPragmas);
  return database_->TakeStatus();
}

absl::Status CatalogRebuild::ClearCopy() {
  database_.reset();
  if (copy_fd_ >= 0) close(std::exchange(copy_fd_, -1));
  RemoveFiles();
  copy_fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  return copy_fd_ < 0 ? FileError("make", path_) : absl::OkStatus();
}

absl::Status CatalogRebuild::AppendCopy(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write(copy_fd_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FileError("write", path_);
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::Status CatalogRebuild::StartFromCopy(absl::string_view storage_id) {
  if (copy_fd_ >= 0) close(std::exchange(copy_fd_, -1));
  absl::Status status = OpenDatabase();
  if (status.ok()) status = CheckCopy(storage_id);
  if (status.ok()) status = MigrateSchema(*database_, path_, clock_.Now());
  if (!status.ok()) {
    database_.reset();
    return status;
  }
  Run(*database_, "BEGIN");
  Run(*database_, kEndOpenTransfers);
  return database_->TakeStatus();
}

absl::Status CatalogRebuild::CheckCopy(absl::string_view storage_id) {
  std::string verdict;
  {
    Query check(*database_, "PRAGMA quick_check(1)");
    if (check.Next()) verdict = check.Text(0);
  }
  const absl::Status read = database_->TakeStatus();
  if (verdict != "ok") {
    return absl::DataLossError(
        absl::StrCat("it is damaged: ", read.ok() ? verdict : read.ToString()));
  }
  std::string id;
  {
    Query query(*database_, kReadStorageId);
    if (query.Next()) id = query.Text(0);
  }
  ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  if (id != storage_id) {
    return absl::FailedPreconditionError(
        absl::StrCat("it belongs to storage ", id));
  }
  return absl::OkStatus();
}

absl::Status CatalogRebuild::Step() {
  if (++steps_ >= kStepsAtOnce) {
    steps_ = 0;
    Run(*database_, "COMMIT");
    Run(*database_, "BEGIN");
  }
  return database_->TakeStatus();
}

absl::Status CatalogRebuild::CloseDatabase() {
  Run(*database_, kEndRunning);
  Run(*database_, kLeapTransfers, absl::ToUnixMicros(clock_.Now()));
  Run(*database_, "COMMIT");
  database_->Execute("DROP TABLE seen_manifests");
  ABSL_RETURN_IF_ERROR(database_->TakeStatus());
  database_.reset();
  return absl::OkStatus();
}

absl::Status CatalogRebuild::Finish() {
  ABSL_RETURN_IF_ERROR(CloseDatabase());
  ABSL_RETURN_IF_ERROR(SyncPath(path_));
  const std::string target = absl::StrCat(state_dir_, "/catalog.db");
  // What the lost one left beside it would be taken for this one's.
  for (const char* suffix : kSuffixes) {
    unlink(absl::StrCat(target, suffix).c_str());
  }
  MaybeCrash("rebuild.before_rename");
  if (rename(path_.c_str(), target.c_str()) != 0) {
    return FileError("rename", path_);
  }
  return SyncPath(state_dir_);
}

}  // namespace bimbackup::catalog
