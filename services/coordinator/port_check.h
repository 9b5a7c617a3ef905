// Whether a server could listen on an address.

#ifndef SERVICES_COORDINATOR_PORT_CHECK_H_
#define SERVICES_COORDINATOR_PORT_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace bimbackup::coordinator {

// Takes and frees `address` (host:port, or unix:/path, which is not looked
// at). INVALID_ARGUMENT, naming it, when it is malformed or taken. For the
// moment before anything is written; the port may be taken a moment later.
absl::Status CheckListenable(absl::string_view address);

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_PORT_CHECK_H_
