// The list that the text which started this project kept its lines in.

#ifndef SERVICES_FILE_SCAN_BENCH_KEPT_LINES_H_
#define SERVICES_FILE_SCAN_BENCH_KEPT_LINES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/file_scan/reader/line_batch.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::bench {

// A list of lines that is cleared when it holds kMaxLines, or kMaxBytes of
// them: lines of a mebibyte would otherwise hold a whole file. Not
// thread-safe.
class KeptLines {
 public:
  static constexpr size_t kMaxLines = 10'000;
  static constexpr size_t kMaxBytes = size_t{8} << 20;

  // Adds copies of the batch's lines.
  void AddCopies(const reader::LineBatch& batch);

  // Adds views of the batch's lines, which keep `memory` alive.
  void AddViews(const reader::LineBatch& batch,
                std::shared_ptr<const void> memory);

  const std::vector<absl::string_view>& lines() const { return lines_; }
  // Lines added, and times that the list was cleared.
  size_t added() const { return added_; }
  size_t cleared() const { return cleared_; }

 private:
  // How many of the batch's lines, from `first` on, there is room for; clears
  // the list where there is none.
  size_t MakeRoom(const reader::LineBatch& batch, size_t first);
  void Clear();
  // Memory for `size` bytes that lives until the list is cleared.
  char* Allocate(size_t size);

  std::vector<absl::string_view> lines_;
  size_t bytes_ = 0;
  std::vector<std::shared_ptr<const void>> shared_;
  // Copies lie in blocks that are used again after the list is cleared.
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t blocks_used_ = 0;
  size_t block_left_ = 0;
  char* next_ = nullptr;
  size_t added_ = 0;
  size_t cleared_ = 0;
};

}  // namespace bimbackup::file_scan::bench

#endif  // SERVICES_FILE_SCAN_BENCH_KEPT_LINES_H_
