#include "services/common/process.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>

namespace bimbackup {
namespace {

sigset_t TerminationSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void PrepareProcess() {
  const sigset_t signals = TerminationSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  mallopt(M_ARENA_MAX, 4);
  // Answers of some hundred KB come by the thousand: their memory is kept and
  // not given back to be faulted in anew.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
  // What gRPC has to say comes as a status; its own lines beside it would
  // make two of one.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
}

bool WaitForTermination(absl::Duration timeout) {
  const sigset_t signals = TerminationSignals();
  if (timeout == absl::InfiniteDuration()) {
    // A process that was stopped and goes on is interrupted here.
    int signal = -1;
    do {
      signal = sigwaitinfo(&signals, nullptr);
    } while (signal < 0 && errno == EINTR);
    return signal > 0;
  }
  const timespec wait = absl::ToTimespec(timeout);
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

int64_t FileDescriptorLimit() {
  rlimit files{};
  // What every system grants.
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 256;
  return static_cast<int64_t>(
      std::min<rlim_t>(files.rlim_cur, std::numeric_limits<int>::max()));
}

int64_t MemoryLimit() {
  int64_t limit = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  // Of version 2, then of version 1; "max" or a huge number for none.
  for (const char* path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t allowed = 0;
    if (std::ifstream(path) >> allowed && allowed > 0) {
      limit = std::min(limit, allowed);
    }
  }
  return limit;
}

}  // namespace bimbackup
