// Keeps the engine from starting anything while the storage is full or gone.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_STORAGE_GATE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_STORAGE_GATE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"

namespace bimbackup::engine {

// Closes at the first failure of the storage and opens once a look at it
// finds its marker and room; the looks come further and further apart while
// the failure comes back. Not thread-safe.
class StorageGate {
 public:
  // `storage` outlives the gate.
  StorageGate(storage::Storage& storage, absl::Duration probe_first,
              absl::Duration probe_longest);

  // The storage failed, for the reason `problem`.
  void Close(absl::string_view problem, absl::Duration now);

  // Looks at the storage when its time has come; call often. Blocks on the
  // storage.
  void Probe(absl::Duration now);

  // Whether transfers may start.
  bool open() const { return problem_.empty(); }

  // What is wrong, for people; empty while open.
  const std::string& problem() const { return problem_; }

  // Transfers were stored: the storage is well.
  void OnStored() { wait_ = probe_first_; }

 private:
  // Nothing when the storage is well.
  std::string Look();

  storage::Storage& storage_;
  const absl::Duration probe_first_;
  const absl::Duration probe_longest_;
  std::string problem_;
  absl::Duration wait_;
  absl::Duration next_probe_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_STORAGE_GATE_H_
