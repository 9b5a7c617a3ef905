// Restores one file up to the moment when it gets its name.

#ifndef CLIENTS_RESTORE_FILE_RESTORE_H_
#define CLIENTS_RESTORE_FILE_RESTORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "clients/restore/destination.h"
#include "clients/restore/existing_file.h"
#include "clients/restore/partial_file.h"
#include "clients/restore/restore_report.h"
#include "clients/restore/restore_source.h"

namespace bimbackup::restore {

// What happens to files that are there already.
enum class Overwrite {
  // They stay as they are.
  kNever,
  // They are replaced unless size and time, or size and digest, are the same.
  kIfDifferent,
  // They are replaced.
  kAlways,
};

// A file to be restored.
struct FileTask {
  std::string snapshot_id;
  storage::format::ManifestEntry entry;
  std::shared_ptr<Folder> folder;
  // In the folder.
  std::string name;
};

// How a file's restoring ended: with an outcome, or with a file to be placed.
struct FileResult {
  Outcome outcome;
  std::optional<PartialFile> whole;
  // Why the outcome is kFailed, where it may be the fault of source or
  // destination rather than the file's.
  absl::Status failure;
  // `failure` is the destination's.
  bool by_destination = false;
};

// Thread-safe.
class FileRestore {
 public:
  // `source` outlives it. `on_bytes` is called from any thread.
  FileRestore(RestoreSource& source, Overwrite overwrite, bool dry_run,
              std::function<void(int64_t)> on_bytes)
      : source_(source),
        overwrite_(overwrite),
        dry_run_(dry_run),
        on_bytes_(std::move(on_bytes)) {}

  FileResult Run(const FileTask& task);

  // Makes Run() end soon, with CANCELLED as failure.
  void Stop() { stopped_ = true; }

 private:
  class Attempt;

  // Ends with what is there; sets its time where that alone differs.
  FileResult KeepSame(const FileTask& task, Existing existing,
                      FileResult result);

  RestoreSource& source_;
  const Overwrite overwrite_;
  const bool dry_run_;
  const std::function<void(int64_t)> on_bytes_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_FILE_RESTORE_H_
