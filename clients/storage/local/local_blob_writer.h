// LocalStorage's BlobWriter: a locked temporary file and its journal.

#ifndef CLIENTS_STORAGE_LOCAL_LOCAL_BLOB_WRITER_H_
#define CLIENTS_STORAGE_LOCAL_LOCAL_BLOB_WRITER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/local/commit_queue.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/local/temporary_blob.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::local {

// Thread-safe as BlobWriter says. The queue outlives it.
class LocalBlobWriter : public BlobWriter {
 public:
  static absl::StatusOr<std::unique_ptr<LocalBlobWriter>> Open(
      const StorageFolders& folders, CommitQueue& queue,
      absl::string_view storage_urn);

  const std::vector<ByteRange>& recovered() const override {
    return recovered_;
  }
  absl::Status SetIdentity(const ContentIdentity& identity) override;
  absl::Status WriteAt(int64_t offset, absl::string_view bytes) override;
  absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                size_t size) override;
  absl::Status RecordRange(ByteRange range) override;
  void Commit(absl::string_view sha256, int64_t size,
              std::function<void(absl::Status)> done) override;
  absl::Status Discard() override;

 private:
  LocalBlobWriter(const StorageFolders& folders, CommitQueue& queue,
                  absl::string_view storage_urn,
                  std::unique_ptr<TemporaryBlob> blob);

  // Takes up what an earlier attempt left, if it is any good.
  absl::Status Recover();
  absl::Status ReadJournal();
  // Removes the journal, durably: it must not come back to vouch for bytes
  // that are written later.
  absl::Status DropJournal();
  absl::Status AppendToJournal(absl::string_view line);
  absl::Status CheckOpen() const;

  const StorageFolders& folders_;
  CommitQueue& queue_;
  const std::string storage_urn_;
  std::shared_ptr<TemporaryBlob> blob_;
  // Open while something is recorded.
  UniqueFd journal_;
  int64_t journal_size_ = 0;
  std::vector<ByteRange> recovered_;
  // Of the journal that was found; empty where there is none.
  std::string recovered_identity_;
  // Nothing before SetIdentity(); empty where it can pin nothing.
  std::optional<std::string> identity_;
  std::atomic<bool> committing_ = false;
};

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_LOCAL_BLOB_WRITER_H_
