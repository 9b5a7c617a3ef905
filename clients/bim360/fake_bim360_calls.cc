// What the account answers.

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/fake_bim360_client.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

// The page's number in a URL that this class made; 0 for the first.
absl::StatusOr<size_t> PageNumber(absl::string_view page_url) {
  if (page_url.empty()) return size_t{0};
  size_t number = 0;
  const size_t slash = page_url.rfind('/');
  if (slash == absl::string_view::npos ||
      !absl::SimpleAtoi(page_url.substr(slash + 1), &number)) {
    return absl::DataLossError(absl::StrCat("no page URL: ", page_url));
  }
  return number;
}

std::string PageUrl(absl::string_view listed_id, size_t number) {
  return absl::StrCat("https://fake.invalid/", listed_id, "/page/", number);
}

}  // namespace

absl::StatusOr<HubList> FakeBim360Client::ListHubs(
    const std::stop_token& cancel) {
  ABSL_RETURN_IF_ERROR(Begin(Call::kListHubs, "", "", cancel));
  MutexLock lock(mutex_);
  return HubList{
      {{kHubId, "Fake account", "US", "hubs:autodesk.bim360:Account"}},
      warnings_};
}

absl::StatusOr<ProjectPage> FakeBim360Client::ListProjects(
    absl::string_view hub_id, absl::string_view page_url,
    const std::stop_token& cancel) {
  ABSL_RETURN_IF_ERROR(Begin(Call::kListProjects, hub_id, page_url, cancel));
  if (hub_id != kHubId) return absl::NotFoundError("HTTP 404: no such hub");
  ABSL_ASSIGN_OR_RETURN(const size_t number, PageNumber(page_url));
  MutexLock lock(mutex_);
  const size_t begin = std::min(number * page_size_, projects_.size());
  const size_t end = std::min(begin + page_size_, projects_.size());
  ProjectPage page;
  page.projects.assign(projects_.begin() + begin, projects_.begin() + end);
  if (end < projects_.size()) page.next_page_url = PageUrl(hub_id, number + 1);
  if (const auto hub = nodes_.find(kHubId); hub != nodes_.end()) {
    page.defects = hub->second.defects;
  }
  return page;
}

absl::StatusOr<FolderPage> FakeBim360Client::ListTopFolders(
    absl::string_view hub_id, absl::string_view project_id,
    const std::stop_token& cancel) {
  ABSL_RETURN_IF_ERROR(Begin(Call::kListTopFolders, project_id, "", cancel));
  MutexLock lock(mutex_);
  const std::string root = RootOf(project_id);
  if (hub_id != kHubId || root == project_id) {
    return absl::NotFoundError("HTTP 404: no such project");
  }
  FolderPage page;
  for (const std::string& child : Find(root).children) {
    const Folder& folder = nodes_[child].folder;
    if (!folder.hidden) page.folders.push_back(folder);
  }
  return page;
}

absl::StatusOr<FolderPage> FakeBim360Client::ListFolderContents(
    absl::string_view project_id, absl::string_view folder_id,
    absl::string_view page_url, const std::stop_token& cancel) {
  ABSL_RETURN_IF_ERROR(
      Begin(Call::kListFolderContents, folder_id, page_url, cancel));
  ABSL_ASSIGN_OR_RETURN(const size_t number, PageNumber(page_url));
  MutexLock lock(mutex_);
  const auto found =
      nodes_.find(std::string(folder_id.data(), folder_id.size()));
  if (RootOf(project_id) == project_id || found == nodes_.end()) {
    return absl::NotFoundError("HTTP 404 FOLDER_NOT_FOUND");
  }
  const Node& node = found->second;
  const size_t total = node.children.size() + node.items.size();
  const size_t begin = number * page_size_;
  const size_t end = std::min(begin + page_size_, total);
  FolderPage page;
  page.defects = node.defects;
  // Pages are cut before hidden entries are left out, as Autodesk's are.
  for (size_t i = begin; i < end; ++i) {
    if (i < node.children.size()) {
      const Folder& folder = nodes_[node.children[i]].folder;
      if (!folder.hidden) page.folders.push_back(folder);
    } else {
      const Item& item = node.items[i - node.children.size()];
      if (!item.hidden) page.items.push_back(item);
    }
  }
  if (end < total) {
    page.next_page_url = PageUrl(folder_id, number + 1);
  } else if (node.loops) {
    page.next_page_url = PageUrl(folder_id, 1);
  }
  return page;
}

absl::StatusOr<SignedDownload> FakeBim360Client::SignDownload(
    absl::string_view storage_urn, absl::Duration lifetime,
    const std::stop_token& cancel) {
  ABSL_RETURN_IF_ERROR(Begin(Call::kSignDownload, storage_urn, "", cancel));
  MutexLock lock(mutex_);
  const auto scripted =
      downloads_.find(std::string(storage_urn.data(), storage_urn.size()));
  if (scripted != downloads_.end()) return scripted->second;
  for (const auto& [id, node] : nodes_) {
    for (const Item& item : node.items) {
      if (item.storage_urn != storage_urn) continue;
      SignedDownload download;
      download.ranges = {
          {0, item.size.value_or(0) - 1,
           absl::StrCat("https://storage.invalid/", storage_urn)}};
      download.size = item.size;
      // The fake has no clock; the real one's scale starts near zero.
      download.expires = lifetime + absl::Hours(24 * 3650);
      return download;
    }
  }
  return absl::NotFoundError("HTTP 404: no such object");
}

std::optional<absl::Duration> FakeBim360Client::ClockSkew() const {
  return absl::ZeroDuration();
}

void FakeBim360Client::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  changed_.NotifyAll();
}

}  // namespace bimbackup::bim360
