// Which part of the account a backup looks at.

#ifndef SERVICES_COORDINATOR_CRAWL_PATH_FILTER_H_
#define SERVICES_COORDINATOR_CRAWL_PATH_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/common/glob.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::crawl {

// Paths are "<project>", then original names. A value; const methods are
// thread-safe.
class PathFilter {
 public:
  // Wants everything.
  PathFilter() = default;

  // INVALID_ARGUMENT, naming the glob, for a malformed one.
  static absl::StatusOr<PathFilter> Create(
      const catalog::BackupRequest& request);

  bool WantsProject(absl::string_view id, absl::string_view name) const;

  // Whether something in this folder, or below it, may be wanted.
  bool WantsFolder(const std::vector<std::string>& path) const;

  bool WantsFile(const std::vector<std::string>& path) const;

  bool WantsEverything() const { return projects_.empty() && !HasGlobs(); }

  bool HasGlobs() const { return !include_.empty() || !exclude_.empty(); }

  // Whether everything in this folder, and below it, is wanted; may miss it.
  bool WantsAllBelow(const std::vector<std::string>& path) const;

  // Names or ids that the request gave.
  const std::vector<std::string>& projects() const { return projects_; }

 private:
  bool IsExcluded(const std::vector<std::string>& path) const;

  std::vector<std::string> projects_;
  std::vector<Glob> include_;
  std::vector<Glob> exclude_;
};

}  // namespace bimbackup::crawl

#endif  // SERVICES_COORDINATOR_CRAWL_PATH_FILTER_H_
