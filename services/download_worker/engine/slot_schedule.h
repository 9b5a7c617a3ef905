// Who gets the next slot.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_SLOT_SCHEDULE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_SLOT_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace bimbackup::engine {

// A slot is the right to run one request. Half of the slots take the largest
// transfers first and the parts of those that run, so that no big file is
// left for the end; the others take transfers in the order in which they
// came, so that small ones do not wait behind big ones. Neither half is left
// idle while the other has work. Not thread-safe.
class SlotSchedule {
 public:
  // Transfers of `large_from` bytes and more count as large.
  SlotSchedule(int slots, int64_t large_from);

  // So many slots from now on; those beyond that are in use stay until they
  // are released.
  void SetSlots(int slots) { slots_ = slots; }

  // Slots that nobody who waits could take now.
  int SpareSlots() const;

  // A transfer waits to be started. `handle` grows from call to call.
  void Enqueue(uint64_t handle, int64_t size);

  // Takes a transfer out of the queue; false when it is not there.
  bool RemoveQueued(uint64_t handle);

  // Those that wait to be started, in the order in which they came.
  std::vector<uint64_t> Queued() const;
  int queued() const { return static_cast<int>(queue_.size()); }

  // A started transfer could use `slots` more.
  void SetWanted(uint64_t handle, int slots);

  struct Grant {
    uint64_t handle = 0;
    // Whether the transfer starts with this slot.
    bool start = false;
  };

  // Gives a free slot to whoever is next; nothing when none is free or
  // wanted. Starts no transfer unless `may_start`.
  std::optional<Grant> Next(bool may_start);

  // Takes one slot back. No effect for a transfer that has ended.
  void Release(uint64_t handle);

  // A started transfer has ended; takes all its slots back.
  void End(uint64_t handle);

  int slots_in_use() const { return small_in_use_ + large_in_use_; }

 private:
  struct Started {
    bool large = false;
    int in_use = 0;
    int wanted = 0;
  };

  std::optional<uint64_t> FirstWanting(bool large) const;
  std::optional<uint64_t> LargestQueued() const;
  Grant Take(uint64_t handle);
  Grant StartQueued(uint64_t handle);

  int slots_;
  const int64_t large_from_;
  // By handle, and by size.
  std::map<uint64_t, int64_t> queue_;
  std::set<std::pair<int64_t, uint64_t>> by_size_;
  std::map<uint64_t, Started> started_;
  // Those of started_ that want a slot, small and large.
  std::set<uint64_t> wanting_[2];
  int small_in_use_ = 0;
  int large_in_use_ = 0;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_SLOT_SCHEDULE_H_
