#include "clients/storage/local/local_blob_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/storage/local/part_journal.h"
#include "services/common/digest.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

// 65,536 parts of one file, and as many that overlap.
constexpr size_t kMaxJournalBytes = 8 << 20;

}  // namespace

LocalBlobWriter::LocalBlobWriter(const StorageFolders& folders,
                                 CommitQueue& queue,
                                 absl::string_view storage_urn,
                                 std::unique_ptr<TemporaryBlob> blob)
    : folders_(folders),
      queue_(queue),
      storage_urn_(storage_urn),
      blob_(std::move(blob)) {}

absl::StatusOr<std::unique_ptr<LocalBlobWriter>> LocalBlobWriter::Open(
    const StorageFolders& folders, CommitQueue& queue,
    absl::string_view storage_urn) {
  ABSL_ASSIGN_OR_RETURN(
      std::unique_ptr<TemporaryBlob> blob,
      TemporaryBlob::Open(folders.temporary.get(), storage_urn));
  auto writer = absl::WrapUnique(
      new LocalBlobWriter(folders, queue, storage_urn, std::move(blob)));
  ABSL_RETURN_IF_ERROR(writer->Recover());
  return writer;
}

absl::Status LocalBlobWriter::Recover() {
  struct stat info;
  if (fstat(blob_->fd(), &info) != 0) {
    return ErrnoStatus(errno, "look at", blob_->name());
  }
  // To empty what is empty would still cost a write of its inode.
  if (info.st_size == 0) return DropJournal();
  blob_->SetKept(true);
  ABSL_RETURN_IF_ERROR(ReadJournal());
  if (!recovered_.empty() && recovered_.back().end <= info.st_size) {
    return absl::OkStatus();
  }
  // Nothing to take up, or a journal that vouches for bytes that are not
  // there.
  return Discard();
}

absl::Status LocalBlobWriter::ReadJournal() {
  absl::StatusOr<UniqueFd> file =
      OpenAt(folders_.temporary.get(), blob_->journal_name(), O_RDWR);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(file.status());
  const absl::StatusOr<std::string> text =
      ReadSmallFile(file->get(), kMaxJournalBytes);
  std::optional<JournalContent> content;
  if (text.ok()) content = ParseJournal(*text);
  if (!content) {
    spdlog::warn("journal {} is corrupt: its file starts over",
                 blob_->journal_name());
    return absl::OkStatus();
  }
  if (ftruncate(file->get(), static_cast<off_t>(content->valid_bytes)) != 0) {
    return ErrnoStatus(errno, "cut", blob_->journal_name());
  }
  recovered_ = std::move(content->ranges);
  recovered_identity_ = std::move(content->identity);
  journal_ = *std::move(file);
  journal_size_ = static_cast<int64_t>(content->valid_bytes);
  return absl::OkStatus();
}

absl::Status LocalBlobWriter::CheckOpen() const {
  if (!committing_) return absl::OkStatus();
  return absl::FailedPreconditionError("the blob is being committed");
}

absl::Status LocalBlobWriter::SetIdentity(const ContentIdentity& identity) {
  ABSL_RETURN_IF_ERROR(CheckOpen());
  if (identity.storage_urn != storage_urn_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a blob opened for ", storage_urn_, " was given as ",
                     identity.storage_urn));
  }
  std::string line = IdentityLine(identity);
  if (!recovered_identity_.empty() && line != recovered_identity_) {
    ABSL_RETURN_IF_ERROR(Discard());
  }
  identity_ = std::move(line);
  recovered_identity_ = *identity_;
  return absl::OkStatus();
}

absl::Status LocalBlobWriter::WriteAt(int64_t offset, absl::string_view bytes) {
  ABSL_RETURN_IF_ERROR(CheckOpen());
  return WriteAllAt(blob_->fd(), offset, bytes);
}

absl::StatusOr<size_t> LocalBlobWriter::ReadAt(int64_t offset, char* buffer,
                                               size_t size) {
  return ReadUpToAt(blob_->fd(), offset, buffer, size);
}

absl::Status LocalBlobWriter::RecordRange(ByteRange range) {
  ABSL_RETURN_IF_ERROR(CheckOpen());
  if (!identity_) {
    return absl::FailedPreconditionError(
        "a range was recorded before its identity was known");
  }
  if (range.begin < 0 || range.end <= range.begin) {
    return absl::InvalidArgumentError("a range without bytes was recorded");
  }
  if (identity_->empty()) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(SyncData(blob_->fd()));
  if (!journal_.valid()) {
    ABSL_ASSIGN_OR_RETURN(
        journal_, OpenAt(folders_.temporary.get(), blob_->journal_name(),
                         O_CREAT | O_TRUNC | O_RDWR, 0644));
    journal_size_ = 0;
    ABSL_RETURN_IF_ERROR(AppendToJournal(*identity_));
  }
  ABSL_RETURN_IF_ERROR(AppendToJournal(RangeLine(range)));
  blob_->SetKept(true);
  return absl::OkStatus();
}

absl::Status LocalBlobWriter::AppendToJournal(absl::string_view line) {
  const std::string sealed = SealLine(line);
  ABSL_RETURN_IF_ERROR(WriteAllAt(journal_.get(), journal_size_, sealed));
  journal_size_ += static_cast<int64_t>(sealed.size());
  return absl::OkStatus();
}

void LocalBlobWriter::Commit(absl::string_view sha256, int64_t size,
                             std::function<void(absl::Status)> done) {
  absl::Status status = CheckOpen();
  if (status.ok() && (!IsSha256Hex(sha256) || size < 0)) {
    status = absl::InvalidArgumentError(absl::StrCat(
        "no blob can have digest '", sha256, "' and ", size, " bytes"));
  }
  if (!status.ok()) {
    done(status);
    return;
  }
  committing_ = true;
  queue_.Add({blob_, std::string(sha256), size,
              [this, done = std::move(done)](const absl::Status& result) {
                if (!result.ok()) committing_ = false;
                done(result);
              }});
}

absl::Status LocalBlobWriter::DropJournal() {
  journal_ = UniqueFd();
  journal_size_ = 0;
  recovered_.clear();
  recovered_identity_.clear();
  if (unlinkat(folders_.temporary.get(), blob_->journal_name().c_str(), 0) ==
      0) {
    return SyncAll(folders_.temporary.get());
  }
  if (errno == ENOENT) return absl::OkStatus();
  return ErrnoStatus(errno, "remove", blob_->journal_name());
}

absl::Status LocalBlobWriter::Discard() {
  ABSL_RETURN_IF_ERROR(CheckOpen());
  ABSL_RETURN_IF_ERROR(DropJournal());
  if (ftruncate(blob_->fd(), 0) != 0) {
    return ErrnoStatus(errno, "empty", blob_->name());
  }
  blob_->SetKept(false);
  return absl::OkStatus();
}

}  // namespace bimbackup::storage::local
