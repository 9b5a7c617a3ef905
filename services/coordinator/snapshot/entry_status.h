// What a manifest says of a file or folder, and why.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_ENTRY_STATUS_H_
#define SERVICES_COORDINATOR_SNAPSHOT_ENTRY_STATUS_H_

#include <string>

#include "clients/storage/format/manifest.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::snapshot {

// What the folders above an entry say of it: an unlisted or guarded one
// speaks for everything it holds.
struct Inherited {
  // Why a folder above could not be listed; empty where all were.
  std::string unlisted_reason;
  bool guarded = false;
  // The whole project has left the account's listing.
  bool vanished = false;
};

Inherited InheritFrom(const catalog::ProjectRecord& project);
Inherited InheritFrom(const Inherited& above,
                      const catalog::FolderRecord& folder);

// Sets status and reason of a folder that is or lies in `inherited`.
void JudgeFolder(const Inherited& inherited,
                 storage::format::ManifestEntry& entry);

// Sets everything that an entry says of the file's version: the tip's, or
// that of the newest version which is stored. Names and paths are left alone.
void DescribeFile(const catalog::FileRecord& file, const Inherited& inherited,
                  storage::format::ManifestEntry& entry);

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_ENTRY_STATUS_H_
