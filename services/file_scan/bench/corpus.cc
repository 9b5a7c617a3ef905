#include "services/file_scan/bench/corpus.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::file_scan::bench {
namespace {

constexpr size_t kWriteBytes = 1 << 20;

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return absl::ErrnoToStatus(errno, "cannot write the corpus");
    }
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

// Random letters, long enough for any line to be cut from.
std::string LetterPool(std::mt19937_64& random) {
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyz0123456789,.;: -_/ABCDEFGHIJKLMNOPQRST";
  std::string pool(2 * kMaxMeanLineBytes + kWriteBytes, '\0');
  for (size_t i = 0; i < pool.size(); i += 8) {
    uint64_t bits = random();
    for (size_t j = i; j < std::min(i + 8, pool.size()); ++j) {
      pool[j] = kLetters[bits % 64];
      bits >>= 8;
    }
  }
  return pool;
}

// A file that is deleted already.
absl::StatusOr<int> OpenUnnamed(const std::string& folder) {
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Some file systems have no files without a name.
  std::string pattern = absl::StrCat(folder, "/bimbackup-corpus-XXXXXX");
  fd = mkostemp(pattern.data(), O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot make the corpus in ", folder));
  }
  unlink(pattern.c_str());
  return fd;
}

}  // namespace

absl::Status WriteCorpus(int fd, const CorpusSpec& spec) {
  std::mt19937_64 random(spec.seed);
  const std::string pool = LetterPool(random);
  const uint64_t least = std::max(1, spec.mean_line_bytes / 4);
  const uint64_t spread = 2 * (spec.mean_line_bytes - least) + 1;
  std::string buffer;
  int64_t left = spec.bytes;
  while (left > 0) {
    const size_t length = least + random() % spread - 1;
    const size_t begin = random() % kWriteBytes;
    buffer.append(pool, begin, length);
    buffer.push_back('\n');
    if (buffer.size() < kWriteBytes &&
        static_cast<int64_t>(buffer.size()) < left) {
      continue;
    }
    // The last line is cut, but ends as the others do.
    if (static_cast<int64_t>(buffer.size()) >= left) {
      buffer.resize(left);
      buffer.back() = '\n';
    }
    ABSL_RETURN_IF_ERROR(WriteAll(fd, buffer));
    left -= buffer.size();
    buffer.clear();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const reader::InputFile>> MakeCorpus(
    absl::string_view folder, const CorpusSpec& spec) {
  if (spec.bytes < 1 || spec.bytes > kMaxCorpusBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the corpus' size is ", spec.bytes, ", not within 1 to ",
                     kMaxCorpusBytes));
  }
  if (spec.mean_line_bytes < 2 || spec.mean_line_bytes > kMaxMeanLineBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the corpus' mean line is ", spec.mean_line_bytes,
                     " bytes, not within 2 to ", kMaxMeanLineBytes));
  }
  ABSL_ASSIGN_OR_RETURN(const int fd,
                        OpenUnnamed(std::string(folder.data(), folder.size())));
  absl::Status status = WriteCorpus(fd, spec);
  // What is not on the disk cannot be dropped from the page cache.
  if (status.ok() && fdatasync(fd) != 0) {
    status = absl::ErrnoToStatus(errno, "cannot write the corpus");
  }
  if (!status.ok()) {
    close(fd);
    return status;
  }
  return reader::InputFile::Adopt(fd, "corpus");
}

}  // namespace bimbackup::file_scan::bench
