#include "services/download_worker/engine/partial_blob.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/download_worker/engine/part_plan.h"

namespace bimbackup::engine {
namespace {

// What one turn reads back: long enough to be worth it, short enough to let
// the other events of the transfer in between, and other transfers.
constexpr int64_t kCatchUpBytes = 1 << 20;

}  // namespace

PartialBlob::PartialBlob(std::unique_ptr<storage::BlobWriter> writer,
                         std::string storage_urn, const Source& source,
                         int64_t journal_from, bool digests)
    : writer_(std::move(writer)),
      storage_urn_(std::move(storage_urn)),
      journal_from_(journal_from),
      digests_(digests),
      frontier_(NewFrontier(source)) {
  SetSource(source);
}

std::unique_ptr<DigestFrontier> PartialBlob::NewFrontier(
    const Source& source) const {
  return std::make_unique<DigestFrontier>(digests_ && !source.sha1.empty(),
                                          digests_);
}

void PartialBlob::TakeSource(const Source& source) {
  if (!size_.has_value()) size_ = SourceSize(source);
  std::vector<Border> borders;
  for (const SourceRange& range : source.ranges) {
    borders.push_back({.begin = range.first,
                       .end = range.last < 0
                                  ? size_
                                  : std::optional<int64_t>(range.last + 1)});
  }
  // One and the same object keeps its ETag through another signature.
  if (borders.size() == 1 && borders_.size() == 1) {
    borders[0].etag = borders_[0].etag;
  }
  borders_ = std::move(borders);
}

void PartialBlob::SetSource(const Source& source) {
  MutexLock lock(mutex_);
  TakeSource(source);
}

absl::Status PartialBlob::PinSize(const PartHead& head) {
  if (!head.url_size.has_value()) return absl::OkStatus();
  Border& border = borders_[head.range_index];
  const int64_t end = border.begin + *head.url_size;
  if (border.end.has_value() && *border.end != end) {
    return absl::FailedPreconditionError(
        absl::StrCat("the object has ", *head.url_size, " bytes where ",
                     *border.end - border.begin, " were announced"));
  }
  border.end = end;
  if (head.range_index + 1 == borders_.size()) size_ = end;
  return absl::OkStatus();
}

absl::Status PartialBlob::PinEtag(const PartHead& head) {
  std::string& etag = borders_[head.range_index].etag;
  if (!etag.empty() && !head.etag.empty() && etag != head.etag) {
    return absl::FailedPreconditionError(
        "the object changed while it was fetched: it has another ETag");
  }
  if (etag.empty()) etag = head.etag;
  return absl::OkStatus();
}

bool PartialBlob::Journaled() const {
  return (size_.has_value() && *size_ >= journal_from_) ||
         !writer_->recovered().empty();
}

absl::Status PartialBlob::Pin(const PartHead& head) {
  MutexLock lock(mutex_);
  if (head.range_index >= borders_.size()) {
    return absl::FailedPreconditionError("the source was signed otherwise");
  }
  ABSL_RETURN_IF_ERROR(PinSize(head));
  ABSL_RETURN_IF_ERROR(PinEtag(head));
  pinned_ = true;
  if (identity_set_ || !Journaled()) return absl::OkStatus();
  identity_set_ = true;
  // The chunks of a file that Autodesk has not merged yet have ETags of their
  // own, so nothing of it is taken up again.
  const std::string etag = borders_.size() == 1 ? borders_[0].etag : "";
  absl::Status set = writer_->SetIdentity(
      {.storage_urn = storage_urn_, .size = size_, .etag = etag});
  if (!absl::IsFailedPrecondition(set)) return set;
  return absl::UnavailableError(set.message());
}

bool PartialBlob::pinned() const {
  MutexLock lock(mutex_);
  return pinned_;
}

std::optional<int64_t> PartialBlob::size() const {
  MutexLock lock(mutex_);
  return size_;
}

std::string PartialBlob::etag(size_t range_index) const {
  MutexLock lock(mutex_);
  return range_index < borders_.size() ? borders_[range_index].etag : "";
}

absl::StatusOr<bool> PartialBlob::Write(int64_t offset,
                                        absl::string_view bytes) {
  ABSL_RETURN_IF_ERROR(writer_->WriteAt(offset, bytes));
  const auto size = static_cast<int64_t>(bytes.size());
  bytes_done_ += size;
  return frontier_->AddWritten({offset, offset + size});
}

bool PartialBlob::AdoptRecovered() {
  bool wants_catch_up = false;
  for (const storage::ByteRange& range : writer_->recovered()) {
    bytes_done_ += range.end - range.begin;
    wants_catch_up |= frontier_->AddWritten(range);
  }
  return wants_catch_up;
}

absl::StatusOr<bool> PartialBlob::CatchUp() {
  return frontier_->CatchUp(*writer_, kCatchUpBytes);
}

absl::Status PartialBlob::Record(storage::ByteRange range) {
  if (!journaled() || range.begin >= range.end) return absl::OkStatus();
  return writer_->RecordRange(range);
}

bool PartialBlob::journaled() const {
  MutexLock lock(mutex_);
  return identity_set_;
}

absl::Status PartialBlob::Reset(const Source& source) {
  frontier_ = NewFrontier(source);
  bytes_done_ = 0;
  MutexLock lock(mutex_);
  borders_.clear();
  size_ = std::nullopt;
  TakeSource(source);
  pinned_ = false;
  identity_set_ = false;
  return writer_->Discard();
}

}  // namespace bimbackup::engine
