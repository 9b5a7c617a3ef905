#include "clients/restore/storage_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/restore/item_stream.h"
#include "clients/restore/snapshot_stream.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

class StorageBlobStream : public BlobStream {
 public:
  StorageBlobStream(std::unique_ptr<storage::ObjectReader> reader,
                    int64_t offset)
      : reader_(std::move(reader)), offset_(offset) {}

  absl::StatusOr<absl::string_view> Next() override {
    const auto left =
        static_cast<size_t>(std::max<int64_t>(0, reader_->size() - offset_));
    buffer_.resize(std::min(left, kMaxBlobBytes));
    ABSL_ASSIGN_OR_RETURN(
        const size_t size,
        reader_->ReadAt(offset_, buffer_.data(), buffer_.size()));
    offset_ += static_cast<int64_t>(size);
    return absl::string_view(buffer_.data(), size);
  }

 private:
  const std::unique_ptr<storage::ObjectReader> reader_;
  int64_t offset_;
  std::string buffer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EntryStream>> StorageSource::ListEntries(
    const Selection& selection) {
  if (selection.item_id.empty()) {
    return SnapshotStream::Open(storage_, selection);
  }
  return ItemStream::Open(storage_, selection);
}

absl::StatusOr<std::unique_ptr<BlobStream>> StorageSource::OpenBlob(
    absl::string_view sha256, int64_t offset) {
  if (!IsSha256Hex(sha256)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sha256: \"", sha256, "\" is not 64 hexadecimal digits"));
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<storage::ObjectReader> reader,
                        storage_.OpenBlob(sha256));
  if (offset < 0 || offset > reader->size()) {
    return absl::OutOfRangeError(absl::StrCat(
        "offset: ", offset, " is not within the ", reader->size(), " bytes"));
  }
  return std::make_unique<StorageBlobStream>(std::move(reader), offset);
}

}  // namespace bimbackup::restore
