#include "services/download_worker/engine/slot_schedule.h"

#include <algorithm>

namespace bimbackup::engine {

SlotSchedule::SlotSchedule(int slots, int64_t large_from)
    : slots_(slots), large_from_(large_from) {}

void SlotSchedule::Enqueue(uint64_t handle, int64_t size) {
  queue_[handle] = size;
  by_size_.emplace(size, handle);
}

bool SlotSchedule::RemoveQueued(uint64_t handle) {
  const auto it = queue_.find(handle);
  if (it == queue_.end()) return false;
  by_size_.erase({it->second, handle});
  queue_.erase(it);
  return true;
}

int SlotSchedule::SpareSlots() const {
  const bool wanted =
      !queue_.empty() || !wanting_[0].empty() || !wanting_[1].empty();
  return wanted ? 0 : std::max(0, slots_ - slots_in_use());
}

std::vector<uint64_t> SlotSchedule::Queued() const {
  std::vector<uint64_t> handles;
  for (const auto& [handle, size] : queue_) handles.push_back(handle);
  return handles;
}

void SlotSchedule::SetWanted(uint64_t handle, int slots) {
  const auto it = started_.find(handle);
  if (it == started_.end()) return;
  it->second.wanted = slots;
  std::set<uint64_t>& wanting = wanting_[it->second.large ? 1 : 0];
  if (slots > 0) {
    wanting.insert(handle);
  } else {
    wanting.erase(handle);
  }
}

std::optional<uint64_t> SlotSchedule::FirstWanting(bool large) const {
  const std::set<uint64_t>& wanting = wanting_[large ? 1 : 0];
  if (wanting.empty()) return std::nullopt;
  return *wanting.begin();
}

std::optional<uint64_t> SlotSchedule::LargestQueued() const {
  if (by_size_.empty() || by_size_.rbegin()->first < large_from_) {
    return std::nullopt;
  }
  return by_size_.rbegin()->second;
}

std::optional<SlotSchedule::Grant> SlotSchedule::Next(bool may_start) {
  if (slots_in_use() >= slots_) return std::nullopt;
  // A small transfer that was started holds a file open: it goes first.
  if (const auto handle = FirstWanting(false)) return Take(*handle);
  const auto large = FirstWanting(true);
  const bool large_turn = large_in_use_ < std::max(1, slots_ / 2);
  if (large_turn && large.has_value()) return Take(*large);
  if (may_start && large_turn) {
    if (const auto handle = LargestQueued()) return StartQueued(*handle);
  }
  if (may_start && !queue_.empty()) return StartQueued(queue_.begin()->first);
  if (large.has_value()) return Take(*large);
  return std::nullopt;
}

SlotSchedule::Grant SlotSchedule::Take(uint64_t handle) {
  Started& started = started_[handle];
  ++started.in_use;
  ++(started.large ? large_in_use_ : small_in_use_);
  if (started.wanted > 0) SetWanted(handle, started.wanted - 1);
  return {.handle = handle};
}

SlotSchedule::Grant SlotSchedule::StartQueued(uint64_t handle) {
  started_[handle].large = queue_[handle] >= large_from_;
  RemoveQueued(handle);
  Grant grant = Take(handle);
  grant.start = true;
  return grant;
}

void SlotSchedule::Release(uint64_t handle) {
  const auto it = started_.find(handle);
  if (it == started_.end() || it->second.in_use == 0) return;
  --it->second.in_use;
  --(it->second.large ? large_in_use_ : small_in_use_);
}

void SlotSchedule::End(uint64_t handle) {
  const auto it = started_.find(handle);
  if (it == started_.end()) return;
  (it->second.large ? large_in_use_ : small_in_use_) -= it->second.in_use;
  SetWanted(handle, 0);
  started_.erase(it);
}

}  // namespace bimbackup::engine
