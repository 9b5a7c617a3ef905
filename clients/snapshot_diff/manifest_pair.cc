#include "clients/snapshot_diff/manifest_pair.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot_diff {
namespace {

using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::StoredPathLess;

// Between two looks whether the caller is still there.
constexpr int kStepsBetweenLooks = 1000;

// The stored path without the project's folder.
absl::string_view PathBelow(const ManifestEntry& entry) {
  absl::string_view path = entry.stored_path;
  const size_t slash = path.find('/');
  return slash == absl::string_view::npos ? "" : path.substr(slash + 1);
}

}  // namespace

absl::Status ManifestPair::Side::Open(storage::Storage& storage,
                                      const std::string& digest) {
  if (digest.empty()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(reader, ManifestReader::Open(storage, digest));
  return Advance();
}

absl::Status ManifestPair::Side::Advance() {
  ABSL_ASSIGN_OR_RETURN(ahead, reader->Next());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ManifestPair>> ManifestPair::Open(
    storage::Storage& storage, const std::string& before,
    const std::string& after) {
  auto pair = std::make_unique<ManifestPair>();
  ABSL_RETURN_IF_ERROR(pair->before_.Open(storage, before));
  ABSL_RETURN_IF_ERROR(pair->after_.Open(storage, after));
  return pair;
}

absl::StatusOr<bool> ManifestPair::Next(const Cancelled& cancelled) {
  if (++steps_ % kStepsBetweenLooks == 0 && cancelled()) {
    return absl::CancelledError("the caller has gone");
  }
  before_.here.reset();
  after_.here.reset();
  const bool has_before = before_.ahead.has_value();
  const bool has_after = after_.ahead.has_value();
  if (!has_before && !has_after) return false;
  const bool both = has_before && has_after;
  const bool take_before =
      has_before && !(both && StoredPathLess(PathBelow(*after_.ahead),
                                             PathBelow(*before_.ahead)));
  const bool take_after =
      has_after && !(both && StoredPathLess(PathBelow(*before_.ahead),
                                            PathBelow(*after_.ahead)));
  if (take_before) {
    before_.here = std::move(before_.ahead);
    ABSL_RETURN_IF_ERROR(before_.Advance());
  }
  if (take_after) {
    after_.here = std::move(after_.ahead);
    ABSL_RETURN_IF_ERROR(after_.Advance());
  }
  return true;
}

}  // namespace bimbackup::snapshot_diff
