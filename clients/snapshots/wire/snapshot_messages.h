// Snapshots and their entries between the storage's formats and the wire's
// messages.

#ifndef CLIENTS_SNAPSHOTS_WIRE_SNAPSHOT_MESSAGES_H_
#define CLIENTS_SNAPSHOTS_WIRE_SNAPSHOT_MESSAGES_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bimbackup/v1/snapshot.pb.h"
#include "clients/snapshots/snapshot_browser.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"

namespace bimbackup::snapshots {

google::protobuf::Timestamp ToTimestamp(absl::Time time);
absl::Time FromTimestamp(const google::protobuf::Timestamp& time);

v1::Snapshot ToProto(const storage::format::Snapshot& snapshot);
v1::Snapshot ToProto(const ListedSnapshot& listed);
v1::FileEntry ToProto(const storage::format::ManifestEntry& entry);

// INVALID_ARGUMENT for a kind or status that is not known.
absl::StatusOr<storage::format::ManifestEntry> FromProto(
    const v1::FileEntry& entry);

}  // namespace bimbackup::snapshots

#endif  // CLIENTS_SNAPSHOTS_WIRE_SNAPSHOT_MESSAGES_H_
