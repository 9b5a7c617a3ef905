#include "services/file_scan/reader/mapped_source.h"

#include <algorithm>
#include <utility>

#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {

MappedSource::MappedSource(std::shared_ptr<const InputFile> file,
                           int64_t offset, int64_t window_bytes)
    : file_(std::move(file)), offset_(offset), window_bytes_(window_bytes) {}

absl::StatusOr<absl::string_view> MappedSource::Next() {
  ABSL_RETURN_IF_ERROR(Check());
  window_.reset();
  if (offset_ >= file_->size()) return absl::string_view();
  const int64_t end =
      std::min(file_->size(), (offset_ / window_bytes_ + 1) * window_bytes_);
  ABSL_ASSIGN_OR_RETURN(window_,
                        MappedWindow::Map(file_, offset_, end - offset_));
  ++windows_;
  offset_ = end;
  return window_->bytes();
}

absl::Status MappedSource::Check() {
  return window_ == nullptr ? absl::OkStatus() : window_->Check();
}

}  // namespace bimbackup::file_scan::reader
