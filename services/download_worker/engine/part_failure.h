// What follows from a request that did not complete.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_PART_FAILURE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_PART_FAILURE_H_

#include "absl/status/status.h"
#include "services/download_worker/engine/part_fetch.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

enum class FailureAction {
  // Ask again from where it stopped, after a backoff.
  kRetry,
  // The signed URL was refused: sign once for all parts, ask again.
  kSignAgain,
  // What is there belongs to another object: the file starts from zero.
  kRestart,
  // As kRestart, and without ranges from then on.
  kRestartWhole,
  // The storage is full or failed.
  kStorage,
  // The transfer ends with `outcome`.
  kFail,
};

struct PartFailure {
  FailureAction action = FailureAction::kRetry;
  // How the transfer ends when the action is kFail or has been tried too
  // often.
  Outcome outcome = Outcome::kRetryable;
};

// How a transfer ends to which the storage said `error`: INVALID_ARGUMENT
// (a file too large or a name too long for it) and DATA_LOSS are the file's
// own, anything else is the storage's, which is closed where it is full,
// denied or not there.
Outcome StorageOutcome(const absl::Status& error);

// Whether the request was refused or lost because something on its way is
// overloaded, as far as that shows: fewer requests at once may help.
bool IsOverload(const PartResult& result);

// Classes a result whose end is not kComplete.
PartFailure ClassifyPart(const PartResult& result);

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_PART_FAILURE_H_
