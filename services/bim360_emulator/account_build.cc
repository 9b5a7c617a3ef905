#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/account.h"
#include "services/bim360_emulator/account_data.h"

namespace bimbackup::bim360_emulator {
namespace {

std::string Copy(absl::string_view text) {
  return std::string(text.data(), text.size());
}

}  // namespace

// Every change gets a second of its own, so that two rollups of different
// trees are never equal; a burst of changes runs ahead of the clock.
int64_t Account::NextChangeTime() {
  last_change_ = std::max(last_change_ + 1, absl::ToUnixSeconds(clock_.Now()));
  return last_change_;
}

void Account::RaiseRollup(uint32_t folder, int64_t time) {
  folders_[folder].rollup = std::max(folders_[folder].rollup, time);
}

void Account::Touch(uint32_t folder, int64_t now, bool content) {
  if (!settled_ || (rollup_mode_ == RollupMode::kContentOnly && !content)) {
    return;
  }
  for (uint32_t at = folder; at != kNoNode; at = folders_[at].parent) {
    if (rollup_mode_ != RollupMode::kLate) {
      RaiseRollup(at, now);
      continue;
    }
    late_rollups_.push_back({at, now,
                             clock_.Monotonic() + options_.rollup_delay,
                             pages_listed_ + options_.rollup_delay_pages});
  }
}

void Account::ApplyLateRollups() {
  while (!late_rollups_.empty()) {
    const LateRollup& late = late_rollups_.front();
    const bool by_pages = options_.rollup_delay_pages > 0;
    if (by_pages ? pages_listed_ <= late.due_page
                 : clock_.Monotonic() < late.due) {
      return;
    }
    RaiseRollup(late.folder, late.time);
    late_rollups_.pop_front();
  }
}

void Account::SetRollupMode(RollupMode mode) {
  MutexLock lock(mutex_);
  rollup_mode_ = mode;
}

uint32_t Account::AddProject(absl::string_view name, ProjectKind kind) {
  MutexLock lock(mutex_);
  const uint32_t index = projects_.size();
  Project project;
  project.guid = ids_.ProjectGuid(index);
  project.name = Copy(name);
  project.kind = kind;
  project.root = folders_.size();
  project_by_guid_[project.guid] = index;
  Folder root;
  root.key = project.root;
  root.project = index;
  root.name = absl::StrCat(project.guid, "-root-folder");
  root.created = root.modified = root.rollup =
      settled_ ? NextChangeTime() : 1'600'000'000 + index;
  folders_.push_back(std::move(root));
  projects_.push_back(std::move(project));
  return index;
}

uint32_t Account::RootFolder(uint32_t project) const {
  MutexLock lock(mutex_);
  return projects_[project].root;
}

uint32_t Account::AddFolder(uint32_t parent, absl::string_view name,
                            FolderType type, uint64_t key) {
  MutexLock lock(mutex_);
  const int64_t now =
      settled_ ? NextChangeTime() : folders_[parent].created + 60;
  return AddFolderLocked(parent, name, type, key, now);
}

uint32_t Account::AddFolderLocked(uint32_t parent, absl::string_view name,
                                  FolderType type, uint64_t key, int64_t now) {
  const uint32_t index = folders_.size();
  Folder folder;
  folder.key = key == 0 ? index : key | kStableBit;
  if (key != 0) folder_by_key_[folder.key] = index;
  folder.parent = parent;
  folder.project = folders_[parent].project;
  folder.type = type;
  folder.name = Copy(name);
  folder.created = folder.modified = folder.rollup = now;
  folders_[parent].folders.push_back(index);
  if (settled_) folders_[parent].modified = now;
  folders_.push_back(std::move(folder));
  Touch(parent, now, /*content=*/false);
  return index;
}

uint32_t Account::AddItem(uint32_t folder, absl::string_view name,
                          const FileSpec& spec, uint64_t key,
                          uint64_t storage_key) {
  MutexLock lock(mutex_);
  const int64_t now = settled_ ? NextChangeTime() : folders_[folder].created;
  return AddItemLocked(folder, name, spec, key, storage_key, now);
}

uint32_t Account::AddItemLocked(uint32_t folder, absl::string_view name,
                                const FileSpec& spec, uint64_t key,
                                uint64_t storage_key, int64_t now) {
  const uint32_t index = items_.size();
  Item item;
  item.key = key == 0 ? index : key | kStableBit;
  item.version_key = key == 0 ? index : storage_key | kStableBit;
  if (key != 0) {
    item_by_key_[item.key] = index;
    item_by_version_key_[item.version_key] = index;
  }
  item.folder = folder;
  item.kind = spec.kind;
  item.name = Copy(name);
  item.created = spec.modified.value_or(now);
  item.tip.number = 0;
  items_.push_back(std::move(item));
  folders_[folder].items.push_back(index);
  if (settled_) folders_[folder].modified = now;
  AddVersionLocked(index, spec, storage_key, now);
  return index;
}

void Account::AddVersion(uint32_t item, const FileSpec& spec,
                         uint64_t storage_key) {
  MutexLock lock(mutex_);
  AddVersionLocked(item, spec, storage_key, NextChangeTime());
}

void Account::AddVersionLocked(uint32_t index, const FileSpec& spec,
                               uint64_t storage_key, int64_t now) {
  Item& item = items_[index];
  if (item.tip.number > 0) history_[index].push_back(item.tip);
  Version next;
  next.number = item.tip.number + 1;
  next.storage_key = storage_key == 0
                         ? (static_cast<uint64_t>(index) << 16) | next.number
                         : storage_key | kStableBit;
  if (storage_key != 0) item_by_storage_key_[next.storage_key] = index;
  next.size = spec.content == ContentKind::kLiteral
                  ? static_cast<int64_t>(spec.bytes.size())
                  : spec.size;
  next.modified = spec.modified.value_or(now);
  next.content = spec.content;
  next.size_known = spec.size_known;
  if (spec.content == ContentKind::kLiteral) {
    literals_[next.storage_key] = LiteralContent(spec.bytes);
  } else if (spec.content == ContentKind::kDisk) {
    disk_paths_[next.storage_key] = spec.bytes;
  }
  item.tip = next;
  Touch(item.folder, now, /*content=*/true);
}

void Account::HideItem(uint32_t item) {
  MutexLock lock(mutex_);
  items_[item].hidden = true;
  Touch(items_[item].folder, NextChangeTime(), /*content=*/false);
}

void Account::HideFolder(uint32_t folder) {
  MutexLock lock(mutex_);
  folders_[folder].hidden = true;
  Touch(folders_[folder].parent, NextChangeTime(), /*content=*/false);
}

void Account::SettleRollups() {
  MutexLock lock(mutex_);
  for (const Item& item : items_) RaiseRollup(item.folder, item.tip.modified);
  // Parents stand before their children.
  for (size_t i = folders_.size(); i-- > 0;) {
    if (folders_[i].parent != kNoNode) {
      RaiseRollup(folders_[i].parent, folders_[i].rollup);
    }
  }
  settled_ = true;
}

}  // namespace bimbackup::bim360_emulator
