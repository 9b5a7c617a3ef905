// The limit on how much runs at a time.

#ifndef SERVICES_FILE_SCAN_RPC_SCAN_SLOTS_H_
#define SERVICES_FILE_SCAN_RPC_SCAN_SLOTS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "services/common/mutex.h"

namespace bimbackup::file_scan::rpc {

// Thread-safe. Outlives the slots taken.
class ScanSlots {
 public:
  explicit ScanSlots(int slots) : slots_(slots), free_(slots) {}

  // A slot, held until the pointer is gone.
  using Slot = std::unique_ptr<ScanSlots, void (*)(ScanSlots*)>;

  // Takes a slot; RESOURCE_EXHAUSTED, at once, when none is free. `what` is
  // what runs in them, for the message.
  absl::StatusOr<Slot> Take(absl::string_view what) {
    MutexLock lock(mutex_);
    if (free_ == 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("already ", slots_, " ", what, " running; try later"));
    }
    --free_;
    return Slot(this, [](ScanSlots* slots) { slots->Free(); });
  }

 private:
  void Free() {
    MutexLock lock(mutex_);
    ++free_;
  }

  const int slots_;
  Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::file_scan::rpc

#endif  // SERVICES_FILE_SCAN_RPC_SCAN_SLOTS_H_
