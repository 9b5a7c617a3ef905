// A lease pool whose time, catalog, storage and account a test holds in its
// hands.

#ifndef SERVICES_COORDINATOR_LEASE_POOL_HARNESS_H_
#define SERVICES_COORDINATOR_LEASE_POOL_HARNESS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/bim360/fake_bim360_client.h"
#include "clients/http/host_policy.h"
#include "services/common/fake_clock.h"
#include "services/common/random.h"
#include "services/coordinator/lease/fake_blobs.h"
#include "services/coordinator/lease/fake_transfer_store.h"
#include "services/coordinator/lease/lease_pool.h"

namespace bimbackup::lease {

// A report whose answer may be waited for.
struct PendingReport {
  int64_t number = 0;
  std::shared_ptr<std::optional<absl::StatusOr<SynchronizeAnswer>>> answer;

  bool answered() const { return answer->has_value(); }
  const SynchronizeAnswer& get() const { return ***answer; }
  absl::Status status() const { return (*answer)->status(); }
};

// Signs every "urn:...", for as long as the clock says.
class SigningClient : public bim360::FakeBim360Client {
 public:
  explicit SigningClient(Clock& clock) : clock_(clock) {}

  absl::StatusOr<bim360::SignedDownload> SignDownload(
      absl::string_view storage_urn, absl::Duration lifetime,
      const std::stop_token& cancel) override;

 private:
  Clock& clock_;
};

// Not thread-safe, and no thread of the pool's but its signer's runs: the
// test pumps.
class PoolHarness {
 public:
  static constexpr catalog::BackupNumber kBackup = 7;

  PoolHarness();

  // A pool as a new process would have it, over the same catalog.
  void Restart();
  // Opens the backup, and says that all is listed.
  void Begin();
  // Makes `count` pending transfers of `size` bytes.
  void AddTransfers(int count, int64_t size = 1000) {
    for (int i = 0; i < count; ++i) store.Add(size);
  }

  // Sends a report; does not pump.
  PendingReport Send(WorkerReport report);
  // Sends a report that may not be held, and returns its answer.
  SynchronizeAnswer Exchange(WorkerReport report);
  // Reports until something is granted, and returns it; what is granted in
  // one answer only.
  std::vector<GrantedLease> Take(const std::string& worker_id, int slots);

  // Pumps until nothing is being signed.
  void Settle();
  // Moves the clock, then settles.
  void Advance(absl::Duration duration);

  // A result for a granted lease whose blob is, or is not, in the storage.
  TransferResult Stored(const GrantedLease& lease, bool whole = true);
  static TransferResult Ended(const GrantedLease& lease, Outcome outcome);
  static WorkerReport Report(const std::string& worker_id, int slots,
                             const std::vector<GrantedLease>& held = {});

  FakeClock clock;
  SeededRandom random{1};
  FakeTransferStore store;
  FakeBlobs blobs;
  SigningClient client{clock};
  http::HostPolicy hosts;
  std::unique_ptr<LeasePool> pool;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_POOL_HARNESS_H_
