// Who may receive how fast: the cap of the whole fleet and those of single
// workers.

#ifndef SERVICES_COORDINATOR_LEASE_BANDWIDTH_SHARES_H_
#define SERVICES_COORDINATOR_LEASE_BANDWIDTH_SHARES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace bimbackup::lease {

// Body bytes a second; 0 stands for no cap everywhere. Not thread-safe.
class BandwidthShares {
 public:
  void SetFleet(int64_t bytes_per_second) { fleet_ = bytes_per_second; }
  void SetWorker(absl::string_view worker_id, int64_t bytes_per_second);

  // Forgets the caps of all workers but those.
  void KeepOnly(const std::set<std::string>& worker_ids);

  // What each of those workers may receive, by its id. They share the fleet's
  // cap evenly, except that what one cannot use because of its own cap goes
  // to the others.
  std::map<std::string, int64_t> Divide(
      const std::set<std::string>& worker_ids) const;
  // What a worker would receive besides those, if it joined them.
  int64_t OfJoining(const std::string& worker_id,
                    std::set<std::string> worker_ids) const;

  int64_t fleet() const { return fleet_; }
  // By worker id; those with a cap of their own.
  const std::map<std::string, int64_t>& workers() const { return workers_; }

 private:
  // The worker's own cap.
  int64_t OwnOf(const std::string& worker_id) const;

  int64_t fleet_ = 0;
  std::map<std::string, int64_t> workers_;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_BANDWIDTH_SHARES_H_
