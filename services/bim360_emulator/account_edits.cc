#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/account.h"
#include "services/bim360_emulator/account_data.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {
namespace {

std::string Copy(absl::string_view text) {
  return std::string(text.data(), text.size());
}

void Remove(std::vector<uint32_t>& from, uint32_t value) {
  from.erase(std::find(from.begin(), from.end(), value));
}

}  // namespace

absl::StatusOr<uint32_t> Account::FindProjectLocked(
    absl::string_view project) const {
  absl::string_view guid = project;
  absl::ConsumePrefix(&guid, "b.");
  const auto found = project_by_guid_.find(Copy(guid));
  if (found != project_by_guid_.end()) return found->second;
  for (uint32_t i = 0; i < projects_.size(); ++i) {
    if (projects_[i].name == project) return i;
  }
  return absl::NotFoundError(absl::StrCat("no project \"", project, "\""));
}

std::optional<uint32_t> Account::ChildFolder(uint32_t folder,
                                             absl::string_view name) const {
  for (const uint32_t child : folders_[folder].folders) {
    if (!folders_[child].hidden && folders_[child].name == name) return child;
  }
  return std::nullopt;
}

std::optional<uint32_t> Account::ChildItem(uint32_t folder,
                                           absl::string_view name) const {
  for (const uint32_t child : folders_[folder].items) {
    if (!items_[child].hidden && items_[child].name == name) return child;
  }
  return std::nullopt;
}

absl::StatusOr<Account::Found> Account::FindPath(const NodePath& where) const {
  ABSL_ASSIGN_OR_RETURN(const uint32_t project,
                        FindProjectLocked(where.project));
  Found found{true, projects_[project].root, kNoNode};
  for (size_t i = 0; i < where.path.size(); ++i) {
    const uint32_t parent = found.index;
    if (const auto folder = ChildFolder(parent, where.path[i])) {
      found = {true, *folder, parent};
      continue;
    }
    const auto item = ChildItem(parent, where.path[i]);
    if (!item.has_value() || i + 1 < where.path.size()) {
      return absl::NotFoundError(
          absl::StrCat("\"", where.path[i], "\" is not there"));
    }
    found = {false, *item, parent};
  }
  return found;
}

absl::StatusOr<uint32_t> Account::MakeFolders(
    uint32_t project, const std::vector<std::string>& path, size_t count,
    int64_t now) {
  uint32_t folder = projects_[project].root;
  for (size_t i = 0; i < count; ++i) {
    const auto child = ChildFolder(folder, path[i]);
    folder = child.has_value() ? *child
                               : AddFolderLocked(folder, path[i],
                                                 FolderType::kNormal, 0, now);
  }
  return folder;
}

absl::Status Account::CheckNameFree(uint32_t parent, bool is_folder,
                                    absl::string_view name) const {
  const bool taken = is_folder ? ChildFolder(parent, name).has_value()
                               : ChildItem(parent, name).has_value();
  if (!taken) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("\"", name, "\" is there"));
}

absl::Status Account::CreateProject(absl::string_view name, ProjectKind kind) {
  const uint32_t project = AddProject(name, kind);
  AddFolder(RootFolder(project), "Project Files", FolderType::kNormal);
  return absl::OkStatus();
}

absl::Status Account::SetProjectArchived(absl::string_view project,
                                         bool archived) {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const uint32_t index, FindProjectLocked(project));
  projects_[index].archived = archived;
  return absl::OkStatus();
}

absl::Status Account::CreateFile(const NodePath& where, const FileSpec& spec) {
  if (where.path.size() < 2) {
    return absl::InvalidArgumentError("a file stands below a top folder");
  }
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const uint32_t project,
                        FindProjectLocked(where.project));
  const int64_t now = NextChangeTime();
  ABSL_ASSIGN_OR_RETURN(
      const uint32_t folder,
      MakeFolders(project, where.path, where.path.size() - 1, now));
  ABSL_RETURN_IF_ERROR(CheckNameFree(folder, false, where.path.back()));
  AddItemLocked(folder, where.path.back(), spec, 0, 0, now);
  return absl::OkStatus();
}

absl::Status Account::CreateFolder(const NodePath& where) {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const uint32_t project,
                        FindProjectLocked(where.project));
  return MakeFolders(project, where.path, where.path.size(), NextChangeTime())
      .status();
}

absl::Status Account::ChangeFile(const NodePath& where, const FileSpec& spec) {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const Found found, FindPath(where));
  if (found.is_folder) return absl::InvalidArgumentError("that is a folder");
  AddVersionLocked(found.index, spec, 0, NextChangeTime());
  return absl::OkStatus();
}

absl::Status Account::Rename(const NodePath& where, absl::string_view name) {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const Found found, FindPath(where));
  if (found.parent == kNoNode || name.empty()) {
    return absl::InvalidArgumentError("a rename needs a path and a name");
  }
  ABSL_RETURN_IF_ERROR(CheckNameFree(found.parent, found.is_folder, name));
  std::string& old =
      found.is_folder ? folders_[found.index].name : items_[found.index].name;
  old = Copy(name);
  Touch(found.parent, NextChangeTime(), /*content=*/false);
  return absl::OkStatus();
}

absl::Status Account::Move(const NodePath& where, const NodePath& to) {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const Found found, FindPath(where));
  ABSL_ASSIGN_OR_RETURN(const Found target, FindPath(to));
  if (found.parent == kNoNode || !target.is_folder ||
      folders_[target.index].project != folders_[found.parent].project) {
    return absl::InvalidArgumentError(
        "a move leads into a folder of the "
        "same project");
  }
  for (uint32_t at = target.index; at != kNoNode; at = folders_[at].parent) {
    if (found.is_folder && at == found.index) {
      return absl::InvalidArgumentError("a folder cannot move into itself");
    }
  }
  ABSL_RETURN_IF_ERROR(
      CheckNameFree(target.index, found.is_folder, where.path.back()));
  if (found.is_folder) {
    Remove(folders_[found.parent].folders, found.index);
    folders_[target.index].folders.push_back(found.index);
    folders_[found.index].parent = target.index;
  } else {
    Remove(folders_[found.parent].items, found.index);
    folders_[target.index].items.push_back(found.index);
    items_[found.index].folder = target.index;
  }
  const int64_t now = NextChangeTime();
  Touch(found.parent, now, /*content=*/false);
  Touch(target.index, now, /*content=*/false);
  return absl::OkStatus();
}

absl::Status Account::Delete(const NodePath& where) {
  MutexLock lock(mutex_);
  ABSL_ASSIGN_OR_RETURN(const Found found, FindPath(where));
  if (found.parent == kNoNode) {
    return absl::InvalidArgumentError("a root folder cannot be deleted");
  }
  bool& hidden = found.is_folder ? folders_[found.index].hidden
                                 : items_[found.index].hidden;
  hidden = true;
  Touch(found.parent, NextChangeTime(), /*content=*/false);
  return absl::OkStatus();
}

}  // namespace bimbackup::bim360_emulator
