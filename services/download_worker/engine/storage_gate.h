// Keeps the engine from starting anything while the storage is full or gone.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_STORAGE_GATE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_STORAGE_GATE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"

namespace bimbackup::engine {

// Closes at the first failure of the storage, or when its marker is gone, and
// opens once it is well: marker, room, and a few bytes that can be written.
// The looks come further and further apart while the failure comes back.
// After it has opened it is on trial until something was stored. Not
// thread-safe.
class StorageGate {
 public:
  // `storage` outlives the gate.
  StorageGate(storage::Storage& storage, absl::Duration probe_first,
              absl::Duration probe_longest, absl::Duration marker_interval);

  // The storage failed, for the reason `problem`; it is not well before
  // `room_needed` bytes are free.
  void Close(absl::string_view problem, int64_t room_needed,
             absl::Duration now);

  // Looks at the storage when its time has come; call often. Blocks on the
  // storage.
  void Probe(absl::Duration now);

  // Whether transfers may start.
  bool open() const { return problem_.empty(); }

  // Whether the storage has yet to prove that it is well: one transfer at a
  // time will do.
  bool on_trial() const { return on_trial_; }

  // What is wrong, for people; empty while open.
  const std::string& problem() const { return problem_; }

  // Transfers were stored: the storage is well.
  void OnStored();

 private:
  void LookForMarker(absl::Duration now);

  storage::Storage& storage_;
  const absl::Duration probe_first_;
  const absl::Duration probe_longest_;
  const absl::Duration marker_interval_;
  std::string problem_;
  absl::Duration wait_;
  absl::Duration next_probe_;
  absl::Duration next_marker_;
  int64_t room_needed_ = 0;
  bool on_trial_ = false;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_STORAGE_GATE_H_
