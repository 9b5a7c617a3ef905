// Text files made for measuring.

#ifndef SERVICES_FILE_SCAN_BENCH_CORPUS_H_
#define SERVICES_FILE_SCAN_BENCH_CORPUS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/file_scan/reader/input_file.h"

namespace bimbackup::file_scan::bench {

inline constexpr int64_t kMaxCorpusBytes = int64_t{4} << 30;
inline constexpr int kMaxMeanLineBytes = 1 << 20;

struct CorpusSpec {
  // 1 to kMaxCorpusBytes.
  int64_t bytes = int64_t{1} << 30;
  // With the line feed; 2 to kMaxMeanLineBytes. Lengths are spread evenly
  // from a quarter to seven quarters of it.
  int mean_line_bytes = 80;
  // The same seed gives the same bytes.
  uint64_t seed = 0;
};

// Writes a corpus to a file without a name in `folder`, which is gone once it
// is closed. INVALID_ARGUMENT for a spec out of its range; what the file
// system answers.
absl::StatusOr<std::shared_ptr<const reader::InputFile>> MakeCorpus(
    absl::string_view folder, const CorpusSpec& spec);

// Writes a corpus to the open file `fd`, from its current position on.
absl::Status WriteCorpus(int fd, const CorpusSpec& spec);

}  // namespace bimbackup::file_scan::bench

#endif  // SERVICES_FILE_SCAN_BENCH_CORPUS_H_
