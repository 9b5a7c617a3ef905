#include "services/coordinator/crawl/page_judgement.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::crawl {
namespace {

std::vector<std::string> Append(std::vector<std::string> path,
                                absl::string_view name) {
  path.emplace_back(name.data(), name.size());
  return path;
}

}  // namespace

std::string NoContentReason(const bim360::Item& item) {
  if (!item.storage_urn.empty()) return "";
  if (item.version_id.empty()) return "the listing did not give its version";
  if (absl::EndsWith(item.version_type, ":Deleted")) return "deleted";
  if (absl::EndsWith(item.version_type, ":C4RModel") ||
      absl::EndsWith(item.item_type, ":C4RModel")) {
    return "a Revit cloud model that has not been published";
  }
  if (absl::EndsWith(item.version_type, ":Document") ||
      absl::EndsWith(item.item_type, ":Document")) {
    return "a document of BIM 360 Plans, which cannot be downloaded";
  }
  if (absl::EndsWith(item.version_type, ":CompositeDesign")) {
    return "a composite design, which has no file of its own";
  }
  if (item.version_type.empty()) return "the version has no content";
  return absl::StrCat("a version of type ", item.version_type,
                      " without content");
}

std::string DescribeDefects(const std::vector<std::string>& defects) {
  if (defects.empty()) return "";
  if (defects.size() == 1) {
    return absl::StrCat("an entry could not be read: ", defects[0]);
  }
  return absl::StrCat(defects.size(),
                      " entries could not be read, the first: ", defects[0]);
}

catalog::ListedPage JudgePage(bim360::FolderPage page,
                              const std::vector<std::string>& path,
                              const PathFilter& filter) {
  const bool wants_all = filter.WantsAllBelow(path);
  std::vector<std::string> defects = std::move(page.defects);
  catalog::ListedPage judged;
  judged.next_page_url = std::move(page.next_page_url);
  judged.folders.reserve(page.folders.size());
  for (bim360::Folder& folder : page.folders) {
    const bool wanted =
        wants_all || filter.WantsFolder(Append(path, folder.name));
    judged.folders.push_back({std::move(folder), !wanted});
  }
  judged.items.reserve(page.items.size());
  for (bim360::Item& item : page.items) {
    const bool wanted = wants_all || filter.WantsFile(Append(path, item.name));
    if (item.version_id.empty() && wanted) {
      defects.push_back(absl::StrCat("the version of ", item.name));
    }
    std::string no_content_reason = NoContentReason(item);
    judged.items.push_back(
        {std::move(item), !wanted, std::move(no_content_reason)});
  }
  judged.defect = DescribeDefects(defects);
  if (!wants_all) {
    judged.keeps = [path, filter](absl::string_view name, bool is_folder) {
      const std::vector<std::string> child = Append(path, name);
      return is_folder ? !filter.WantsFolder(child) : !filter.WantsFile(child);
    };
  }
  return judged;
}

}  // namespace bimbackup::crawl
