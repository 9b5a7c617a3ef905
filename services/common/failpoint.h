// Named places at which a test makes a process die, to prove that it comes
// back whole.

#ifndef SERVICES_COMMON_FAILPOINT_H_
#define SERVICES_COMMON_FAILPOINT_H_

#include "absl/strings/string_view.h"

namespace bimbackup {

// Kills the process as SIGKILL does, when the environment variable
// BIMBACKUP_FAILPOINT says "<name>" or "<name>:<n>" (at the n-th time that
// this place is reached, 1 by default). Costs one comparison otherwise.
// Thread-safe.
void MaybeCrash(absl::string_view name);

}  // namespace bimbackup

#endif  // SERVICES_COMMON_FAILPOINT_H_
