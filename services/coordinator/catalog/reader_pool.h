// Connections for reading, a few, shared by all threads.

#ifndef SERVICES_COORDINATOR_CATALOG_READER_POOL_H_
#define SERVICES_COORDINATOR_CATALOG_READER_POOL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "services/common/mutex.h"
#include "services/coordinator/catalog/sqlite_database.h"

namespace bimbackup::catalog {

// Thread-safe. Readers see what was committed before they began, and never
// wait for the writer; for each other only when all connections are in use.
class ReaderPool {
 public:
  // Opens all connections.
  static absl::StatusOr<std::unique_ptr<ReaderPool>> Open(
      const std::string& path, int connections, int64_t cache_kib_each);

  // A connection in use; goes back when this ends.
  class Reader {
   public:
    explicit Reader(ReaderPool& pool) : pool_(pool), database_(pool.Take()) {}
    ~Reader() {
      // The next user starts without this one's error.
      database_->TakeStatus().IgnoreError();
      pool_.Return(std::move(database_));
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Database& operator*() { return *database_; }
    Database* operator->() { return database_.get(); }

   private:
    ReaderPool& pool_;
    std::unique_ptr<Database> database_;
  };

 private:
  ReaderPool() = default;
  std::unique_ptr<Database> Take() ABSL_LOCKS_EXCLUDED(mutex_);
  void Return(std::unique_ptr<Database> database) ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar returned_;
  std::vector<std::unique_ptr<Database>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_READER_POOL_H_
