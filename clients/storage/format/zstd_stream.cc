#include "clients/storage/format/zstd_stream.h"

#include <zstd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::format {
namespace {

constexpr size_t kBufferBytes = 128 << 10;
constexpr size_t kMaxLineBytes = 16 << 20;

}  // namespace

ZstdWriter::ZstdWriter(std::unique_ptr<ObjectWriter> object, int level)
    : object_(std::move(object)),
      context_(ZSTD_createCCtx()),
      output_(kBufferBytes, '\0') {
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

ZstdWriter::~ZstdWriter() { ZSTD_freeCCtx(context_); }

absl::Status ZstdWriter::Append(absl::string_view bytes) {
  return Compress(bytes, /*end=*/false);
}

absl::Status ZstdWriter::Finish() { return Compress("", /*end=*/true); }

absl::Status ZstdWriter::Compress(absl::string_view bytes, bool end) {
  ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
  size_t left = 0;
  do {
    ZSTD_outBuffer output = {output_.data(), output_.size(), 0};
    left = ZSTD_compressStream2(context_, &output, &input,
                                end ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      return absl::InternalError(
          absl::StrCat("zstd failed: ", ZSTD_getErrorName(left)));
    }
    if (output.pos > 0) {
      ABSL_RETURN_IF_ERROR(
          object_->Append(absl::string_view(output_.data(), output.pos)));
    }
  } while (input.pos < input.size || (end && left > 0));
  return absl::OkStatus();
}

ZstdLineReader::ZstdLineReader(std::unique_ptr<ObjectReader> object)
    : object_(std::move(object)),
      context_(ZSTD_createDCtx()),
      input_(kBufferBytes, '\0') {}

ZstdLineReader::~ZstdLineReader() { ZSTD_freeDCtx(context_); }

absl::StatusOr<bool> ZstdLineReader::ReadInput() {
  if (input_begin_ < input_end_) return true;
  ABSL_ASSIGN_OR_RETURN(input_end_,
                        object_->ReadAt(offset_, input_.data(), input_.size()));
  input_begin_ = 0;
  offset_ += static_cast<int64_t>(input_end_);
  return input_end_ > 0;
}

absl::StatusOr<bool> ZstdLineReader::Fill() {
  ABSL_ASSIGN_OR_RETURN(const bool more, ReadInput());
  // At the end of the input the decoder may still hold output.
  if (!more && !in_frame_) return false;
  text_.erase(0, text_begin_);
  text_begin_ = 0;
  const size_t old_size = text_.size();
  text_.resize(old_size + kBufferBytes);
  ZSTD_inBuffer input = {input_.data(), input_end_, input_begin_};
  ZSTD_outBuffer output = {text_.data(), text_.size(), old_size};
  const size_t left = ZSTD_decompressStream(context_, &output, &input);
  text_.resize(output.pos);
  input_begin_ = input.pos;
  if (ZSTD_isError(left)) {
    return absl::DataLossError(
        absl::StrCat("a manifest is damaged: ", ZSTD_getErrorName(left)));
  }
  in_frame_ = left > 0;
  if (!more && in_frame_ && output.pos == old_size) {
    return absl::DataLossError("a manifest is cut short");
  }
  return true;
}

absl::StatusOr<std::optional<absl::string_view>> ZstdLineReader::Next() {
  size_t searched = text_begin_;
  while (true) {
    const size_t newline = text_.find('\n', searched);
    if (newline != std::string::npos) {
      const absl::string_view line(text_.data() + text_begin_,
                                   newline - text_begin_);
      text_begin_ = newline + 1;
      return line;
    }
    const size_t pending = text_.size() - text_begin_;
    if (pending > kMaxLineBytes) {
      return absl::DataLossError("a manifest has an endless line");
    }
    ABSL_ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more && pending > 0) {
      return absl::DataLossError("a manifest's last line is cut short");
    }
    if (!more) return std::nullopt;
    searched = text_begin_ + pending;
  }
}

}  // namespace bimbackup::storage::format
