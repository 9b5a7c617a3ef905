// What every long-running process sets up before its first thread.

#ifndef SERVICES_COMMON_PROCESS_H_
#define SERVICES_COMMON_PROCESS_H_

#include "absl/time/time.h"

namespace bimbackup {

// Blocks SIGTERM and SIGINT in this thread and all it will start, so that
// only WaitForTermination() sees them; ignores SIGPIPE; raises the soft limit
// of open files to the hard one; bounds the allocator's arenas, whose number
// otherwise grows with the threads; silences gRPC's own log unless
// GRPC_VERBOSITY is set. Call first in main.
void PrepareProcess();

// Waits for SIGTERM or SIGINT for at most `timeout`; returns whether one
// came.
bool WaitForTermination(absl::Duration timeout = absl::InfiniteDuration());

}  // namespace bimbackup

#endif  // SERVICES_COMMON_PROCESS_H_
