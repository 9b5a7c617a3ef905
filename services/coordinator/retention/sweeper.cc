#include "services/coordinator/retention/sweeper.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "clients/storage/format/manifest.h"
#include "services/common/digest.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"

namespace bimbackup::retention {
namespace {

using catalog::SweepGate;
using storage::ObjectPage;

// Removed within one pass of a gate. Each removal waits for the disk, and
// whoever works waits meanwhile.
constexpr size_t kManifestBatch = 64;
constexpr size_t kBlobBatch = 16;

// How far the clock of whoever keeps the files may be behind ours.
constexpr absl::Duration kClockSkew = absl::Hours(1);

constexpr absl::string_view kManifests = "manifests/sha256/";
constexpr absl::string_view kManifestSuffix = ".jsonl.zst";
constexpr absl::string_view kBlobs = "blobs/sha256/";

// The digest in a key's last component; empty for what is not ours.
std::string DigestIn(const std::string& key, absl::string_view suffix) {
  absl::string_view name = key;
  name.remove_prefix(name.rfind('/') + 1);
  if (!absl::ConsumeSuffix(&name, suffix) || !IsSha256Hex(name)) return "";
  return std::string(name.data(), name.size());
}

// The same for a blob, where it stands in the folder that is its own.
std::string BlobDigest(const ObjectPage::Entry& blob) {
  const std::string digest = DigestIn(blob.key, "");
  const std::string key =
      absl::StrCat(kBlobs, digest.substr(0, 3), "/", digest);
  return blob.key == key ? digest : "";
}

std::vector<std::string> BlobDigests(
    const std::vector<ObjectPage::Entry>& blobs) {
  std::vector<std::string> digests;
  for (const ObjectPage::Entry& blob : blobs) {
    digests.push_back(BlobDigest(blob));
  }
  return digests;
}

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool Contains(const std::vector<BinaryDigest>& sorted,
              const BinaryDigest& digest) {
  return std::binary_search(sorted.begin(), sorted.end(), digest,
                            [](const BinaryDigest& a, const BinaryDigest& b) {
                              return std::memcmp(a.data(), b.data(),
                                                 sizeof(a)) < 0;
                            });
}

absl::Status Gone() { return absl::CancelledError("the caller has gone"); }

}  // namespace

Sweeper::Sweeper(storage::Storage& storage, catalog::TreeStore& tree,
                 catalog::SweepStore& store, catalog::SweepGates& gates,
                 RunningSince running_since, const Options& options)
    : storage_(storage),
      store_(store),
      gates_(gates),
      running_since_(std::move(running_since)),
      options_(options),
      marks_(storage, tree, options.scratch_folder, options.without) {}

absl::Status Sweeper::Run(
    const std::function<bool(const SweepCounts&)>& report) {
  report_ = report;
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  ABSL_RETURN_IF_ERROR(SweepManifests());
  MaybeCrash("sweep.manifests");
  return SweepBlobs();
}

absl::Status Sweeper::SweepManifests() {
  std::string token;
  do {
    if (Cancelled()) return Gone();
    ABSL_ASSIGN_OR_RETURN(ObjectPage page, storage_.List(kManifests, token));
    std::vector<std::string> batch;
    for (const ObjectPage::Entry& entry : page.entries) {
      std::string digest = DigestIn(entry.key, kManifestSuffix);
      if (!digest.empty()) batch.push_back(std::move(digest));
      const bool is_last = &entry == &page.entries.back();
      if (batch.size() < kManifestBatch && !is_last) continue;
      ABSL_RETURN_IF_ERROR(SweepManifestBatch(batch));
      batch.clear();
    }
    token = std::move(page.next_page_token);
  } while (!token.empty());
  return absl::OkStatus();
}

absl::Status Sweeper::SweepManifestBatch(
    const std::vector<std::string>& digests) {
  const SweepGate::Pass pass(gates_.snapshots, SweepGate::Party::kSweep);
  // Whoever writes a manifest is outside: it stands in the catalog or in a
  // snapshot, or it is left over.
  ABSL_RETURN_IF_ERROR(marks_.AddSnapshots());
  ABSL_RETURN_IF_ERROR(marks_.AddCatalog());
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  for (const std::string& digest : digests) {
    if (marks_.IsNamed(digest)) continue;
    if (!options_.dry_run) {
      ABSL_RETURN_IF_ERROR(
          storage_.RemoveObject(storage::format::ManifestKey(digest)));
      MaybeCrash("sweep.manifest_removed");
    }
    ++counts_.manifests_removed;
  }
  return absl::OkStatus();
}

absl::Status Sweeper::CatchUp() {
  do {
    seen_snapshots_ = gates_.snapshots_written;
    {
      const SweepGate::Pass pass(gates_.snapshots, SweepGate::Party::kSweep);
      ABSL_RETURN_IF_ERROR(marks_.AddSnapshots());
      ABSL_RETURN_IF_ERROR(marks_.AddCatalog());
    }
    ABSL_RETURN_IF_ERROR(marks_.AddBlobs([this] { return Cancelled(); }));
  } while (seen_snapshots_ != gates_.snapshots_written);
  bucket_ = -1;
  return absl::OkStatus();
}

absl::Status Sweeper::SweepBlobs() {
  ABSL_RETURN_IF_ERROR(CatchUp());
  std::string token;
  do {
    if (Cancelled()) return Gone();
    ABSL_ASSIGN_OR_RETURN(ObjectPage page, storage_.List(kBlobs, token));
    ABSL_ASSIGN_OR_RETURN(std::vector<Entry> left,
                          DropMarked(std::move(page.entries)));
    while (!left.empty()) {
      if (Cancelled()) return Gone();
      ABSL_RETURN_IF_ERROR(SweepBlobBatch(left));
    }
    token = std::move(page.next_page_token);
  } while (!token.empty());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Sweeper::Entry>> Sweeper::DropMarked(
    std::vector<Entry> blobs) {
  std::vector<Entry> left;
  for (Entry& blob : blobs) {
    const std::string digest = BlobDigest(blob);
    if (digest.empty()) continue;
    const BinaryDigest binary = ToBinary(digest);
    const int bucket = static_cast<unsigned char>(binary[0]);
    // They come in order.
    if (bucket != bucket_) {
      ABSL_ASSIGN_OR_RETURN(marked_, marks_.ReadBlobs(bucket));
      bucket_ = bucket;
    }
    if (!Contains(marked_, binary)) left.push_back(std::move(blob));
  }
  return left;
}

absl::Status Sweeper::SweepBlobBatch(std::vector<Entry>& left) {
  const auto end = left.begin() + std::min(kBlobBatch, left.size());
  std::vector<Entry> batch(left.begin(), end);
  ABSL_ASSIGN_OR_RETURN(const std::optional<absl::Time> since,
                        running_since_());
  const auto young =
      std::stable_partition(batch.begin(), batch.end(), [&](const Entry& blob) {
        return !since.has_value() || blob.modified < *since - kClockSkew;
      });
  const int64_t kept = std::distance(young, batch.end());
  batch.erase(young, batch.end());
  ABSL_ASSIGN_OR_RETURN(const bool up_to_date, RemoveBlobs(batch));
  if (!up_to_date) {
    // All that is left may be named now.
    ABSL_RETURN_IF_ERROR(CatchUp());
    ABSL_ASSIGN_OR_RETURN(left, DropMarked(std::move(left)));
    return absl::OkStatus();
  }
  counts_.blobs_kept += kept;
  left.erase(left.begin(), end);
  return absl::OkStatus();
}

absl::StatusOr<bool> Sweeper::RemoveBlobs(const std::vector<Entry>& blobs) {
  const SweepGate::Pass pass(gates_.results, SweepGate::Party::kSweep);
  if (seen_snapshots_ != gates_.snapshots_written) return false;
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  const std::vector<std::string> digests = BlobDigests(blobs);
  // The catalog lets go first: it must never call stored what is not there.
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> needed,
                        options_.dry_run ? store_.ListNeeded(digests)
                                         : store_.ForgetUnneeded(digests));
  if (!options_.dry_run) MaybeCrash("sweep.blobs_forgotten");
  for (size_t i = 0; i < blobs.size(); ++i) {
    if (Contains(needed, digests[i])) {
      ++counts_.blobs_kept;
      continue;
    }
    if (!options_.dry_run) {
      ABSL_RETURN_IF_ERROR(storage_.RemoveBlob(digests[i]));
      MaybeCrash("sweep.blob_removed");
    }
    ++counts_.blobs_removed;
    counts_.bytes_removed += blobs[i].size;
  }
  return true;
}

}  // namespace bimbackup::retention
