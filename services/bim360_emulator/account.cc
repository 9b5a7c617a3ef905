#include "services/bim360_emulator/account.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/account_data.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {

Account::Account(Options options, const Clock& clock)
    : options_(options),
      clock_(clock),
      ids_(options.seed),
      rollup_mode_(options.rollup) {}

Account::~Account() = default;

FolderView Account::ViewOf(const Folder& folder) const {
  FolderView view;
  view.key = folder.key;
  view.is_root = folder.parent == kNoNode;
  if (!view.is_root) {
    view.parent_key = folders_[folder.parent].key;
    view.is_top = folders_[folder.parent].parent == kNoNode;
  }
  view.hidden = folder.hidden;
  view.type = folder.type;
  view.name = folder.name;
  view.created = folder.created;
  view.modified = folder.modified;
  view.rollup = folder.rollup;
  // Hidden ones count, too: that is why it is no completeness check.
  view.object_count = folder.folders.size() + folder.items.size();
  return view;
}

ItemView Account::ViewOf(const Item& item) const {
  ItemView view;
  view.key = item.key;
  view.version_key = item.version_key;
  view.folder_key = folders_[item.folder].key;
  view.hidden = item.hidden;
  view.kind = item.kind;
  view.name = item.name;
  view.created = item.created;
  view.tip = item.tip;
  return view;
}

std::vector<ProjectView> Account::ListProjects() const {
  MutexLock lock(mutex_);
  std::vector<ProjectView> views;
  for (uint32_t i = 0; i < projects_.size(); ++i) {
    const Project& project = projects_[i];
    if (project.archived) continue;
    views.push_back({i, project.guid, project.name, project.kind,
                     folders_[project.root].key});
  }
  return views;
}

absl::StatusOr<ProjectView> Account::FindProject(absl::string_view guid) const {
  absl::ConsumePrefix(&guid, "b.");
  MutexLock lock(mutex_);
  const auto found =
      project_by_guid_.find(std::string(guid.data(), guid.size()));
  if (found == project_by_guid_.end() || projects_[found->second].archived) {
    return absl::NotFoundError(absl::StrCat("no project ", guid));
  }
  const Project& project = projects_[found->second];
  return ProjectView{found->second, project.guid, project.name, project.kind,
                     folders_[project.root].key};
}

std::optional<uint32_t> Account::Find(
    const absl::flat_hash_map<uint64_t, uint32_t>& by_key, uint64_t key,
    size_t count) const {
  if ((key & kStableBit) == 0) {
    if (key >= count) return std::nullopt;
    return key;
  }
  const auto found = by_key.find(key);
  if (found == by_key.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<uint32_t> Account::FolderOf(uint32_t project,
                                           uint64_t key) const {
  const std::optional<uint32_t> index =
      Find(folder_by_key_, key, folders_.size());
  if (!index.has_value() || folders_[*index].project != project) {
    return absl::NotFoundError("no such folder in this project");
  }
  return *index;
}

absl::StatusOr<uint32_t> Account::ItemOf(uint32_t project, uint64_t key) const {
  const std::optional<uint32_t> index = Find(item_by_key_, key, items_.size());
  if (!index.has_value() ||
      folders_[items_[*index].folder].project != project) {
    return absl::NotFoundError("no such item in this project");
  }
  return *index;
}

absl::StatusOr<std::vector<FolderView>> Account::TopFolders(
    uint32_t project) const {
  MutexLock lock(mutex_);
  if (project >= projects_.size()) return absl::NotFoundError("no project");
  std::vector<FolderView> views;
  for (const uint32_t folder : folders_[projects_[project].root].folders) {
    if (!folders_[folder].hidden) views.push_back(ViewOf(folders_[folder]));
  }
  return views;
}

absl::StatusOr<FolderView> Account::FindFolder(uint32_t project,
                                               uint64_t key) const {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const uint32_t index, FolderOf(project, key));
  return ViewOf(folders_[index]);
}

absl::StatusOr<ContentsPage> Account::ListContents(uint32_t project,
                                                   uint64_t key,
                                                   const ContentsQuery& query) {
  MutexLock lock(mutex_);
  ++pages_listed_;
  ApplyLateRollups();
  ABSL_ASSIGN_OR_RETURN(const uint32_t index, FolderOf(project, key));
  const Folder& folder = folders_[index];
  ContentsPage page;
  page.folder = ViewOf(folder);
  const auto wanted = [&query](bool hidden) {
    return hidden ? query.hidden : query.visible;
  };
  // Pages are cut before the filter on types, but after that on hidden ones,
  // which the service does not count at all.
  const int64_t begin = static_cast<int64_t>(query.page) * query.limit;
  const int64_t end = begin + query.limit;
  int64_t position = 0;
  const auto on_page = [&] {
    const int64_t at = position++;
    page.has_next |= at >= end;
    return at >= begin && at < end;
  };
  for (const uint32_t child : folder.folders) {
    if (!wanted(folders_[child].hidden) || !on_page()) continue;
    if (query.folders) page.folders.push_back(ViewOf(folders_[child]));
  }
  for (const uint32_t child : folder.items) {
    if (page.has_next) break;
    if (!wanted(items_[child].hidden) || !on_page()) continue;
    if (query.items) page.items.push_back(ViewOf(items_[child]));
  }
  return page;
}

absl::StatusOr<ItemView> Account::FindItem(uint32_t project,
                                           uint64_t key) const {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const uint32_t index, ItemOf(project, key));
  return ViewOf(items_[index]);
}

absl::StatusOr<ItemView> Account::FindItemAnywhere(uint64_t key) const {
  MutexLock lock(mutex_);
  const std::optional<uint32_t> index = Find(item_by_key_, key, items_.size());
  if (!index.has_value()) return absl::NotFoundError("no such item");
  return ViewOf(items_[*index]);
}

absl::StatusOr<std::vector<Version>> Account::ListVersions(uint32_t project,
                                                           uint64_t key) const {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const uint32_t index, ItemOf(project, key));
  std::vector<Version> versions = {items_[index].tip};
  const auto history = history_.find(index);
  if (history != history_.end()) {
    versions.insert(versions.end(), history->second.rbegin(),
                    history->second.rend());
  }
  return versions;
}

const Version* Account::VersionOf(const Item& item, uint32_t index,
                                  int number) const {
  if (item.tip.number == number) return &item.tip;
  const auto history = history_.find(index);
  if (history == history_.end()) return nullptr;
  for (const Version& version : history->second) {
    if (version.number == number) return &version;
  }
  return nullptr;
}

absl::StatusOr<ItemView> Account::FindVersion(uint32_t project,
                                              uint64_t version_key,
                                              int number) const {
  MutexLock lock(mutex_);
  const std::optional<uint32_t> index =
      Find(item_by_version_key_, version_key, items_.size());
  if (index.has_value() && folders_[items_[*index].folder].project == project) {
    const Item& item = items_[*index];
    ItemView view = ViewOf(item);
    // That of the deletion, which is the tip of a deleted item.
    if (item.hidden && number == item.tip.number + 1) return view;
    const Version* version = VersionOf(item, *index, number);
    if (version != nullptr) {
      view.hidden = false;
      view.tip = *version;
      return view;
    }
  }
  return absl::NotFoundError("no such version in this project");
}

absl::StatusOr<ObjectView> Account::FindObject(uint64_t storage_key) const {
  MutexLock lock(mutex_);
  std::optional<uint32_t> index;
  if ((storage_key & kStableBit) == 0) {
    if ((storage_key >> 16) < items_.size()) index = storage_key >> 16;
  } else {
    index = Find(item_by_storage_key_, storage_key, 0);
  }
  if (index.has_value()) {
    const Item& item = items_[*index];
    const auto history = history_.find(*index);
    if (item.tip.storage_key == storage_key) {
      return ObjectView{item.name, item.key, item.tip};
    }
    if (history != history_.end()) {
      for (const Version& version : history->second) {
        if (version.storage_key == storage_key) {
          return ObjectView{item.name, item.key, version};
        }
      }
    }
  }
  return absl::NotFoundError("no such object");
}

absl::StatusOr<std::shared_ptr<const Content>> Account::OpenObject(
    uint64_t storage_key) const {
  ABSL_ASSIGN_OR_RETURN(const ObjectView object, FindObject(storage_key));
  const uint64_t seed = MixBits(options_.seed + MixBits(storage_key));
  switch (object.version.content) {
    case ContentKind::kGenerated:
      return GeneratedContent(seed, object.version.size);
    case ContentKind::kSparse:
      return SparseContent(seed, object.version.size);
    case ContentKind::kLiteral: {
      MutexLock lock(mutex_);
      return literals_.at(storage_key);
    }
    case ContentKind::kDisk: {
      std::string path;
      {
        MutexLock lock(mutex_);
        path = disk_paths_.at(storage_key);
      }
      ABSL_ASSIGN_OR_RETURN(auto content, DiskContent(path));
      if (content->size() == object.version.size) return content;
      return absl::NotFoundError("the file has changed on disk");
    }
    case ContentKind::kNone:
      break;
  }
  return absl::NotFoundError("this version has no storage object");
}

void Account::VisitTree(
    const std::function<void(const TreeEntry&)>& visit) const {
  MutexLock lock(mutex_);
  for (uint32_t i = 0; i < projects_.size(); ++i) {
    if (projects_[i].archived) continue;
    TreeEntry entry;
    entry.project_index = i;
    entry.project_guid = projects_[i].guid;
    entry.project_name = projects_[i].name;
    VisitFolder(projects_[i].root, entry, visit);
  }
}

void Account::VisitFolder(
    uint32_t folder, TreeEntry& entry,
    const std::function<void(const TreeEntry&)>& visit) const {
  for (const uint32_t child : folders_[folder].folders) {
    if (folders_[child].hidden) continue;
    entry.path.push_back(folders_[child].name);
    entry.is_folder = true;
    entry.key = folders_[child].key;
    visit(entry);
    VisitFolder(child, entry, visit);
    entry.path.pop_back();
  }
  for (const uint32_t child : folders_[folder].items) {
    const Item& item = items_[child];
    if (item.hidden) continue;
    entry.path.push_back(item.name);
    entry.is_folder = false;
    entry.key = item.key;
    entry.version_key = item.version_key;
    entry.tip = item.tip;
    visit(entry);
    entry.path.pop_back();
  }
}

std::optional<uint32_t> Account::ItemIndex(uint64_t key) const {
  MutexLock lock(mutex_);
  return Find(item_by_key_, key, items_.size());
}

std::optional<uint32_t> Account::FolderIndex(uint64_t key) const {
  MutexLock lock(mutex_);
  return Find(folder_by_key_, key, folders_.size());
}

}  // namespace bimbackup::bim360_emulator
