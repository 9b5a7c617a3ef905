// Keeps a second coordinator out of a state folder.

#ifndef SERVICES_COORDINATOR_CATALOG_STATE_LOCK_H_
#define SERVICES_COORDINATOR_CATALOG_STATE_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace bimbackup::catalog {

// The exclusive lock on `<state_dir>/catalog.lock`, held while this lives;
// the kernel drops it when the process dies. Not inherited by programs that
// the process starts.
class StateLock {
 public:
  // Makes the folder where it does not exist. FAILED_PRECONDITION: another
  // process holds the lock, or the folder cannot be written.
  static absl::StatusOr<std::unique_ptr<StateLock>> Acquire(
      const std::string& state_dir);
  ~StateLock();
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  explicit StateLock(int fd) : fd_(fd) {}

  const int fd_;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_STATE_LOCK_H_
