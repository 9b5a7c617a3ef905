#include "services/file_scan/reader/reference_lines.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::file_scan::reader {

LineCounts LinesRead::Counts(int64_t start_offset) const {
  LineCounts counts;
  counts.lines = lines.size();
  counts.bytes =
      (offsets.empty() ? start_offset : offsets[0]) + raw.size() - start_offset;
  for (const std::string& line : lines) {
    counts.longest_line = std::max<int64_t>(counts.longest_line, line.size());
  }
  counts.unterminated = unterminated;
  return counts;
}

LinesRead ReferenceLines(absl::string_view content,
                         const ReaderOptions& options) {
  LinesRead result;
  size_t at = options.start_offset;
  if (at == 0 && options.drop_byte_order_mark &&
      absl::StartsWith(content, "\xef\xbb\xbf")) {
    at = 3;
  }
  while (at < content.size()) {
    const size_t begin = at;
    std::string line;
    bool ended = false;
    while (at < content.size() && !ended) {
      const char byte = content[at++];
      ended = byte == '\n';
      if (!ended) line.push_back(byte);
    }
    if (ended && !line.empty() && line.back() == '\r') line.pop_back();
    if (static_cast<int64_t>(line.size()) > options.max_line_bytes) {
      result.status = LineTooLong(begin, options.max_line_bytes);
      return result;
    }
    result.lines.push_back(line);
    result.offsets.push_back(begin);
    result.raw.append(content.data() + begin, at - begin);
    result.unterminated = !ended;
  }
  return result;
}

LinesRead ReadAll(LineReader& reader, int max_batches) {
  LinesRead result;
  LineBatch batch;
  for (int i = 0; i < max_batches; ++i) {
    absl::StatusOr<bool> more = reader.Next(batch);
    if (!more.ok()) result.status = more.status();
    if (!more.ok() || !*more) return result;
    batch.ForEach([&result](absl::string_view line) {
      result.lines.emplace_back(line.data(), line.size());
    });
    for (size_t i = 0; i < batch.size(); ++i) {
      result.offsets.push_back(batch.offset() + batch.raw_offset(i));
    }
    result.raw.append(batch.raw().data(), batch.raw().size());
    result.unterminated = batch.unterminated();
  }
  return result;
}

std::shared_ptr<const InputFile> FileHolding(absl::string_view content,
                                             absl::string_view name) {
  const int fd = memfd_create("lines", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < content.size()) {
    const ssize_t written =
        write(fd, content.data() + done, content.size() - done);
    if (written <= 0) break;
    done += written;
  }
  absl::StatusOr<std::shared_ptr<const InputFile>> file =
      InputFile::Adopt(fd, name);
  return file.ok() ? *std::move(file) : nullptr;
}

std::string Compressed(absl::string_view content, size_t frame_bytes) {
  std::string result;
  while (!content.empty()) {
    const absl::string_view part = content.substr(0, frame_bytes);
    std::string frame(ZSTD_compressBound(part.size()), '\0');
    frame.resize(
        ZSTD_compress(frame.data(), frame.size(), part.data(), part.size(), 1));
    result += frame;
    content.remove_prefix(part.size());
  }
  return result;
}

std::string Difference(const LinesRead& read, const LinesRead& expected) {
  if (read.status != expected.status) {
    return absl::StrCat("status ", read.status.ToString(), ", not ",
                        expected.status.ToString());
  }
  const size_t common = std::min(read.lines.size(), expected.lines.size());
  for (size_t i = 0; i < common; ++i) {
    if (read.lines[i] != expected.lines[i] ||
        read.offsets[i] != expected.offsets[i]) {
      return absl::StrCat("line ", i, " is \"", read.lines[i], "\" at ",
                          read.offsets[i], ", not \"", expected.lines[i],
                          "\" at ", expected.offsets[i]);
    }
  }
  if (read.lines.size() != expected.lines.size()) {
    return absl::StrCat(read.lines.size(), " lines, not ",
                        expected.lines.size());
  }
  if (read.raw != expected.raw) return "raw bytes differ";
  if (read.unterminated != expected.unterminated) return "unterminated differs";
  return "";
}

}  // namespace bimbackup::file_scan::reader
