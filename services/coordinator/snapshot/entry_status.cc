#include "services/coordinator/snapshot/entry_status.h"

#include "absl/strings/str_cat.h"

namespace bimbackup::snapshot {
namespace {

using catalog::FileRecord;
using storage::format::EntryStatus;
using storage::format::ManifestEntry;

constexpr char kVanishedProject[] = "the project has left the account's list";
constexpr char kVanishedMany[] =
    "it vanished together with a suspicious number of others";
constexpr char kNotFetched[] = "it was not fetched yet";

std::string GuardedReason(const Inherited& inherited) {
  return inherited.vanished ? kVanishedProject : kVanishedMany;
}

void DescribeVersion(const FileRecord& file, ManifestEntry& entry) {
  if (file.sha256.empty() && file.former) {
    entry.version_id = file.former->version_id;
    entry.version_number = file.former->version_number;
    entry.size = file.former->size;
    entry.sha256 = file.former->sha256;
    entry.last_modified = file.former->last_modified;
    entry.storage_urn = file.former->storage_urn;
    return;
  }
  entry.version_id = file.version_id;
  entry.version_number = file.version_number;
  entry.size = file.size;
  entry.sha256 = file.sha256;
  entry.last_modified = file.last_modified;
  entry.storage_urn = file.storage_urn;
}

// Why the tip is not what stands here, and which one stands here instead.
std::string MissingReason(const FileRecord& file) {
  std::string reason = file.reason.empty() ? kNotFetched : file.reason;
  if (file.former) {
    absl::StrAppend(&reason, "; version ", file.former->version_number,
                    " stands for version ", file.version_number);
  }
  return reason;
}

}  // namespace

Inherited InheritFrom(const catalog::ProjectRecord& project) {
  return {project.unlisted_reason, project.vanished, project.vanished};
}

Inherited InheritFrom(const Inherited& above,
                      const catalog::FolderRecord& folder) {
  Inherited inherited = above;
  if (inherited.unlisted_reason.empty()) {
    inherited.unlisted_reason = folder.unlisted_reason;
  }
  inherited.guarded |= folder.guarded;
  return inherited;
}

void JudgeFolder(const Inherited& inherited, ManifestEntry& entry) {
  if (inherited.guarded) {
    entry.status = EntryStatus::kGuarded;
    entry.reason = GuardedReason(inherited);
  } else if (!inherited.unlisted_reason.empty()) {
    entry.status = EntryStatus::kCarried;
    entry.reason = inherited.unlisted_reason;
  }
}

void DescribeFile(const FileRecord& file, const Inherited& inherited,
                  ManifestEntry& entry) {
  DescribeVersion(file, entry);
  if (file.guarded || inherited.guarded) {
    entry.status = EntryStatus::kGuarded;
    entry.reason = GuardedReason(inherited);
  } else if (file.sha256.empty()) {
    entry.status = file.storage_urn.empty() ? EntryStatus::kNoContent
                                            : EntryStatus::kFailed;
    entry.reason = MissingReason(file);
  } else if (!inherited.unlisted_reason.empty()) {
    entry.status = EntryStatus::kCarried;
    entry.reason = inherited.unlisted_reason;
  }
}

}  // namespace bimbackup::snapshot
