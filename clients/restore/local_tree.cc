#include "clients/restore/local_tree.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

std::string Join(const std::string& path, const std::string& name) {
  return path.empty() ? name : absl::StrCat(path, "/", name);
}

}  // namespace

LocalTree::LocalTree(const Destination& destination)
    : destination_(destination) {
  levels_.push_back(
      {{}, destination.root(), "", FolderNames(destination.rules())});
}

absl::StatusOr<std::shared_ptr<Folder>> LocalTree::Enter(
    const std::vector<EntryName>& names) {
  size_t common = 0;
  while (common < names.size() && common + 1 < levels_.size() &&
         levels_[common + 1].name == names[common]) {
    ++common;
  }
  levels_.erase(levels_.begin() + static_cast<std::ptrdiff_t>(common) + 1,
                levels_.end());
  for (size_t i = common; i < names.size(); ++i) Descend(names[i]);
  return levels_.back().folder;
}

absl::StatusOr<FilePlace> LocalTree::PlaceFile(
    const std::vector<EntryName>& names) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<Folder> folder,
                        Enter({names.begin(), names.end() - 1}));
  return FilePlace{std::move(folder), Assign(names.back())};
}

std::string LocalTree::Assign(const EntryName& name) {
  std::string local = levels_.back().children.Assign(name);
  if (local != name.original) {
    renamed_.push_back({name.original, Join(levels_.back().path, local)});
  }
  return local;
}

void LocalTree::Descend(const EntryName& name) {
  const std::string local = Assign(name);
  const Level& parent = levels_.back();
  absl::StatusOr<std::shared_ptr<Folder>> folder = parent.folder;
  if (parent.folder.ok()) {
    folder = destination_.OpenFolder(**parent.folder, local);
  }
  levels_.push_back({name, std::move(folder), Join(parent.path, local),
                     FolderNames(destination_.rules())});
}

std::vector<Renamed> LocalTree::TakeRenamed() {
  return std::exchange(renamed_, {});
}

}  // namespace bimbackup::restore
