#include "clients/verify/verification.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::verify {

using storage::format::EntryKind;
using storage::format::ManifestCounts;
using storage::format::ManifestKey;
using storage::format::ManifestReader;
using storage::format::Snapshot;
using storage::format::SnapshotKey;

namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr int64_t kLinesPerTick = 512;
// A disk may have a bad place; where nothing can be read, it is the disk.
constexpr int kMaxUnreadableInARow = 100;

// SplitMix64's finish: spreads what a salt was mixed into.
uint64_t Mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

bool IsDamageOfAnObject(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnavailable(status) ||
         absl::IsPermissionDenied(status);
}

}  // namespace

Verification::Verification(storage::Storage& storage, Clock& clock,
                           uint64_t salt, const VerifyOptions& options,
                           VerifyObserver& observer)
    : storage_(storage),
      clock_(clock),
      salt_(salt),
      options_(options),
      observer_(observer),
      checker_(storage, clock, options.max_bandwidth, [this](int64_t bytes) {
        progress_.bytes_read += bytes;
        return Tick();
      }) {}

absl::Status Verification::Run(const std::string& snapshot_id) {
  progress_.snapshot_id = snapshot_id;
  const absl::StatusOr<Snapshot> snapshot =
      storage::format::ReadSnapshot(storage_, snapshot_id);
  if (absl::IsDataLoss(snapshot.status())) {
    // Nothing else is known of it.
    Damage damage;
    damage.kind = DamageKind::kSnapshot;
    damage.key = SnapshotKey(snapshot_id);
    damage.message = std::string(snapshot.status().message());
    return Report(std::move(damage));
  }
  ABSL_RETURN_IF_ERROR(snapshot.status());
  ABSL_RETURN_IF_ERROR(CheckManifests(*snapshot));
  int64_t files = 0;
  for (const Project& project : whole_) files += project.counts.files;
  const uint64_t shares = 1 + files / options_.max_blobs_in_memory;
  for (uint64_t share = 0; share < shares; ++share) {
    ABSL_RETURN_IF_ERROR(CheckBlobs(share, shares));
  }
  observer_.OnProgress(progress_);
  return absl::OkStatus();
}

absl::Status Verification::CheckManifests(const Snapshot& snapshot) {
  progress_.manifests = static_cast<int64_t>(snapshot.projects.size());
  for (const Project& project : snapshot.projects) {
    ABSL_RETURN_IF_ERROR(CheckManifest(project));
    ++progress_.manifests_done;
    ABSL_RETURN_IF_ERROR(Tick());
  }
  return absl::OkStatus();
}

absl::Status Verification::CheckManifest(const Project& project) {
  auto reader = ManifestReader::Open(storage_, project.manifest_sha256);
  if (!reader.ok()) return JudgeManifest(project, reader.status());
  ManifestCounts counts;
  for (int64_t line = 1;; ++line) {
    const absl::StatusOr<std::optional<Entry>> entry = (*reader)->Next();
    if (!entry.ok()) return JudgeManifest(project, entry.status());
    if (!entry->has_value()) break;
    counts.Add(**entry);
    if (line % kLinesPerTick == 0) ABSL_RETURN_IF_ERROR(Tick());
  }
  whole_.push_back(project);
  whole_.back().counts = counts;
  if (counts == project.counts) return absl::OkStatus();
  Damage damage;
  damage.kind = DamageKind::kSnapshot;
  damage.key = SnapshotKey(progress_.snapshot_id);
  damage.message = "it tells other counts of the project than its manifest";
  damage.project_id = project.project_id;
  damage.project_name = project.name;
  damage.files = counts.files;
  return Report(std::move(damage));
}

absl::Status Verification::JudgeManifest(const Project& project,
                                         const absl::Status& status) {
  if (!IsDamageOfAnObject(status)) return status;
  if (!absl::IsDataLoss(status)) ABSL_RETURN_IF_ERROR(CheckStorage());
  Damage damage;
  damage.kind = DamageKind::kManifest;
  damage.key = ManifestKey(project.manifest_sha256);
  damage.sha256 = project.manifest_sha256;
  damage.message = absl::IsNotFound(status) ? "the manifest is not there"
                                            : std::string(status.message());
  damage.project_id = project.project_id;
  damage.project_name = project.name;
  damage.files = project.counts.files;
  return Report(std::move(damage));
}

absl::Status Verification::CheckBlobs(uint64_t share, uint64_t shares) {
  BlobTable blobs;
  ABSL_RETURN_IF_ERROR(ForEachFile([&](const Entry& entry) -> absl::Status {
    const BlobDigest digest = ParseDigest(entry.sha256);
    if (ShareOf(LeadingBits(digest), shares) != share) return absl::OkStatus();
    if (blobs.Add(digest) && IsToBeRead(digest)) {
      progress_.bytes_to_read += entry.size.value_or(0);
    }
    return absl::OkStatus();
  }));
  return ForEachFile([&](const Entry& entry) -> absl::Status {
    const BlobDigest digest = ParseDigest(entry.sha256);
    const int64_t files = blobs.Take(digest);
    return files == 0 ? absl::OkStatus() : CheckBlob(entry, digest, files);
  });
}

absl::Status Verification::ForEachFile(
    const std::function<absl::Status(const Entry&)>& visit) {
  int64_t line = 0;
  for (const Project& project : whole_) {
    ABSL_ASSIGN_OR_RETURN(
        const std::unique_ptr<ManifestReader> reader,
        ManifestReader::Open(storage_, project.manifest_sha256));
    while (true) {
      ABSL_ASSIGN_OR_RETURN(const std::optional<Entry> entry, reader->Next());
      if (!entry.has_value()) break;
      if (++line % kLinesPerTick == 0) ABSL_RETURN_IF_ERROR(Tick());
      if (entry->kind == EntryKind::kFile && !entry->sha256.empty()) {
        ABSL_RETURN_IF_ERROR(visit(*entry));
      }
    }
  }
  return absl::OkStatus();
}

bool Verification::IsToBeRead(const BlobDigest& digest) const {
  const uint64_t bits = LeadingBits(digest);
  const auto part = static_cast<uint64_t>(options_.part - 1);
  if (ShareOf(bits, static_cast<uint64_t>(options_.parts)) != part) {
    return false;
  }
  return options_.percent >= 100 ||
         static_cast<double>(Mix(bits ^ salt_)) * 0x1.0p-64 * 100 <
             options_.percent;
}

absl::Status Verification::CheckBlob(const Entry& entry,
                                     const BlobDigest& digest, int64_t files) {
  const bool read = IsToBeRead(digest);
  ABSL_ASSIGN_OR_RETURN(const std::optional<BlobFault> fault,
                        checker_.Check(entry.sha256, entry.size, read));
  ++progress_.blobs_checked;
  if (read) ++progress_.blobs_read;
  ABSL_RETURN_IF_ERROR(Tick());
  if (!fault.has_value()) {
    unreadable_in_a_row_ = 0;
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(JudgeBlob(*fault));
  Damage damage;
  damage.kind = fault->kind;
  damage.message = fault->message;
  damage.sha256 = entry.sha256;
  damage.key = absl::StrCat("blobs/sha256/", entry.sha256.substr(0, 3), "/",
                            entry.sha256);
  damage.project_id = entry.project_id;
  damage.project_name = entry.project_name;
  damage.item_id = entry.item_id;
  damage.path = entry.path;
  damage.storage_urn = entry.storage_urn;
  damage.size = entry.size;
  damage.files = files;
  return Report(std::move(damage));
}

absl::Status Verification::JudgeBlob(const BlobFault& fault) {
  switch (fault.kind) {
    case DamageKind::kMissingBlob:
      return CheckStorage();
    case DamageKind::kUnreadableBlob:
      ABSL_RETURN_IF_ERROR(CheckStorage());
      if (++unreadable_in_a_row_ < kMaxUnreadableInARow) {
        return absl::OkStatus();
      }
      return absl::UnavailableError(absl::StrCat(
          unreadable_in_a_row_,
          " blobs in a row cannot be read, the last: ", fault.message));
    default:
      return absl::OkStatus();
  }
}

absl::Status Verification::CheckStorage() {
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  ABSL_ASSIGN_OR_RETURN(
      const bool stands,
      storage_.ObjectExists(SnapshotKey(progress_.snapshot_id)));
  if (stands) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("snapshot ", progress_.snapshot_id,
                                          " is not there (any "
                                          "more)"));
}

absl::Status Verification::Report(Damage damage) {
  ++progress_.damaged;
  return observer_.OnDamage(damage);
}

absl::Status Verification::Tick() {
  const absl::Duration now = clock_.Monotonic();
  if (now < next_tick_) return absl::OkStatus();
  next_tick_ = now + kTick;
  if (observer_.IsCancelled()) return absl::CancelledError("cancelled");
  observer_.OnProgress(progress_);
  return absl::OkStatus();
}

}  // namespace bimbackup::verify
