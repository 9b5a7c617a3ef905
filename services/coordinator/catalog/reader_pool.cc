#include "services/coordinator/catalog/reader_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::catalog {

absl::StatusOr<std::unique_ptr<ReaderPool>> ReaderPool::Open(
    const std::string& path, int connections, int64_t cache_kib_each) {
  std::unique_ptr<ReaderPool> pool(new ReaderPool());
  for (int i = 0; i < connections; ++i) {
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                          Database::Open(path, Database::Mode::kReadOnly));
    database->Execute(
        absl::StrCat("PRAGMA cache_size = -", cache_kib_each).c_str());
    ABSL_RETURN_IF_ERROR(database->TakeStatus());
    pool->Return(std::move(database));
  }
  return pool;
}

std::unique_ptr<Database> ReaderPool::Take() {
  MutexLock lock(mutex_);
  while (idle_.empty()) returned_.Wait(mutex_);
  std::unique_ptr<Database> database = std::move(idle_.back());
  idle_.pop_back();
  return database;
}

void ReaderPool::Return(std::unique_ptr<Database> database) {
  MutexLock lock(mutex_);
  idle_.push_back(std::move(database));
  returned_.NotifyOne();
}

}  // namespace bimbackup::catalog
