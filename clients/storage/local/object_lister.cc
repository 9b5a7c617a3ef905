#include "clients/storage/local/object_lister.h"

#include <dirent.h>

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/posix_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

// Goes through folders in the order of their files' keys. A folder counts as
// its key with a '/' at its end, which is how it sorts among its neighbours.
class Lister {
 public:
  Lister(int root, absl::string_view prefix, absl::string_view after,
         size_t limit)
      : root_(root), prefix_(prefix), after_(after), limit_(limit) {}

  // `folder` is empty or ends in '/'.
  absl::Status List(const std::string& folder);

  ObjectPage TakePage() && { return std::move(page_); }

 private:
  bool IsFull() const { return page_.entries.size() >= limit_; }

  bool IsWanted(const std::string& key) const {
    if (!absl::EndsWith(key, "/")) {
      return absl::StartsWith(key, prefix_) && key > after_;
    }
    return (absl::StartsWith(key, prefix_) || absl::StartsWith(prefix_, key)) &&
           (key > after_ || absl::StartsWith(after_, key));
  }

  absl::Status AddFile(const std::string& key);
  // The wanted keys of a folder that come after `last`, the smallest ones.
  absl::StatusOr<std::set<std::string>> ReadNames(const std::string& folder,
                                                  const std::string& last);

  const int root_;
  const std::string prefix_;
  const std::string after_;
  const size_t limit_;
  ObjectPage page_;
};

absl::StatusOr<std::set<std::string>> Lister::ReadNames(
    const std::string& folder, const std::string& last) {
  std::set<std::string> keys;
  const absl::Status visited = VisitFolder(
      root_, folder.empty() ? "." : folder,
      [&](absl::string_view name, unsigned char type) {
        std::string key = absl::StrCat(folder, name);
        if (folder.empty() && !IsContentFolder(key)) return true;
        if (type == DT_UNKNOWN) {
          const absl::StatusOr<struct stat> info = StatAt(root_, key);
          if (info.ok() && S_ISDIR(info->st_mode)) type = DT_DIR;
        }
        if (type == DT_DIR) key += '/';
        if (key > last && IsWanted(key)) {
          keys.insert(std::move(key));
          if (keys.size() > limit_) keys.erase(std::prev(keys.end()));
        }
        return true;
      });
  if (absl::IsNotFound(visited)) return keys;
  ABSL_RETURN_IF_ERROR(visited);
  return keys;
}

absl::Status Lister::AddFile(const std::string& key) {
  const absl::StatusOr<struct stat> info = StatAt(root_, key);
  if (absl::IsNotFound(info.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(info.status());
  // Change time: the latest view sets a linked blob's modification time.
  page_.entries.push_back(
      {key, info->st_size, absl::TimeFromTimespec(info->st_ctim)});
  return absl::OkStatus();
}

absl::Status Lister::List(const std::string& folder) {
  std::string last;
  while (!IsFull()) {
    ABSL_ASSIGN_OR_RETURN(const std::set<std::string> keys,
                          ReadNames(folder, last));
    for (const std::string& key : keys) {
      if (IsFull()) return absl::OkStatus();
      ABSL_RETURN_IF_ERROR(absl::EndsWith(key, "/") ? List(key) : AddFile(key));
    }
    if (keys.size() < limit_) return absl::OkStatus();
    last = *keys.rbegin();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ObjectPage> ListObjects(int root, absl::string_view prefix,
                                       absl::string_view page_token,
                                       size_t page_size) {
  // One more than a page tells whether there is another.
  Lister lister(root, prefix, page_token, page_size + 1);
  ABSL_RETURN_IF_ERROR(lister.List(""));
  ObjectPage page = std::move(lister).TakePage();
  if (page.entries.size() > page_size) {
    page.entries.pop_back();
    page.next_page_token = page.entries.back().key;
  }
  return page;
}

}  // namespace bimbackup::storage::local
