#include "services/file_scan/reader/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/file_scan/reader/async_line_reader.h"
#include "services/file_scan/reader/block_line_reader.h"
#include "services/file_scan/reader/mapped_source.h"
#include "services/file_scan/reader/parallel_source.h"
#include "services/file_scan/reader/read_source.h"
#include "services/file_scan/reader/uring_source.h"
#include "services/file_scan/reader/zstd_source.h"

namespace bimbackup::file_scan::reader {
namespace {

using File = std::shared_ptr<const InputFile>;

absl::Status CheckRange(absl::string_view what, int64_t value, int64_t least,
                        int64_t greatest) {
  if (value >= least && value <= greatest) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, " is ", value, ", not within ", least, " to ", greatest));
}

absl::Status CheckOptions(const ReaderOptions& options) {
  ABSL_RETURN_IF_ERROR(CheckRange("the buffer size", options.buffer_bytes,
                                  kMinBufferBytes, kMaxBufferBytes));
  ABSL_RETURN_IF_ERROR(
      CheckRange("the number of threads", options.threads, 1, kMaxThreads));
  ABSL_RETURN_IF_ERROR(CheckRange("the line limit", options.max_line_bytes, 1,
                                  kGreatestMaxLineBytes));
  return options.start_offset >= 0
             ? absl::OkStatus()
             : absl::InvalidArgumentError("the start offset is negative");
}

bool IsCompressed(const InputFile& file, Decompression decompression) {
  switch (decompression) {
    case Decompression::kNone:
      return false;
    case Decompression::kZstd:
      return true;
    case Decompression::kByName:
      break;
  }
  return absl::EndsWith(file.name(), ".zst");
}

int64_t RoundedToPage(int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

absl::StatusOr<std::unique_ptr<BlockSource>> OpenSource(
    const File& file, const ReaderOptions& options) {
  const int64_t offset = options.start_offset;
  switch (options.strategy) {
    case Strategy::kIoUring: {
      ABSL_ASSIGN_OR_RETURN(
          std::unique_ptr<UringSource> source,
          UringSource::Create(file, offset, options.buffer_bytes));
      return std::unique_ptr<BlockSource>(std::move(source));
    }
    case Strategy::kMmap:
      return std::make_unique<MappedSource>(
          file, offset, RoundedToPage(options.buffer_bytes));
    case Strategy::kParallel:
      return std::make_unique<ParallelSource>(
          file, offset, options.buffer_bytes, options.threads,
          options.max_line_bytes);
    case Strategy::kBlocking:
    case Strategy::kAsync:
      break;
  }
  return std::make_unique<ReadSource>(file, offset, options.buffer_bytes);
}

// Compressed bytes are never mapped: the decompressor does not expect them to
// change while it looks at them.
absl::StatusOr<std::unique_ptr<BlockSource>> OpenCompressedSource(
    const File& file, const ReaderOptions& options) {
  ReaderOptions inner = options;
  inner.start_offset = 0;
  if (inner.strategy != Strategy::kIoUring) {
    inner.strategy = Strategy::kBlocking;
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<BlockSource> source,
                        OpenSource(file, inner));
  return std::make_unique<ZstdSource>(std::move(source), file->name(),
                                      options.start_offset,
                                      options.buffer_bytes);
}

}  // namespace

absl::string_view StrategyName(Strategy strategy) {
  switch (strategy) {
    case Strategy::kBlocking:
      return "blocking";
    case Strategy::kAsync:
      return "async";
    case Strategy::kIoUring:
      return "io_uring";
    case Strategy::kMmap:
      return "mmap";
    case Strategy::kParallel:
      return "parallel";
  }
  return "unknown";
}

int64_t DefaultBufferBytes(Strategy strategy) {
  switch (strategy) {
    case Strategy::kMmap:
      return int64_t{2} << 20;
    case Strategy::kBlocking:
    case Strategy::kIoUring:
      return int64_t{1} << 20;
    case Strategy::kAsync:
    case Strategy::kParallel:
      break;
  }
  return int64_t{256} << 10;
}

absl::StatusOr<std::unique_ptr<LineReader>> OpenLineReader(
    std::shared_ptr<const InputFile> file, const ReaderOptions& given) {
  ReaderOptions options = given;
  if (options.buffer_bytes == 0) {
    options.buffer_bytes = DefaultBufferBytes(options.strategy);
  }
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  const bool compressed = IsCompressed(*file, options.decompression);
  if (!compressed && options.start_offset > file->size()) {
    return absl::OutOfRangeError(
        absl::StrCat("the start offset is ", options.start_offset, ", but ",
                     file->name(), " has ", file->size(), " bytes"));
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<BlockSource> source,
                        compressed ? OpenCompressedSource(file, options)
                                   : OpenSource(file, options));
  if (options.strategy == Strategy::kAsync) {
    return std::make_unique<AsyncLineReader>(std::move(source), options);
  }
  return std::make_unique<BlockLineReader>(std::move(source), options);
}

absl::Status ForEachLine(
    LineReader& reader,
    const std::function<absl::Status(absl::string_view line)>& visit) {
  LineBatch batch;
  for (;;) {
    ABSL_ASSIGN_OR_RETURN(const bool more, reader.Next(batch));
    if (!more) return absl::OkStatus();
    for (size_t i = 0; i < batch.size(); ++i) {
      ABSL_RETURN_IF_ERROR(visit(batch.line(i)));
    }
  }
}

}  // namespace bimbackup::file_scan::reader
