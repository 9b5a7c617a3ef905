// Keeps apart what looks for something in the storage and then speaks of it
// in the catalog or a snapshot, and the sweep that removes what nobody speaks
// of.

#ifndef SERVICES_COORDINATOR_CATALOG_SWEEP_GATE_H_
#define SERVICES_COORDINATOR_CATALOG_SWEEP_GATE_H_

#include <atomic>
#include <cstdint>

#include "services/common/mutex.h"

namespace bimbackup::catalog {

// Lets one in at a time; the sweep only when nobody else wants to, and it
// stays for a few removals each time. Thread-safe.
class SweepGate {
 public:
  enum class Party { kWork, kSweep };

  // Holds the gate for as long as it lives. Waits for whoever is inside.
  class Pass {
   public:
    Pass(SweepGate& gate, Party party) : gate_(gate) { gate_.Enter(party); }
    ~Pass() { gate_.Leave(); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    SweepGate& gate_;
  };

 private:
  void Enter(Party party) {
    MutexLock lock(mutex_);
    if (party == Party::kWork) ++work_waiting_;
    while (taken_ || (party == Party::kSweep && work_waiting_ > 0)) {
      changed_.Wait(mutex_);
    }
    if (party == Party::kWork) --work_waiting_;
    taken_ = true;
  }
  void Leave() {
    {
      MutexLock lock(mutex_);
      taken_ = false;
    }
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
  int work_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The gates of one storage. Whoever needs both takes `snapshots` first.
struct SweepGates {
  // From the look for a manifest, or its writing, until the snapshot that
  // names it is written; and the removal of manifests.
  SweepGate snapshots;
  // From the look for a blob until the catalog says that it is stored; and
  // the removal of blobs.
  SweepGate results;
  // Counts snapshots written by this process; raised within `snapshots`.
  std::atomic<int64_t> snapshots_written = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_SWEEP_GATE_H_
