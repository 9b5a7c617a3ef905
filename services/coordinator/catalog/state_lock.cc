#include "services/coordinator/catalog/state_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace bimbackup::catalog {

absl::StatusOr<std::unique_ptr<StateLock>> StateLock::Acquire(
    const std::string& state_dir) {
  if (mkdir(state_dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot make the state folder ", state_dir, ": ", strerror(errno)));
  }
  const std::string path = absl::StrCat(state_dir, "/catalog.lock");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the state folder ", state_dir,
                     " cannot be written: ", strerror(errno)));
  }
  std::unique_ptr<StateLock> lock(new StateLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("another coordinator uses the state folder ", state_dir,
                     ": stop it, or give this one a folder of its own"));
  }
  return lock;
}

StateLock::~StateLock() { close(fd_); }

}  // namespace bimbackup::catalog
