// One run of a SnapshotVerifier.

#ifndef CLIENTS_VERIFY_VERIFICATION_H_
#define CLIENTS_VERIFY_VERIFICATION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/verify/blob_checker.h"
#include "clients/verify/blob_table.h"
#include "clients/verify/damage.h"
#include "clients/verify/snapshot_verifier.h"
#include "services/common/clock.h"

namespace bimbackup::verify {

// Not thread-safe.
class Verification {
 public:
  // `salt` decides which blobs a percentage selects. All outlive the run.
  Verification(storage::Storage& storage, Clock& clock, uint64_t salt,
               const VerifyOptions& options, VerifyObserver& observer);

  // Once.
  absl::Status Run(const std::string& snapshot_id);

  const VerifyProgress& progress() const { return progress_; }

 private:
  using Entry = storage::format::ManifestEntry;
  using Project = storage::format::SnapshotProject;

  // The manifests' digests; those that are whole are gone on with.
  absl::Status CheckManifests(const storage::format::Snapshot& snapshot);
  absl::Status CheckManifest(const Project& project);
  // What a manifest that could not be read is: damage, or the storage's fault.
  absl::Status JudgeManifest(const Project& project,
                             const absl::Status& status);

  // The blobs of one of `shares` shares: counts their files, then looks at
  // each where its first file stands.
  absl::Status CheckBlobs(uint64_t share, uint64_t shares);
  absl::Status CheckBlob(const Entry& entry, const BlobDigest& digest,
                         int64_t files);
  absl::Status JudgeBlob(const BlobFault& fault);
  // Calls `visit` with every file of the whole manifests that has a blob.
  absl::Status ForEachFile(
      const std::function<absl::Status(const Entry&)>& visit);
  bool IsToBeRead(const BlobDigest& digest) const;

  // Whether the storage still is what it was, and the snapshot in it: what is
  // missing from a storage that went away is not lost.
  absl::Status CheckStorage();
  absl::Status Report(Damage damage);
  // Tells of the progress, now and then; CANCELLED where that is wanted.
  absl::Status Tick();

  storage::Storage& storage_;
  Clock& clock_;
  const uint64_t salt_;
  const VerifyOptions options_;
  VerifyObserver& observer_;
  BlobChecker checker_;
  VerifyProgress progress_;
  std::vector<Project> whole_;
  absl::Duration next_tick_ = -absl::InfiniteDuration();
  int unreadable_in_a_row_ = 0;
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_VERIFICATION_H_
