#include "clients/bim360/fake_bim360_client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

std::string ToString(absl::string_view text) {
  return std::string(text.data(), text.size());
}

template <typename T>
void Replace(std::vector<T>& values, std::string T::*id, T value) {
  auto found = std::find_if(values.begin(), values.end(), [&](const T& other) {
    return other.*id == value.*id;
  });
  if (found == values.end()) {
    values.push_back(std::move(value));
  } else {
    *found = std::move(value);
  }
}

void AddOnce(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) {
    values.push_back(value);
  }
}

}  // namespace

FakeBim360Client::FakeBim360Client() = default;

void FakeBim360Client::AddWarning(Warning warning) {
  MutexLock lock(mutex_);
  warnings_.push_back(std::move(warning));
}

void FakeBim360Client::AddProject(Project project) {
  MutexLock lock(mutex_);
  if (project.root_folder_id.empty()) {
    project.root_folder_id = project.id + "-root";
  }
  nodes_[project.root_folder_id].folder.id = project.root_folder_id;
  Replace(projects_, &Project::id, std::move(project));
}

void FakeBim360Client::RemoveProject(absl::string_view project_id) {
  MutexLock lock(mutex_);
  std::erase_if(projects_,
                [&](const Project& p) { return p.id == project_id; });
}

void FakeBim360Client::AddFolder(absl::string_view parent_id, Folder folder) {
  MutexLock lock(mutex_);
  const std::string parent = RootOf(parent_id);
  Node& node = nodes_[folder.id];
  node.folder = std::move(folder);
  AddOnce(node.parents, parent);
  AddOnce(Find(parent).children, node.folder.id);
  Touch(node.folder.id);
}

std::string FakeBim360Client::AddFolder(absl::string_view parent_id,
                                        absl::string_view name) {
  Folder folder;
  folder.id = absl::StrCat(parent_id, "/", name);
  folder.name = ToString(name);
  std::string id = folder.id;
  AddFolder(parent_id, std::move(folder));
  return id;
}

void FakeBim360Client::LinkFolder(absl::string_view parent_id,
                                  absl::string_view folder_id) {
  MutexLock lock(mutex_);
  const std::string parent = RootOf(parent_id);
  AddOnce(Find(parent).children, ToString(folder_id));
  AddOnce(Find(folder_id).parents, parent);
  Touch(parent);
}

void FakeBim360Client::RemoveFolder(absl::string_view parent_id,
                                    absl::string_view folder_id) {
  MutexLock lock(mutex_);
  const std::string parent = RootOf(parent_id);
  std::erase(Find(parent).children, ToString(folder_id));
  std::erase(Find(folder_id).parents, parent);
  Touch(parent);
}

void FakeBim360Client::AddItem(absl::string_view folder_id, Item item) {
  MutexLock lock(mutex_);
  const std::string folder = RootOf(folder_id);
  Replace(Find(folder).items, &Item::item_id, std::move(item));
  Touch(folder);
}

Item FakeBim360Client::AddFile(absl::string_view folder_id,
                               absl::string_view name, int64_t size) {
  Item item;
  item.item_id =
      absl::StrCat("urn:adsk.wipprod:dm.lineage:", folder_id, "/", name);
  item.name = ToString(name);
  item.item_type = "items:autodesk.bim360:File";
  item.version_id = absl::StrCat("urn:adsk.wipprod:fs.file:vf.", folder_id, "/",
                                 name, "?version=1");
  item.version_number = 1;
  item.version_type = "versions:autodesk.bim360:File";
  item.size = size;
  item.storage_urn = absl::StrCat("urn:adsk.objects:os.object:wip.dm.prod/",
                                  folder_id, "/", name);
  item.last_modified = absl::FromUnixSeconds(1'650'000'000);
  AddItem(folder_id, item);
  return item;
}

void FakeBim360Client::RemoveItem(absl::string_view folder_id,
                                  absl::string_view item_id) {
  MutexLock lock(mutex_);
  const std::string folder = RootOf(folder_id);
  std::erase_if(Find(folder).items,
                [&](const Item& item) { return item.item_id == item_id; });
  Touch(folder);
}

void FakeBim360Client::SetPageSize(int entries) {
  MutexLock lock(mutex_);
  page_size_ = std::max(entries, 1);
}

void FakeBim360Client::SetRollupsMove(bool move) {
  MutexLock lock(mutex_);
  rollups_move_ = move;
}

void FakeBim360Client::SetRollup(absl::string_view folder_id,
                                 absl::string_view rollup) {
  MutexLock lock(mutex_);
  Find(folder_id).folder.rollup = ToString(rollup);
}

void FakeBim360Client::LoopPages(absl::string_view folder_id) {
  MutexLock lock(mutex_);
  Find(folder_id).loops = true;
}

void FakeBim360Client::AddDefect(absl::string_view folder_id,
                                 absl::string_view defect) {
  MutexLock lock(mutex_);
  Find(folder_id).defects.push_back(ToString(defect));
}

void FakeBim360Client::SetDownload(absl::string_view storage_urn,
                                   SignedDownload download) {
  MutexLock lock(mutex_);
  downloads_[ToString(storage_urn)] = std::move(download);
}

void FakeBim360Client::FailNext(Call call, absl::string_view id,
                                absl::Status status, int times) {
  MutexLock lock(mutex_);
  failures_.push_back({call, ToString(id), std::move(status), times});
}

void FakeBim360Client::ClearFailures() {
  MutexLock lock(mutex_);
  failures_.clear();
}

void FakeBim360Client::SetBeforeCall(
    std::function<void(Call call, const std::string& id)> hook) {
  MutexLock lock(mutex_);
  before_call_ = std::move(hook);
}

void FakeBim360Client::HoldCalls(bool hold) {
  MutexLock lock(mutex_);
  hold_calls_ = hold;
  changed_.NotifyAll();
}

int FakeBim360Client::WaitingCalls() const {
  MutexLock lock(mutex_);
  return waiting_;
}

int FakeBim360Client::CallCount(Call call) const {
  MutexLock lock(mutex_);
  return std::count_if(asked_.begin(), asked_.end(),
                       [&](const Asked& a) { return a.call == call; });
}

int FakeBim360Client::CallCount(Call call, absl::string_view id) const {
  MutexLock lock(mutex_);
  return std::count_if(asked_.begin(), asked_.end(), [&](const Asked& a) {
    return a.call == call && a.id == id;
  });
}

std::vector<std::string> FakeBim360Client::PagesAsked(
    absl::string_view folder_id) const {
  MutexLock lock(mutex_);
  std::vector<std::string> pages;
  for (const Asked& asked : asked_) {
    if (asked.call == Call::kListFolderContents && asked.id == folder_id) {
      pages.push_back(asked.page_url);
    }
  }
  return pages;
}

void FakeBim360Client::ResetCalls() {
  MutexLock lock(mutex_);
  asked_.clear();
}

absl::Status FakeBim360Client::Begin(Call call, absl::string_view id,
                                     absl::string_view page_url,
                                     const std::stop_token& cancel) {
  std::function<void(Call, const std::string&)> before_call;
  {
    MutexLock lock(mutex_);
    asked_.push_back({call, ToString(id), ToString(page_url)});
    before_call = before_call_;
  }
  if (before_call) before_call(call, ToString(id));
  const std::stop_callback wake(cancel, [this] {
    MutexLock lock(mutex_);
    changed_.NotifyAll();
  });
  MutexLock lock(mutex_);
  ++waiting_;
  while (hold_calls_ && !cancelled_ && !cancel.stop_requested()) {
    changed_.Wait(mutex_);
  }
  --waiting_;
  if (cancelled_ || cancel.stop_requested()) {
    return absl::CancelledError("the call was cancelled");
  }
  for (Failure& failure : failures_) {
    const bool matches =
        failure.call == call && (failure.id.empty() || failure.id == id);
    if (!matches || failure.times == 0) continue;
    if (failure.times > 0) --failure.times;
    return failure.status;
  }
  return absl::OkStatus();
}

FakeBim360Client::Node& FakeBim360Client::Find(absl::string_view id) {
  Node& node = nodes_[RootOf(id)];
  if (node.folder.id.empty()) node.folder.id = RootOf(id);
  return node;
}

void FakeBim360Client::Touch(const std::string& folder_id) {
  if (!rollups_move_) return;
  const std::string rollup = absl::StrCat("rollup-", ++changes_);
  std::vector<std::string> to_do = {folder_id};
  std::set<std::string> done;
  while (!to_do.empty()) {
    const std::string id = to_do.back();
    to_do.pop_back();
    if (!done.insert(id).second) continue;
    Node& node = Find(id);
    node.folder.rollup = rollup;
    to_do.insert(to_do.end(), node.parents.begin(), node.parents.end());
  }
}

std::string FakeBim360Client::RootOf(absl::string_view id) const {
  for (const Project& project : projects_) {
    if (project.id == id) return project.root_folder_id;
  }
  return ToString(id);
}

}  // namespace bimbackup::bim360
