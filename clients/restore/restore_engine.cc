#include "clients/restore/restore_engine.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/restore/destination.h"
#include "clients/restore/local_tree.h"
#include "clients/restore/placement.h"
#include "clients/restore/task_pool.h"
#include "services/common/mutex.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::format::EntryKind;
using storage::format::ManifestEntry;

// So many files one after the other fail for the source's or destination's
// sake only when it has gone.
constexpr int kMaxFailuresInARow = 16;

// A destination that fails is no server that cannot be reached.
absl::Status BlameDestination(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::FailedPreconditionError(status.message());
}

// Passes on what happens, one call at a time, and adds it up. Thread-safe.
class Tally {
 public:
  Tally(RestoreObserver& observer, RestoreSummary& summary)
      : observer_(observer), summary_(summary) {}

  void AddTotals(int64_t files, int64_t bytes) {
    MutexLock lock(mutex_);
    observer_.OnTotals(files, bytes);
  }
  void AddBytes(int64_t bytes) {
    MutexLock lock(mutex_);
    observer_.OnBytes(bytes);
  }
  void AddFolder() {
    MutexLock lock(mutex_);
    ++summary_.folders;
  }
  void Add(const Outcome& outcome) {
    MutexLock lock(mutex_);
    Count(outcome);
    observer_.OnOutcome(outcome);
  }

 private:
  void Count(const Outcome& outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    switch (outcome.kind) {
      case OutcomeKind::kRestored:
        ++summary_.restored;
        summary_.bytes += outcome.entry.size.value_or(0);
        break;
      case OutcomeKind::kUnchanged:
        ++summary_.unchanged;
        break;
      case OutcomeKind::kKept:
        ++summary_.kept;
        break;
      case OutcomeKind::kNoContent:
        ++summary_.no_content;
        break;
      case OutcomeKind::kDamaged:
        ++summary_.damaged;
        break;
      case OutcomeKind::kFailed:
        ++summary_.failed;
        break;
      case OutcomeKind::kRenamed:
        ++summary_.renamed;
        break;
    }
  }

  Mutex mutex_;
  RestoreObserver& observer_ ABSL_GUARDED_BY(mutex_);
  RestoreSummary& summary_ ABSL_GUARDED_BY(mutex_);
};

// What ends a restore early. Thread-safe.
class Fatality {
 public:
  // Judges how a file ended.
  void Judge(const FileResult& result) {
    MutexLock lock(mutex_);
    if (result.failure.ok()) {
      failures_in_a_row_ = 0;
      return;
    }
    const bool full =
        result.by_destination && absl::IsResourceExhausted(result.failure);
    if (full || ++failures_in_a_row_ >= kMaxFailuresInARow) {
      Set(result.by_destination ? BlameDestination(result.failure)
                                : result.failure);
    }
  }
  void End(const absl::Status& status) {
    MutexLock lock(mutex_);
    if (!status.ok()) Set(status);
  }
  absl::Status status() const {
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  void Set(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (status_.ok()) status_ = status;
  }

  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int failures_in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;
};

// One restore, once it is known that there is something to be restored.
class Run {
 public:
  Run(RestoreSource& source, const RestoreOptions& options, bool is_item,
      const Destination& destination, Tally& tally)
      : is_item_(is_item),
        dry_run_(options.dry_run),
        tally_(tally),
        tree_(destination),
        files_(source, options.overwrite, options.dry_run,
               [this](int64_t bytes) { tally_.AddBytes(bytes); }),
        placement_(destination, options.overwrite != Overwrite::kNever,
                   [this](const Outcome& outcome) { tally_.Add(outcome); }),
        pool_(options.max_files) {}

  // False when the restore is to end.
  bool Take(EntryBatch batch) {
    for (ManifestEntry& entry : batch.entries) {
      if (!fatality_.status().ok()) return false;
      TakeEntry(batch.snapshot_id, std::move(entry));
    }
    return fatality_.status().ok();
  }

  // Ends what is under way; what was whole already is placed even then.
  absl::Status Finish(const absl::Status& status) {
    fatality_.End(status);
    if (!fatality_.status().ok()) files_.Stop();
    pool_.Drain();
    if (!dry_run_) fatality_.End(BlameDestination(placement_.Finish()));
    return fatality_.status();
  }

 private:
  void TakeEntry(const std::string& snapshot_id, ManifestEntry entry) {
    const std::vector<EntryName> names =
        is_item_ ? VersionNames(entry) : TreeNames(entry);
    Outcome outcome;
    outcome.snapshot_id = snapshot_id;
    outcome.local_path = entry.stored_path;
    outcome.entry = std::move(entry);
    if (names.empty()) {
      Fail(std::move(outcome),
           absl::DataLossError("its path and stored path do not agree"));
    } else if (outcome.entry.kind == EntryKind::kFolder) {
      TakeFolder(std::move(outcome), names);
    } else {
      TakeFile(std::move(outcome), names);
    }
  }

  void TakeFolder(Outcome outcome, const std::vector<EntryName>& names) {
    const auto folder = tree_.Enter(names);
    ReportRenamed(outcome);
    if (!folder.ok()) return Fail(std::move(outcome), folder.status());
    if (outcome.entry.last_modified != absl::InfinitePast() && !dry_run_) {
      (*folder)->set_time(outcome.entry.last_modified);
    }
    tally_.AddFolder();
  }

  void TakeFile(Outcome outcome, const std::vector<EntryName>& names) {
    auto place = tree_.PlaceFile(names);
    ReportRenamed(outcome);
    if (!place.ok()) return Fail(std::move(outcome), place.status());
    auto task = std::make_shared<FileTask>();
    task->snapshot_id = std::move(outcome.snapshot_id);
    task->entry = std::move(outcome.entry);
    task->folder = std::move(place->folder);
    task->name = std::move(place->name);
    pool_.Submit([this, task] { RestoreFile(*task); });
  }

  void RestoreFile(const FileTask& task) {
    if (!fatality_.status().ok()) return;
    FileResult result = files_.Run(task);
    fatality_.Judge(result);
    if (!result.whole.has_value()) {
      // Whatever ends everything is not this file's failure.
      if (result.failure.ok() || fatality_.status().ok()) {
        tally_.Add(result.outcome);
      }
      if (!fatality_.status().ok()) files_.Stop();
      return;
    }
    fatality_.End(BlameDestination(placement_.Add(
        {*std::move(result.whole), task.name, std::move(result.outcome)})));
  }

  void ReportRenamed(const Outcome& outcome) {
    for (const Renamed& renamed : tree_.TakeRenamed()) {
      Outcome notice = outcome;
      notice.kind = OutcomeKind::kRenamed;
      notice.local_path = renamed.local_path;
      notice.message =
          absl::StrCat("\"", renamed.original, "\" cannot have this name here");
      tally_.Add(notice);
    }
  }

  void Fail(Outcome outcome, const absl::Status& status) {
    outcome.kind = OutcomeKind::kFailed;
    outcome.message = std::string(status.message());
    FileResult result;
    // What stands in a folder's way is no sign of a destination that fails.
    if (!absl::IsFailedPrecondition(status) && !absl::IsDataLoss(status)) {
      result.failure = status;
    }
    result.by_destination = true;
    fatality_.Judge(result);
    tally_.Add(outcome);
  }

  const bool is_item_;
  const bool dry_run_;
  Tally& tally_;
  Fatality fatality_;
  LocalTree tree_;
  FileRestore files_;
  Placement placement_;
  // Last: its tasks use the above.
  TaskPool pool_;
};

// The first batch that says something.
absl::StatusOr<EntryBatch> FirstBatch(EntryStream& stream) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(EntryBatch batch, stream.Next());
    if (batch.last || !batch.entries.empty()) return batch;
  }
}

absl::Status TakeAll(EntryStream& stream, EntryBatch batch, Run& run,
                     RestoreSummary& summary) {
  while (true) {
    if (!batch.snapshot_id.empty()) summary.snapshot_id = batch.snapshot_id;
    const bool last = batch.last;
    if (!run.Take(std::move(batch)) || last) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(batch, stream.Next());
  }
}

}  // namespace

absl::string_view OutcomeName(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kRestored:
      return "restored";
    case OutcomeKind::kUnchanged:
      return "unchanged";
    case OutcomeKind::kKept:
      return "kept";
    case OutcomeKind::kNoContent:
      return "no_content";
    case OutcomeKind::kDamaged:
      return "damaged";
    case OutcomeKind::kFailed:
      return "failed";
    case OutcomeKind::kRenamed:
      return "renamed";
  }
  return "unknown";
}

absl::Status Restore(RestoreSource& source, const Selection& selection,
                     const RestoreOptions& options, RestoreObserver& observer,
                     RestoreSummary& summary) {
  // Nothing is made before it is clear that there is something to restore.
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<EntryStream> stream,
                        source.ListEntries(selection));
  ABSL_ASSIGN_OR_RETURN(EntryBatch batch, FirstBatch(*stream));
  const auto destination =
      Destination::Open(options.destination, options.dry_run);
  if (!destination.ok()) return BlameDestination(destination.status());
  Tally tally(observer, summary);
  tally.AddTotals(batch.files, batch.bytes);
  Run run(source, options, !selection.item_id.empty(), **destination, tally);
  const absl::Status status =
      run.Finish(TakeAll(*stream, std::move(batch), run, summary));
  summary.damage = stream->damage();
  return status;
}

}  // namespace bimbackup::restore
