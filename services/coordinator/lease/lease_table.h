// The transfers of the running backup that are in memory, and their leases.

#ifndef SERVICES_COORDINATOR_LEASE_LEASE_TABLE_H_
#define SERVICES_COORDINATOR_LEASE_LEASE_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "services/coordinator/catalog/types.h"
#include "services/coordinator/lease/retry_policy.h"
#include "services/coordinator/lease/transfer_queue.h"
#include "services/coordinator/lease/types.h"

namespace bimbackup::lease {

// A lease that is not renewed for so long goes to others, unless another time
// is configured.
inline constexpr absl::Duration kLeaseLife = absl::Seconds(60);
// Signed URLs are not handed out when they are good for less than this.
inline constexpr absl::Duration kMinUrlLife = absl::Minutes(10);

// A pure state machine: every transfer waits (perhaps until a time), is being
// signed, is ready, or is leased under an epoch. Times are monotonic and
// given by the caller. Not thread-safe.
class LeaseTable {
 public:
  enum class State { kDelayed, kWaiting, kSigning, kReady, kLeased };

  struct Entry {
    catalog::TransferRecord transfer;
    State state = State::kWaiting;
    Tally tally;
    // Signed URLs, kept while they are good for another lease.
    std::optional<bim360::SignedDownload> download;
    // With kDelayed.
    absl::Duration not_before;
    // With kLeased.
    std::string worker_id;
    int64_t epoch = 0;
    absl::Duration expires;
    // The pool's sequence at the grant.
    int64_t granted_at = 0;
    int64_t bytes_done = 0;
    // How often this lease's URLs were signed again.
    int resolved = 0;
  };

  explicit LeaseTable(absl::Duration lease_life = kLeaseLife)
      : lease_life_(lease_life) {}

  // A transfer that waits to be signed; no effect where it is known.
  void Add(catalog::TransferRecord transfer, Tally tally);

  // A lease of an earlier process, whose holder has until `expires` to name
  // it.
  void AddRestored(catalog::TransferRecord transfer, Tally tally,
                   absl::string_view worker_id, int64_t epoch,
                   absl::Duration expires);

  // Moves the next waiting transfer to signing; nothing where none waits.
  std::optional<int64_t> TakeToSign();

  // URLs for a transfer in signing: it is ready. No effect otherwise.
  void SetSigned(int64_t id, bim360::SignedDownload download);

  // The next up to `max_files` ready transfers, as one batch, which stay
  // ready. Those whose URLs have gone stale wait to be signed again.
  std::vector<int64_t> PickBatch(int max_files, absl::Duration now);

  // Leases a ready transfer.
  void Lease(int64_t id, absl::string_view worker_id, int64_t epoch,
             int64_t sequence, absl::Duration now);

  // Renews the leases that `held` names; returns those that are not (or no
  // longer) the worker's.
  std::vector<int64_t> Renew(absl::string_view worker_id,
                             const std::vector<HeldLease>& held,
                             absl::Duration now);

  // The worker's leases, granted before `sequence`, that a report of that
  // sequence names neither as held nor as ended: their grant never arrived.
  std::vector<int64_t> Unnamed(const WorkerReport& report,
                               int64_t sequence) const;

  // Leases that have not been renewed in time.
  std::vector<int64_t> Expired(absl::Duration now) const;

  // The worker's leases end by then unless they are renewed.
  void ShortenLeases(absl::string_view worker_id, absl::Duration expires);

  // Puts a transfer off until `not_before`, whatever its state.
  void Delay(int64_t id, absl::Duration not_before, bool sign_again);

  // Lets go what was put off until `now`.
  void WakeDelayed(absl::Duration now);

  // Forgets a transfer; no effect where it is unknown.
  void Remove(int64_t id);
  void Clear();

  // Nothing where it is unknown. Valid until the next change.
  Entry* Find(int64_t id);

  // Leases by worker; 0 where it has none.
  int LeasesOf(absl::string_view worker_id) const;

  // The ids of the workers that have leases.
  std::set<std::string> Holders() const;

  // When Expired() or WakeDelayed() next has something to do; infinite
  // where there is nothing.
  absl::Duration NextEvent() const;

  int size() const { return static_cast<int>(entries_.size()); }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  int delayed() const { return static_cast<int>(delayed_.size()); }
  int signing() const { return signing_; }
  int ready() const { return static_cast<int>(ready_.size()); }
  int leased() const { return leased_; }
  // Bytes that the holders of running leases have on disk.
  int64_t bytes_under_way() const { return bytes_under_way_; }

 private:
  // Takes the entry out of the index of its state, and puts it into another.
  void Leave(int64_t id, Entry& entry);
  void Enter(int64_t id, Entry& entry, State state);
  void SetExpiry(int64_t id, Entry& entry, absl::Duration expires);
  static int64_t SizeOf(const Entry& entry);

  absl::Duration lease_life_;
  std::map<int64_t, Entry> entries_;
  TransferQueue waiting_;
  TransferQueue ready_;
  std::set<std::pair<absl::Duration, int64_t>> delayed_;
  std::set<std::pair<absl::Duration, int64_t>> expiries_;
  std::map<std::string, std::set<int64_t>> by_worker_;
  int signing_ = 0;
  int leased_ = 0;
  int64_t bytes_under_way_ = 0;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_LEASE_TABLE_H_
