#include "clients/cli/doctor/file_finder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace bimbackup::cli::doctor {
namespace {

constexpr int kMaxCalls = 30;
constexpr size_t kMaxProjects = 3;

struct PendingFolder {
  std::string id;
  std::string path;
};

class Searcher {
 public:
  Searcher(absl::string_view hub_id, bim360::Bim360Client& client)
      : hub_id_(hub_id.data(), hub_id.size()), client_(client) {}

  // Returns whether the search is over.
  bool SearchProject(const bim360::Project& project) {
    result_.project_name = project.name;
    pending_.clear();
    if (!Take(client_.ListTopFolders(hub_id_, project.id, {}), project.name)) {
      return calls_ >= kMaxCalls;
    }
    while (!pending_.empty() && calls_ < kMaxCalls) {
      const PendingFolder folder = std::move(pending_.back());
      pending_.pop_back();
      // The first page is enough.
      if (Take(client_.ListFolderContents(project.id, folder.id, "", {}),
               folder.path)) {
        ++result_.folders_listed;
      }
      if (result_.file.has_value()) return true;
    }
    return calls_ >= kMaxCalls;
  }

  FileSearch TakeResult() { return std::move(result_); }

 private:
  bool Take(const absl::StatusOr<bim360::FolderPage>& page,
            const std::string& path) {
    ++calls_;
    if (!page.ok()) {
      result_.problem = absl::Status(
          page.status().code(),
          absl::StrCat("\"", path, "\": ", page.status().message()));
      return false;
    }
    for (const bim360::Folder& folder : page->folders) {
      pending_.push_back({folder.id, absl::StrCat(path, "/", folder.name)});
    }
    const auto file = std::find_if(
        page->items.begin(), page->items.end(), [](const bim360::Item& item) {
          return !item.storage_urn.empty() && item.size.value_or(0) > 0;
        });
    if (file != page->items.end()) {
      result_.file =
          FoundFile{file->storage_urn, absl::StrCat(path, "/", file->name)};
    }
    return true;
  }

  const std::string hub_id_;
  bim360::Bim360Client& client_;
  std::vector<PendingFolder> pending_;
  int calls_ = 0;
  FileSearch result_;
};

}  // namespace

FileSearch FindFile(absl::string_view hub_id,
                    const std::vector<bim360::Project>& projects,
                    bim360::Bim360Client& client) {
  Searcher searcher(hub_id, client);
  for (size_t i = 0; i < std::min(projects.size(), kMaxProjects); ++i) {
    if (searcher.SearchProject(projects[i])) break;
  }
  return searcher.TakeResult();
}

}  // namespace bimbackup::cli::doctor
