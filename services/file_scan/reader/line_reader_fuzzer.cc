// Fuzzes all strategies against the reference. The first bytes of an input
// choose the options, the rest is the file.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "services/file_scan/reader/line_reader.h"
#include "services/file_scan/reader/reference_lines.h"

namespace bimbackup::file_scan::reader {
namespace {

constexpr size_t kOptionBytes = 5;

ReaderOptions OptionsFrom(const uint8_t* data, size_t content_size) {
  ReaderOptions options;
  options.buffer_bytes = 64 + data[0];
  options.max_line_bytes = data[1] < 128 ? 1 + data[1] * 3 : 1 << 20;
  options.drop_byte_order_mark = (data[2] & 1) != 0;
  options.threads = 1 + data[3] % 3;
  if (data[4] % 4 == 0) options.start_offset = content_size * data[4] / 256;
  return options;
}

[[noreturn]] void Fail(const char* what, const ReaderOptions& options) {
  std::fprintf(stderr, "%s: %s\n",
               std::string(StrategyName(options.strategy)).c_str(), what);
  std::abort();
}

void ExpectSame(const std::shared_ptr<const InputFile>& file,
                const ReaderOptions& options, const LinesRead& expected) {
  auto reader = OpenLineReader(file, options);
  if (!reader.ok()) {
    if (absl::IsUnavailable(reader.status())) return;
    Fail(reader.status().ToString().c_str(), options);
  }
  const std::string difference = Difference(ReadAll(**reader), expected);
  if (!difference.empty()) Fail(difference.c_str(), options);

  auto counter = OpenLineReader(file, options);
  if (!counter.ok()) Fail("does not open again", options);
  absl::StatusOr<LineCounts> counts = (*counter)->CountRest();
  if (counts.status() != expected.status) Fail("another status", options);
  if (!counts.ok()) return;
  const LineCounts reference = expected.Counts(options.start_offset);
  if (counts->lines != reference.lines ||
      counts->longest_line != reference.longest_line ||
      counts->unterminated != reference.unterminated) {
    Fail("other counts", options);
  }
}

}  // namespace

int FuzzOne(const uint8_t* data, size_t size) {
  if (size < kOptionBytes) return 0;
  const std::string content(reinterpret_cast<const char*>(data) + kOptionBytes,
                            size - kOptionBytes);
  ReaderOptions options = OptionsFrom(data, content.size());
  const LinesRead expected = ReferenceLines(content, options);
  const auto plain = FileHolding(content);
  const auto packed = FileHolding(Compressed(content, 64), "file.zst");
  for (const Strategy strategy :
       {Strategy::kBlocking, Strategy::kAsync, Strategy::kIoUring,
        Strategy::kMmap, Strategy::kParallel}) {
    options.strategy = strategy;
    ExpectSame(plain, options, expected);
    ExpectSame(packed, options, expected);
  }
  return 0;
}

}  // namespace bimbackup::file_scan::reader

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return bimbackup::file_scan::reader::FuzzOne(data, size);
}
