// The seam over where a file's bytes come from, a block at a time.

#ifndef SERVICES_FILE_SCAN_READER_BLOCK_SOURCE_H_
#define SERVICES_FILE_SCAN_READER_BLOCK_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/file_scan/reader/line_counts.h"
#include "services/file_scan/reader/read_stats.h"

namespace bimbackup::file_scan::reader {

// The bytes of a file from some offset to its end. Not thread-safe. Fails as
// LineReader does; after a failure only destruction may follow.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // The next bytes; none at the end. The first block holds at least three
  // bytes where there are so many. Lives until the next call, or as long as
  // what Share() returned for it. Fails also when the block before was not
  // what the file held: see Check().
  virtual absl::StatusOr<absl::string_view> Next() = 0;

  // Shares the last block's memory; null when it is used again.
  virtual std::shared_ptr<const void> Share() const { return nullptr; }

  // Whether the last block is, to its end, what the file held; ABORTED, or
  // the error of reading it, otherwise. Always OK where bytes are copied.
  virtual absl::Status Check() { return absl::OkStatus(); }

  // Says that from now on only summaries of blocks are of use.
  virtual void CountOnly() {}

  // The last block's summary, where the source has made it already.
  virtual const BlockSummary* Summary() const { return nullptr; }

  // The offsets of the last block's line feeds, where the source has found
  // them already. Lives as long as the block.
  virtual std::optional<absl::Span<const uint32_t>> Index() const {
    return std::nullopt;
  }

  // What reading has cost so far.
  virtual ReadStats stats() const = 0;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_BLOCK_SOURCE_H_
