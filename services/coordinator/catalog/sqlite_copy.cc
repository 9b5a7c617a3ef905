// SqliteCatalogImpl's copies of itself.

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"

namespace bimbackup::catalog {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

// Removes the file, and what SQLite leaves beside one, at both ends.
class TemporaryCopy {
 public:
  explicit TemporaryCopy(std::string path) : path_(std::move(path)) {
    Remove();
  }
  ~TemporaryCopy() { Remove(); }

  const std::string& path() const { return path_; }

 private:
  void Remove() const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      unlink(absl::StrCat(path_, suffix).c_str());
    }
  }

  const std::string path_;
};

absl::Status StreamFile(const std::string& path,
                        const Catalog::CopySink& sink) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(kBufferBytes);
  absl::Status status;
  ssize_t size = fd < 0 ? -1 : 1;
  while (size > 0 && status.ok()) {
    size = read(fd, buffer.data(), buffer.size());
    if (size > 0) {
      status = sink({buffer.data(), static_cast<size_t>(size)});
    }
  }
  if (size < 0) {
    status = absl::UnavailableError(
        absl::StrCat("cannot read ", path, ": ", strerror(errno)));
  }
  if (fd >= 0) close(fd);
  return status;
}

}  // namespace

absl::Status SqliteCatalogImpl::StreamCopy(const CopySink& sink) {
  const TemporaryCopy copy(absl::StrCat(path_, ".copy"));
  // A connection of its own: it is busy for long.
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Database> source,
                        Database::Open(path_, Database::Mode::kReadOnly));
  ABSL_RETURN_IF_ERROR(source->CopyTo(copy.path(), [&] { return sink(""); }));
  return StreamFile(copy.path(), sink);
}

}  // namespace bimbackup::catalog
