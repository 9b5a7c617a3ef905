// Who may receive how fast: the cap of the whole fleet and those of single
// workers.

#ifndef SERVICES_COORDINATOR_LEASE_BANDWIDTH_SHARES_H_
#define SERVICES_COORDINATOR_LEASE_BANDWIDTH_SHARES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace bimbackup::lease {

// Body bytes a second; 0 stands for no cap everywhere. Not thread-safe.
class BandwidthShares {
 public:
  void SetFleet(int64_t bytes_per_second) { fleet_ = bytes_per_second; }
  void SetWorker(absl::string_view worker_id, int64_t bytes_per_second);

  // What the worker may receive while `active` workers, itself among them,
  // share the fleet's cap evenly.
  int64_t Of(absl::string_view worker_id, int active) const;

  int64_t fleet() const { return fleet_; }
  // By worker id; those with a cap of their own.
  const std::map<std::string, int64_t>& workers() const { return workers_; }

 private:
  int64_t fleet_ = 0;
  std::map<std::string, int64_t> workers_;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_BANDWIDTH_SHARES_H_
