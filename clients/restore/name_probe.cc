#include "clients/restore/name_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/storage/local/posix_file.h"
#include "services/common/random.h"

namespace bimbackup::restore {
namespace {

// What encrypted shares hold.
constexpr size_t kShortNameBytes = 143;

// An empty file that goes with it.
class ProbeFile {
 public:
  ProbeFile(int folder, std::string name)
      : folder_(folder),
        name_(std::move(name)),
        file_(openat(folder, name_.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600)),
        error_(file_.valid() ? 0 : errno) {}
  ~ProbeFile() {
    if (file_.valid()) unlinkat(folder_, name_.c_str(), 0);
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  bool ok() const { return file_.valid(); }
  int error() const { return error_; }

 private:
  const int folder_;
  const std::string name_;
  const storage::local::UniqueFd file_;
  const int error_;
};

}  // namespace

absl::StatusOr<NameRules> ProbeNameRules(int folder, const std::string& path) {
  SeededRandom random;
  const std::string name =
      absl::StrFormat(".bimbackup-restore-probe-%016x", random.Next());
  const ProbeFile plain(folder, name);
  if (!plain.ok()) {
    return storage::local::ErrnoStatus(plain.error(), "write into", path);
  }
  NameRules rules;
  struct stat info;
  rules.folds = fstatat(folder, absl::AsciiStrToUpper(name).c_str(), &info,
                        AT_SYMLINK_NOFOLLOW) == 0;
  rules.holds_reserved =
      ProbeFile(folder, absl::StrCat(name, "<>:\"\\|?*\x01. ")).ok();
  std::string long_name = name;
  long_name.resize(rules.max_bytes, 'x');
  if (!ProbeFile(folder, long_name).ok()) rules.max_bytes = kShortNameBytes;
  return rules;
}

}  // namespace bimbackup::restore
