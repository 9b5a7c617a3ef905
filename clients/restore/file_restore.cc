#include "clients/restore/file_restore.h"

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::format::EntryStatus;
using storage::format::ManifestEntry;

FileResult Begin(const FileTask& task) {
  FileResult result;
  result.outcome.snapshot_id = task.snapshot_id;
  result.outcome.entry = task.entry;
  result.outcome.local_path = task.folder->PathOf(task.name);
  // Why an older version stands here, or that the tip was not listed.
  if (task.entry.status != EntryStatus::kStored) {
    result.outcome.message = task.entry.reason;
  }
  return result;
}

FileResult End(FileResult result, OutcomeKind kind, absl::string_view message) {
  result.outcome.kind = kind;
  if (!message.empty()) result.outcome.message = std::string(message);
  return result;
}

FileResult FailHere(FileResult result, const absl::Status& status) {
  // Another process at work is nobody's fault.
  if (!absl::IsAborted(status)) result.failure = status;
  result.by_destination = true;
  return End(std::move(result), OutcomeKind::kFailed, status.message());
}

// What was never stored.
FileResult EndWithoutBytes(FileResult result) {
  if (result.outcome.entry.status == EntryStatus::kNoContent) {
    return End(std::move(result), OutcomeKind::kNoContent, "");
  }
  const std::string why = result.outcome.message;
  return End(std::move(result), OutcomeKind::kFailed,
             absl::StrCat("it was never backed up: ", why));
}

// Whether a failed call on a blob says that the blob itself is no good.
bool BlamesBlob(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status) ||
         absl::IsInvalidArgument(status) || absl::IsOutOfRange(status);
}

}  // namespace

// Brings a file's bytes in.
class FileRestore::Attempt {
 public:
  Attempt(FileRestore& owner, const FileTask& task, PartialFile partial)
      : owner_(owner),
        task_(task),
        entry_(task.entry),
        partial_(std::move(partial)) {}

  FileResult Run() {
    const bool resumed = partial_.size() > 0;
    FileResult result = Fetch();
    // What an earlier run left may have been torn by a power cut.
    if (resumed && result.outcome.kind == OutcomeKind::kDamaged) {
      const absl::Status cleared = Clear();
      if (!cleared.ok()) return FailHere(Begin(task_), cleared);
      result = Fetch();
    }
    if (result.outcome.kind == OutcomeKind::kDamaged) {
      owner_.on_bytes_(-partial_.size());
      partial_.Remove();
    }
    if (result.outcome.kind == OutcomeKind::kRestored) {
      result.whole = std::move(partial_);
    }
    return result;
  }

 private:
  FileResult Fetch() {
    FileResult result = Begin(task_);
    Digest digest(DigestKind::kSha256);
    if (absl::Status status = TakeUp(digest); !status.ok()) {
      return FailHere(std::move(result), status);
    }
    auto blob = owner_.source_.OpenBlob(entry_.sha256, partial_.size());
    if (!blob.ok()) return FailThere(std::move(result), blob.status());
    while (true) {
      if (owner_.stopped_) {
        return FailThere(std::move(result), absl::CancelledError("stopped"));
      }
      const absl::StatusOr<absl::string_view> bytes = (*blob)->Next();
      if (!bytes.ok()) return FailThere(std::move(result), bytes.status());
      if (bytes->empty()) break;
      if (IsTooLong(*bytes)) return Damaged(std::move(result), "is too long");
      digest.Update(*bytes);
      if (absl::Status status = partial_.Append(*bytes); !status.ok()) {
        return FailHere(std::move(result), status);
      }
      owner_.on_bytes_(static_cast<int64_t>(bytes->size()));
    }
    return Verify(std::move(result), digest);
  }

  // Goes on with what is there already.
  absl::Status TakeUp(Digest& digest) {
    if (entry_.size.has_value() && partial_.size() > *entry_.size) {
      ABSL_RETURN_IF_ERROR(partial_.Clear());
    }
    ABSL_RETURN_IF_ERROR(partial_.AddTo(digest));
    owner_.on_bytes_(partial_.size());
    return absl::OkStatus();
  }

  absl::Status Clear() {
    owner_.on_bytes_(-partial_.size());
    return partial_.Clear();
  }

  bool IsTooLong(absl::string_view bytes) const {
    return entry_.size.has_value() &&
           partial_.size() + static_cast<int64_t>(bytes.size()) > *entry_.size;
  }

  FileResult Verify(FileResult result, Digest& digest) {
    if (entry_.size.has_value() && partial_.size() < *entry_.size) {
      return Damaged(std::move(result),
                     absl::StrCat("ends after ", partial_.size(), " of ",
                                  *entry_.size, " bytes"));
    }
    if (digest.FinishHex() != entry_.sha256) {
      return Damaged(std::move(result), "has other bytes than were stored");
    }
    if (entry_.last_modified != absl::InfinitePast()) {
      const absl::Status set = partial_.SetTime(entry_.last_modified);
      if (!set.ok()) return FailHere(std::move(result), set);
    }
    result.outcome.kind = OutcomeKind::kRestored;
    return result;
  }

  FileResult Damaged(FileResult result, absl::string_view what) {
    return End(std::move(result), OutcomeKind::kDamaged,
               absl::StrCat("blob ", entry_.sha256, " ", what));
  }

  FileResult FailThere(FileResult result, const absl::Status& status) {
    if (absl::IsNotFound(status)) {
      return Damaged(std::move(result), "is missing");
    }
    if (BlamesBlob(status)) {
      return Damaged(std::move(result),
                     absl::StrCat("cannot be read: ", status.message()));
    }
    result.failure = status;
    return End(std::move(result), OutcomeKind::kFailed, status.message());
  }

  FileRestore& owner_;
  const FileTask& task_;
  const ManifestEntry& entry_;
  PartialFile partial_;
};

FileResult FileRestore::Run(const FileTask& task) {
  FileResult result = Begin(task);
  const ManifestEntry& entry = task.entry;
  if (entry.sha256.empty()) return EndWithoutBytes(std::move(result));
  if (overwrite_ == Overwrite::kNever && IsTaken(*task.folder, task.name)) {
    return End(std::move(result), OutcomeKind::kKept, "it was there already");
  }
  if (overwrite_ == Overwrite::kIfDifferent) {
    const auto existing = LookAtExisting(*task.folder, task.name, entry);
    if (!existing.ok()) return FailHere(std::move(result), existing.status());
    if (*existing == Existing::kSame || *existing == Existing::kSameBytes) {
      return KeepSame(task, *existing, std::move(result));
    }
  }
  if (dry_run_) {
    on_bytes_(entry.size.value_or(0));
    return End(std::move(result), OutcomeKind::kRestored, "");
  }
  auto partial =
      PartialFile::Open(task.folder, PartialName(task.name, entry.sha256));
  if (!partial.ok()) return FailHere(std::move(result), partial.status());
  return Attempt(*this, task, *std::move(partial)).Run();
}

FileResult FileRestore::KeepSame(const FileTask& task, Existing existing,
                                 FileResult result) {
  const absl::Time time = task.entry.last_modified;
  if (existing == Existing::kSameBytes && !dry_run_ &&
      time != absl::InfinitePast()) {
    const absl::Status set = SetExistingTime(*task.folder, task.name, time);
    if (!set.ok()) return FailHere(std::move(result), set);
  }
  on_bytes_(task.entry.size.value_or(0));
  return End(std::move(result), OutcomeKind::kUnchanged, "");
}

}  // namespace bimbackup::restore
