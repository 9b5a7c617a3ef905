// zstd over a storage's objects, as streams of bounded memory.

#ifndef CLIENTS_STORAGE_FORMAT_ZSTD_STREAM_H_
#define CLIENTS_STORAGE_FORMAT_ZSTD_STREAM_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace bimbackup::storage::format {

// Compresses into an object. Not thread-safe.
class ZstdWriter {
 public:
  // `level` is zstd's.
  explicit ZstdWriter(std::unique_ptr<ObjectWriter> object, int level = 3);
  ~ZstdWriter();

  absl::Status Append(absl::string_view bytes);
  // Ends the compressed stream; only Commit() may follow.
  absl::Status Finish();
  absl::Status Commit(absl::string_view key) { return object_->Commit(key); }

 private:
  absl::Status Compress(absl::string_view bytes, bool end);

  const std::unique_ptr<ObjectWriter> object_;
  ZSTD_CCtx_s* const context_;
  std::string output_;
};

// Decompresses an object and splits it into lines. Not thread-safe.
class ZstdLineReader {
 public:
  explicit ZstdLineReader(std::unique_ptr<ObjectReader> object);
  ~ZstdLineReader();

  // The next line without its newline, valid until the next call; nothing
  // after the last. DATA_LOSS for what is no complete zstd stream, ends
  // without a newline or has an endless line.
  absl::StatusOr<std::optional<absl::string_view>> Next();

 private:
  // Adds decompressed bytes to text_; false at the end.
  absl::StatusOr<bool> Fill();
  absl::StatusOr<bool> ReadInput();

  const std::unique_ptr<ObjectReader> object_;
  ZSTD_DCtx_s* const context_;
  std::string input_;
  size_t input_begin_ = 0;
  size_t input_end_ = 0;
  int64_t offset_ = 0;
  // Whether a zstd frame has begun and not ended.
  bool in_frame_ = false;
  // Decompressed, from text_begin_ on not yet given out.
  std::string text_;
  size_t text_begin_ = 0;
};

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_ZSTD_STREAM_H_
