// The workers that have synchronized lately.

#ifndef SERVICES_COORDINATOR_LEASE_WORKER_TABLE_H_
#define SERVICES_COORDINATOR_LEASE_WORKER_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/coordinator/lease/types.h"

namespace bimbackup::lease {

// Not thread-safe.
class WorkerTable {
 public:
  // A worker that is not heard of for so long is forgotten.
  static constexpr absl::Duration kMemory = absl::Minutes(10);

  // A worker counts as active for `lease_life` after it was heard of.
  explicit WorkerTable(absl::Duration lease_life) : lease_life_(lease_life) {}

  // Takes note of a report. `now` is monotonic, `time` the wall clock's.
  void Report(const WorkerReport& report, absl::Duration now, absl::Time time);

  void CountStored(absl::string_view worker_id, int64_t count);
  // From now on the worker is told to drain; false where it is unknown.
  bool Drain(absl::string_view worker_id);
  bool IsDraining(absl::string_view worker_id) const;

  // Takes note of the bandwidth that an answer told the worker.
  void SetToldBandwidth(absl::string_view worker_id, int64_t bytes_per_second);
  // What it was last told; 0, no cap, where it was told none.
  int64_t ToldBandwidth(absl::string_view worker_id) const;

  // Takes slots of a worker that was granted so many transfers.
  void TakeSlots(absl::string_view worker_id, int count);

  // Workers heard of within the life of a lease that take transfers.
  int CountActive(absl::Duration now) const;
  std::set<std::string> ActiveIds(absl::Duration now) const;
  int FreeSlots(absl::Duration now) const;
  // The trouble with the storage of one that was heard of lately, if any.
  Pause FindPause(absl::Duration now) const;

  void Forget(absl::Duration now);
  // When Forget() next has something to do; infinite where there is nothing.
  absl::Duration NextForgotten() const;

  // In order of their ids, without their leases.
  std::vector<WorkerInfo> List() const;

 private:
  struct Worker {
    WorkerInfo info;
    absl::Duration last_heard;
    int64_t told_bandwidth = 0;
  };

  bool TakesTransfers(const Worker& worker, absl::Duration now) const;

  const absl::Duration lease_life_;
  std::map<std::string, Worker, std::less<>> workers_;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_WORKER_TABLE_H_
