// What every long-running process sets up before its first thread.

#ifndef SERVICES_COMMON_PROCESS_H_
#define SERVICES_COMMON_PROCESS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace bimbackup {

// Blocks SIGTERM and SIGINT in this thread and all it will start, so that
// only WaitForTermination() sees them; ignores SIGPIPE; raises the soft limit
// of open files to the hard one; bounds the allocator's arenas, whose number
// otherwise grows with the threads, and what it gives back at once; silences
// gRPC's own log unless GRPC_VERBOSITY is set. Call first in main.
void PrepareProcess();

// Waits for SIGTERM or SIGINT for at most `timeout`; returns whether one
// came.
bool WaitForTermination(absl::Duration timeout = absl::InfiniteDuration());

// How many files this process may have open at once.
int64_t FileDescriptorLimit();

// The least of the machine's memory and what this process's control group
// allows, in bytes.
int64_t MemoryLimit();

}  // namespace bimbackup

#endif  // SERVICES_COMMON_PROCESS_H_
