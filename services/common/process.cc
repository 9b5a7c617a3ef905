#include "services/common/process.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

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
  // What gRPC has to say comes as a status; its own lines beside it would
  // make two of one.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
}

bool WaitForTermination(absl::Duration timeout) {
  const sigset_t signals = TerminationSignals();
  if (timeout == absl::InfiniteDuration()) {
    return sigwaitinfo(&signals, nullptr) > 0;
  }
  const timespec wait = absl::ToTimespec(timeout);
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

}  // namespace bimbackup
