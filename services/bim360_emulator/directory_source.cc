#include "services/bim360_emulator/directory_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/bim360_emulator/ids.h"
#include "simdjson.h"

namespace bimbackup::bim360_emulator {
namespace {

struct Entry {
  std::string name;
  struct stat status;
};

// Files and folders in `path`, by name; nothing of what cannot be read.
std::vector<Entry> ReadFolder(const std::string& path) {
  std::vector<Entry> entries;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return entries;
  while (const dirent* found = readdir(folder)) {
    Entry entry{found->d_name, {}};
    if (entry.name == "." || entry.name == "..") continue;
    if (fstatat(dirfd(folder), found->d_name, &entry.status,
                AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (S_ISREG(entry.status.st_mode) || S_ISDIR(entry.status.st_mode)) {
      entries.push_back(std::move(entry));
    }
  }
  closedir(folder);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

// A name as JSON can hold it.
std::string ToUtf8(const std::string& name) {
  if (simdjson::validate_utf8(name)) return name;
  std::string out;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x80) {
      out.push_back(c);
    } else {
      absl::StrAppendFormat(&out, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string LastName(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  return name.empty() ? "root" : name;
}

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

DirectorySource::DirectorySource(std::string root, Account& account)
    : root_(WithoutTrailingSlashes(std::move(root))), account_(account) {}

absl::Status DirectorySource::Scan() {
  DIR* folder = opendir(root_.c_str());
  if (folder == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("dir:", root_, " is not a readable folder"));
  }
  closedir(folder);
  MutexLock lock(mutex_);
  Update();
  account_.SettleRollups();
  return absl::OkStatus();
}

void DirectorySource::Rescan() {
  MutexLock lock(mutex_);
  Update();
}

uint32_t DirectorySource::ProjectFolder(const std::string& path,
                                        const std::string& name) {
  seen_.insert(path);
  const auto known = folders_.find(path);
  if (known != folders_.end()) return known->second;
  const uint32_t project = account_.AddProject(ToUtf8(name), ProjectKind::kAcc);
  const uint32_t folder =
      account_.AddFolder(account_.RootFolder(project), "Project Files",
                         FolderType::kNormal, KeyOf(path));
  folders_[path] = folder;
  return folder;
}

void DirectorySource::Update() {
  seen_.clear();
  bool loose_files = false;
  for (const Entry& entry : ReadFolder(root_)) {
    if (S_ISREG(entry.status.st_mode)) {
      loose_files = true;
      continue;
    }
    const std::string path = absl::StrCat(root_, "/", entry.name);
    VisitFolder(path, ProjectFolder(path, entry.name), /*files=*/true,
                /*folders=*/true);
  }
  if (loose_files || folders_.contains(root_)) {
    VisitFolder(root_, ProjectFolder(root_, LastName(root_)), /*files=*/true,
                /*folders=*/false);
  }
  HideUnseen();
}

uint64_t DirectorySource::KeyOf(const std::string& path) {
  const auto vanished = vanished_.find(path);
  return StableHash(
      path,
      account_.seed() + (vanished == vanished_.end() ? 0 : vanished->second));
}

void DirectorySource::VisitFolder(const std::string& path, uint32_t folder,
                                  bool files, bool folders) {
  for (const Entry& entry : ReadFolder(path)) {
    const std::string child = absl::StrCat(path, "/", entry.name);
    if (S_ISREG(entry.status.st_mode)) {
      if (files) VisitFile(child, entry.name, folder, entry.status);
      continue;
    }
    if (!folders) continue;
    seen_.insert(child);
    const auto known = folders_.find(child);
    const uint32_t index =
        known != folders_.end()
            ? known->second
            : account_.AddFolder(folder, ToUtf8(entry.name),
                                 FolderType::kNormal, KeyOf(child));
    folders_[child] = index;
    VisitFolder(child, index, files, folders);
  }
}

void DirectorySource::VisitFile(const std::string& path,
                                const std::string& name, uint32_t folder,
                                const struct stat& status) {
  seen_.insert(path);
  FileSpec spec;
  spec.size = status.st_size;
  spec.content = ContentKind::kDisk;
  spec.bytes = path;
  spec.modified = status.st_mtim.tv_sec;
  const uint64_t storage_key = StableHash(
      absl::StrCat(path, "|", status.st_size, "|", status.st_mtim.tv_sec, "|",
                   status.st_mtim.tv_nsec, "|", status.st_ino),
      account_.seed());
  const auto known = files_.find(path);
  if (known == files_.end()) {
    const uint32_t item =
        account_.AddItem(folder, ToUtf8(name), spec, KeyOf(path), storage_key);
    files_[path] = {item, storage_key};
    return;
  }
  if (known->second.storage_key == storage_key) return;
  account_.AddVersion(known->second.item, spec, storage_key);
  known->second.storage_key = storage_key;
}

void DirectorySource::HideUnseen() {
  std::vector<std::string> gone;
  for (const auto& [path, file] : files_) {
    if (seen_.contains(path)) continue;
    account_.HideItem(file.item);
    gone.push_back(path);
  }
  for (const auto& [path, folder] : folders_) {
    if (seen_.contains(path)) continue;
    account_.HideFolder(folder);
    gone.push_back(path);
  }
  for (const std::string& path : gone) {
    files_.erase(path);
    folders_.erase(path);
    ++vanished_[path];
  }
}

}  // namespace bimbackup::bim360_emulator
