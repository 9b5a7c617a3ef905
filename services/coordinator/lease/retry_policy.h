// Decides what becomes of a transfer whose attempt did not store it.

#ifndef SERVICES_COORDINATOR_LEASE_RETRY_POLICY_H_
#define SERVICES_COORDINATOR_LEASE_RETRY_POLICY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/random.h"
#include "services/coordinator/lease/types.h"

namespace bimbackup::lease {

// How often each kind of ending befell one transfer in this backup. A value.
struct Tally {
  int retryable = 0;
  int refused = 0;
  int not_found = 0;
  int corrupt = 0;
  // Failures of the storage that the coordinator did not see.
  int storage_failed = 0;
  // Leases whose worker was not heard of any more.
  int losses = 0;
  // Leases that a worker gave back.
  int releases = 0;

  // Counts one more ending of this kind; kUnspecified is a lost worker. Not
  // for a storage that is full or gone: that is no transfer's fault.
  void Count(Outcome outcome);
};

// Attempts in all before a transfer fails, by kind.
inline constexpr int kMaxRetryable = 5;
inline constexpr int kMaxRefused = 2;
inline constexpr int kMaxNotFound = 2;
inline constexpr int kMaxCorrupt = 2;
inline constexpr int kMaxStorageFailed = 5;
inline constexpr int kMaxLosses = 10;
inline constexpr int kMaxReleases = 100;

struct Verdict {
  // Another lease after `delay`; else the transfer has failed.
  bool retry = false;
  absl::Duration delay = absl::ZeroDuration();
  // The URLs that it had are not to be used again.
  bool sign_again = false;
};

// What follows when `outcome` (not kStored) has been counted in `tally`.
Verdict JudgeOutcome(Outcome outcome, const Tally& tally, Random& random);

// The outcome that stands for an error of Bim360Client::SignDownload.
Outcome OutcomeOfSigning(const absl::Status& status);

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_RETRY_POLICY_H_
