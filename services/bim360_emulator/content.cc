#include "services/bim360_emulator/content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr int64_t kSparseHead = 64 << 10;
constexpr size_t kDigestStep = 128 << 10;

// Counter mode: a word depends on the seed and its own index alone.
inline uint64_t WordAt(uint64_t seed, uint64_t index) {
  uint64_t word = seed + (index + 1) * 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

void Generate(uint64_t seed, uint64_t offset, char* out, size_t count) {
  uint64_t index = offset / 8;
  const size_t skip = offset % 8;
  if (skip != 0) {
    const uint64_t word = WordAt(seed, index++);
    const size_t step = std::min(count, 8 - skip);
    std::memcpy(out, reinterpret_cast<const char*>(&word) + skip, step);
    out += step;
    count -= step;
  }
  for (; count >= 8; count -= 8, out += 8) {
    const uint64_t word = WordAt(seed, index++);
    std::memcpy(out, &word, 8);
  }
  if (count > 0) {
    const uint64_t word = WordAt(seed, index);
    std::memcpy(out, &word, count);
  }
}

class Generated : public Content {
 public:
  Generated(uint64_t seed, int64_t size, int64_t head)
      : seed_(seed), size_(size), head_(std::min(size, head)) {}

  int64_t size() const override { return size_; }

  bool Read(int64_t offset, char* out, size_t count) const override {
    if (offset < head_) {
      const size_t step = std::min<int64_t>(count, head_ - offset);
      Generate(seed_, offset, out, step);
      out += step;
      count -= step;
    }
    std::memset(out, 0, count);
    return true;
  }

 private:
  const uint64_t seed_;
  const int64_t size_;
  const int64_t head_;  // Zeros follow from here on.
};

class Literal : public Content {
 public:
  explicit Literal(std::string bytes) : bytes_(std::move(bytes)) {}

  int64_t size() const override { return bytes_.size(); }

  bool Read(int64_t offset, char* out, size_t count) const override {
    std::memcpy(out, bytes_.data() + offset, count);
    return true;
  }

 private:
  const std::string bytes_;
};

class OnDisk : public Content {
 public:
  OnDisk(int descriptor, int64_t size) : descriptor_(descriptor), size_(size) {}
  ~OnDisk() override { close(descriptor_); }

  int64_t size() const override { return size_; }

  bool Read(int64_t offset, char* out, size_t count) const override {
    while (count > 0) {
      const ssize_t got = pread(descriptor_, out, count, offset);
      if (got <= 0) return false;
      offset += got;
      out += got;
      count -= got;
    }
    return true;
  }

 private:
  const int descriptor_;
  const int64_t size_;
};

}  // namespace

std::shared_ptr<const Content> GeneratedContent(uint64_t seed, int64_t size) {
  return std::make_shared<Generated>(seed, size, size);
}

std::shared_ptr<const Content> SparseContent(uint64_t seed, int64_t size) {
  return std::make_shared<Generated>(seed, size, kSparseHead);
}

std::shared_ptr<const Content> LiteralContent(std::string bytes) {
  return std::make_shared<Literal>(std::move(bytes));
}

absl::StatusOr<std::shared_ptr<const Content>> DiskContent(
    const std::string& path) {
  const int descriptor =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (descriptor < 0) {
    return absl::NotFoundError(absl::StrCat("cannot open ", path));
  }
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return absl::NotFoundError(absl::StrCat(path, " is not a regular file"));
  }
  return std::make_shared<OnDisk>(descriptor, status.st_size);
}

std::string ContentDigest(const Content& content, DigestKind kind) {
  Digest digest(kind);
  std::vector<char> buffer(std::min<int64_t>(kDigestStep, content.size()));
  for (int64_t offset = 0; offset < content.size();) {
    const size_t step =
        std::min<int64_t>(buffer.size(), content.size() - offset);
    if (!content.Read(offset, buffer.data(), step)) return "";
    digest.Update(absl::string_view(buffer.data(), step));
    offset += step;
  }
  return digest.FinishHex();
}

}  // namespace bimbackup::bim360_emulator
