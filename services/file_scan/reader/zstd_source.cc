#include "services/file_scan/reader/zstd_source.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {
namespace {

constexpr int kMaxWindowLog = 27;

}  // namespace

void ZstdSource::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

ZstdSource::ZstdSource(std::unique_ptr<BlockSource> compressed,
                       std::string name, int64_t start_offset,
                       int64_t buffer_bytes)
    : compressed_(std::move(compressed)),
      name_(std::move(name)),
      context_(ZSTD_createDCtx()),
      to_skip_(start_offset),
      pool_(buffer_bytes) {
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
}

absl::StatusOr<absl::string_view> ZstdSource::Next() {
  for (;;) {
    ABSL_ASSIGN_OR_RETURN(absl::string_view block, Fill());
    if (block.empty() && to_skip_ > 0) {
      return absl::OutOfRangeError(
          absl::StrCat("the start offset is beyond the end of ", name_));
    }
    const size_t skipped = std::min<int64_t>(to_skip_, block.size());
    to_skip_ -= skipped;
    if (skipped < block.size() || block.empty()) return block.substr(skipped);
  }
}

absl::StatusOr<absl::string_view> ZstdSource::Fill() {
  buffer_.reset();
  buffer_ = pool_.Take();
  ZSTD_outBuffer output = {buffer_->data(), buffer_->size(), 0};
  while (output.pos < output.size) {
    ABSL_ASSIGN_OR_RETURN(const bool more, Refill());
    // Without input there may still be output from what was taken before.
    if (!more && !in_frame_) break;
    ZSTD_inBuffer input = {input_.data(), input_.size(), 0};
    const size_t written_before = output.pos;
    const size_t result =
        ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_isError(result)) {
      return absl::DataLossError(
          absl::StrCat(name_, " is damaged: ", ZSTD_getErrorName(result)));
    }
    input_.remove_prefix(input.pos);
    in_frame_ = result != 0;
    if (!more && in_frame_ && output.pos == written_before) {
      return absl::DataLossError(
          absl::StrCat(name_, " is cut short: its last frame has no end"));
    }
  }
  return absl::string_view(buffer_->data(), output.pos);
}

absl::StatusOr<bool> ZstdSource::Refill() {
  if (input_.empty()) {
    ABSL_ASSIGN_OR_RETURN(input_, compressed_->Next());
  }
  return !input_.empty();
}

}  // namespace bimbackup::file_scan::reader
