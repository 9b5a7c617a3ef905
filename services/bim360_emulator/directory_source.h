// Makes an account of a real folder tree.

#ifndef SERVICES_BIM360_EMULATOR_DIRECTORY_SOURCE_H_
#define SERVICES_BIM360_EMULATOR_DIRECTORY_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "services/bim360_emulator/account.h"
#include "services/common/mutex.h"

struct stat;

namespace bimbackup::bim360_emulator {

// Each folder in the root is a project with one top folder, "Project Files",
// which stands for the folder itself; files directly in the root go to a
// project that has the root's name. Links and what is neither file nor
// folder, or cannot be read, are left out. In a name that is not UTF-8,
// every byte above 127 is passed as %XX. Identifiers depend on paths alone,
// storage objects also on size, time of modification and inode, so that both
// outlive a restart. A file that changed is a new version. Thread-safe.
class DirectorySource {
 public:
  // `account` outlives this.
  DirectorySource(std::string root, Account& account);

  // Fills the account. NOT_FOUND when the root is no readable folder.
  absl::Status Scan();

  // Brings the account up to what is on disk now.
  void Rescan();

 private:
  struct File {
    uint32_t item = 0;
    uint64_t storage_key = 0;
  };

  void Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `files` and `folders` choose what of `path` is taken.
  void VisitFolder(const std::string& path, uint32_t folder, bool files,
                   bool folders) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void VisitFile(const std::string& path, const std::string& name,
                 uint32_t folder, const struct ::stat& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint32_t ProjectFolder(const std::string& path, const std::string& name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t KeyOf(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HideUnseen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string root_;
  Account& account_;
  Mutex mutex_;
  absl::flat_hash_map<std::string, File> files_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> folders_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  // How often a path has vanished: one that comes back is another item.
  absl::flat_hash_map<std::string, uint64_t> vanished_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_DIRECTORY_SOURCE_H_
