// A thin layer over one SQLite connection: cached statements, typed values,
// errors as absl::Status.

#ifndef SERVICES_COORDINATOR_CATALOG_SQLITE_DATABASE_H_
#define SERVICES_COORDINATOR_CATALOG_SQLITE_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bimbackup::catalog {

// Bytes that are not text.
struct Blob {
  absl::string_view bytes;
};

// One connection. The first error sticks: from then on every statement does
// nothing and yields no row, until TakeStatus(). So a function runs its
// statements in a row and whoever called it looks once, before it commits.
// Used by one thread at a time.
class Database {
 public:
  enum class Mode { kReadOnly, kReadWrite };

  // FAILED_PRECONDITION where the file is no SQLite database.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs statements without values, separated by semicolons. For what is run
  // seldom.
  void Execute(const char* statements);

  // From now on the log is not emptied within a commit; `committed` is told
  // after each how many pages it has.
  void OnCommit(std::function<void(int64_t pages)> committed);

  // Copies the whole database to a new file, as it is at the beginning,
  // without holding up writers on other connections. Between steps `go_on` is
  // asked, where given; its error ends the copying.
  absl::Status CopyTo(const std::string& path,
                      const std::function<absl::Status()>& go_on = nullptr);

  int64_t LastInsertId() const;
  // Rows that the last statement changed.
  int64_t Changes() const;

  // The first error since the last call: RESOURCE_EXHAUSTED (no room),
  // UNAVAILABLE (input or output failed), INTERNAL.
  absl::Status TakeStatus();
  bool ok() const { return status_.ok(); }

 private:
  friend class Query;

  explicit Database(sqlite3* connection) : connection_(connection) {}

  absl::Status CopyInSteps(sqlite3* target, const std::string& path,
                           const std::function<absl::Status()>& go_on);
  // Prepared statements that nobody uses.
  using Idle = std::vector<sqlite3_stmt*>;

  // A prepared statement that nobody else uses, and where it goes afterwards;
  // null after an error.
  sqlite3_stmt* Acquire(const char* sql, Idle** idle);
  void SetError(const char* what);

  sqlite3* const connection_;
  std::function<void(int64_t)> committed_;
  absl::Status status_;
  // By address: statements are constants of the program.
  std::unordered_map<const char*, Idle> idle_;
};

// One run of a statement: binds its values, then steps through its rows.
class Query {
 public:
  // `sql` is a constant. Text and blobs outlive the query.
  template <typename... Values>
  Query(Database& database, const char* sql, const Values&... values)
      : database_(database),
        sql_(sql),
        statement_(database.Acquire(sql, &idle_)) {
    int index = 0;
    (Bind(++index, values), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Steps to the next row; false at the end and after an error.
  bool Next();

  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string Text(int column) const;
  // Also for blobs.
  absl::string_view Bytes(int column) const;
  std::optional<int64_t> OptionalInt(int column) const;

 private:
  template <typename T>
  struct IsOptional : std::false_type {};
  template <typename T>
  struct IsOptional<std::optional<T>> : std::true_type {};

  template <typename T>
  void Bind(int index, const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      BindInt(index, static_cast<int64_t>(value));
    } else if constexpr (IsOptional<T>::value) {
      if (value.has_value()) Bind(index, *value);
    } else if constexpr (std::is_same_v<T, Blob>) {
      BindBlob(index, value.bytes);
    } else {
      BindText(index, absl::string_view(value));
    }
  }
  void BindInt(int index, int64_t value);
  void BindText(int index, absl::string_view value);
  void BindBlob(int index, absl::string_view value);

  Database& database_;
  const char* const sql_;
  // A map's element stays where it is.
  Database::Idle* idle_ = nullptr;
  sqlite3_stmt* const statement_;
};

// Runs a statement to its end.
template <typename... Values>
void Run(Database& database, const char* sql, const Values&... values) {
  Query query(database, sql, values...);
  while (query.Next()) {
  }
}

// The first column of the first row; `otherwise` where there is no row, or
// NULL in it.
template <typename... Values>
int64_t ReadInt(Database& database, int64_t otherwise, const char* sql,
                const Values&... values) {
  Query query(database, sql, values...);
  return query.Next() && !query.IsNull(0) ? query.Int(0) : otherwise;
}

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_SQLITE_DATABASE_H_
