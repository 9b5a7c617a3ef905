// Gives whole files their names, once their bytes are on the disk.

#ifndef CLIENTS_RESTORE_PLACEMENT_H_
#define CLIENTS_RESTORE_PLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "clients/restore/destination.h"
#include "clients/restore/partial_file.h"
#include "clients/restore/restore_report.h"
#include "services/common/mutex.h"

namespace bimbackup::restore {

// A file that is whole, but still has its temporary name.
struct WholeFile {
  PartialFile partial;
  std::string name;
  Outcome outcome;
};

// Groups files, so that many share one wait for the disk. Thread-safe.
class Placement {
 public:
  // The destination outlives it. `report` is called with each file's outcome,
  // on the threads that call. With `replace` false a file that has come
  // meanwhile is kept.
  Placement(const Destination& destination, bool replace,
            std::function<void(const Outcome&)> report)
      : destination_(destination),
        replace_(replace),
        report_(std::move(report)) {}

  // Takes a file; places the group that it completes. An error is the
  // destination's, and leaves the group's files for a later run.
  absl::Status Add(WholeFile file);

  // Places what is left, and makes all names durable.
  absl::Status Finish();

 private:
  absl::Status Place(std::vector<WholeFile> group);
  Outcome PlaceFile(WholeFile& file) const;

  const Destination& destination_;
  const bool replace_;
  const std::function<void(const Outcome&)> report_;
  Mutex mutex_;
  std::vector<WholeFile> group_ ABSL_GUARDED_BY(mutex_);
  int64_t group_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_PLACEMENT_H_
