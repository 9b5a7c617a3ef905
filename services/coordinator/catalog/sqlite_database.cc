#include "services/coordinator/catalog/sqlite_database.h"

#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/catalog_error.h"

namespace bimbackup::catalog {
namespace {

constexpr int kBusyTimeoutMs = 10'000;
// 4 MB, between two looks whether to go on.
constexpr int kCopyPages = 1000;

absl::Status Classed(int code, absl::string_view what,
                     absl::string_view message) {
  const std::string text =
      absl::StrCat("catalog: ", what, ": ", message, " (SQLite ", code, ")");
  switch (code & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(
          "no room in the state folder for the catalog: ", message));
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(text);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return absl::PermissionDeniedError(text);
    case SQLITE_CANTOPEN:
    case SQLITE_NOTADB:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

absl::Status ToStatus(int code, absl::string_view what,
                      absl::string_view message) {
  return MarkCatalogError(Classed(code, what, message));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Mode mode) {
  // Nobody asks what memory SQLite uses, and counting it takes a lock for
  // every allocation. Refused where a connection was made before.
  [[maybe_unused]] static const int uncounted =
      sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  const int flags =
      mode == Mode::kReadOnly
          ? SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
          : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &connection, flags, /*zVfs=*/nullptr);
  std::unique_ptr<Database> database(new Database(connection));
  if (code != SQLITE_OK) {
    return ToStatus(code, absl::StrCat("cannot open ", path),
                    sqlite3_errstr(code));
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  return database;
}

Database::~Database() {
  for (auto& [sql, statements] : idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close_v2(connection_);
}

void Database::Execute(const char* statements) {
  if (!ok()) return;
  if (sqlite3_exec(connection_, statements, nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    SetError(statements);
  }
}

void Database::OnCommit(std::function<void(int64_t pages)> committed) {
  committed_ = std::move(committed);
  // Which takes the place of SQLite's own hook.
  sqlite3_wal_hook(
      connection_,
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Database*>(self)->committed_(pages);
        return SQLITE_OK;
      },
      this);
}

absl::Status Database::CopyTo(const std::string& path,
                              const std::function<absl::Status()>& go_on) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy,
                        Open(path, Mode::kReadWrite));
  sqlite3* const target = copy->connection_;
  sqlite3_exec(target, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
  // An open read transaction keeps what is read the same through all steps;
  // else every change that others commit would start the copying over.
  Execute("BEGIN; SELECT * FROM sqlite_schema LIMIT 1");
  ABSL_RETURN_IF_ERROR(TakeStatus());
  absl::Status status = CopyInSteps(target, path, go_on);
  Execute("COMMIT");
  if (status.ok()) status = TakeStatus();
  return status;
}

absl::Status Database::CopyInSteps(sqlite3* target, const std::string& path,
                                   const std::function<absl::Status()>& go_on) {
  sqlite3_backup* const backup =
      sqlite3_backup_init(target, "main", connection_, "main");
  absl::Status status;
  int code = backup == nullptr ? SQLITE_ERROR : SQLITE_OK;
  while (code == SQLITE_OK && status.ok()) {
    if (go_on) status = go_on();
    if (status.ok()) code = sqlite3_backup_step(backup, kCopyPages);
  }
  code = sqlite3_backup_finish(backup);
  if (!status.ok()) return status;
  if (code == SQLITE_OK && backup != nullptr) return absl::OkStatus();
  return ToStatus(sqlite3_extended_errcode(target),
                  absl::StrCat("cannot copy to ", path),
                  sqlite3_errmsg(target));
}

int64_t Database::LastInsertId() const {
  return sqlite3_last_insert_rowid(connection_);
}

int64_t Database::Changes() const { return sqlite3_changes64(connection_); }

absl::Status Database::TakeStatus() {
  return std::exchange(status_, absl::OkStatus());
}

sqlite3_stmt* Database::Acquire(const char* sql, Idle** idle) {
  if (!ok()) return nullptr;
  *idle = &idle_[sql];
  if (!(*idle)->empty()) {
    sqlite3_stmt* statement = (*idle)->back();
    (*idle)->pop_back();
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(connection_, sql, /*nByte=*/-1,
                         SQLITE_PREPARE_PERSISTENT, &statement,
                         /*pzTail=*/nullptr) != SQLITE_OK) {
    SetError(sql);
    return nullptr;
  }
  return statement;
}

void Database::SetError(const char* what) {
  status_ = ToStatus(sqlite3_extended_errcode(connection_), what,
                     sqlite3_errmsg(connection_));
}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  idle_->push_back(statement_);
}

bool Query::Next() {
  if (statement_ == nullptr || !database_.ok()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.SetError(sql_);
  return false;
}

bool Query::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t Query::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Query::Text(int column) const {
  const absl::string_view bytes = Bytes(column);
  return std::string(bytes.data(), bytes.size());
}

absl::string_view Query::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr) return "";
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

std::optional<int64_t> Query::OptionalInt(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Int(column);
}

void Query::BindInt(int index, int64_t value) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, index, value);
}

void Query::BindText(int index, absl::string_view value) {
  if (statement_ == nullptr) return;
  // Null would be SQL's NULL, which an empty text is not.
  const char* data = value.data() == nullptr ? "" : value.data();
  sqlite3_bind_text64(statement_, index, data, value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void Query::BindBlob(int index, absl::string_view value) {
  if (statement_ == nullptr) return;
  sqlite3_bind_blob64(statement_, index, value.data(), value.size(),
                      SQLITE_STATIC);
}

}  // namespace bimbackup::catalog
