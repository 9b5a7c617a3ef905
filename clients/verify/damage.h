// What a verification finds and how far it is. Values, no behaviour.

#ifndef CLIENTS_VERIFY_DAMAGE_H_
#define CLIENTS_VERIFY_DAMAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bimbackup::verify {

enum class DamageKind {
  kMissingBlob,
  kWrongSize,
  kWrongDigest,
  kUnreadableBlob,
  kManifest,
  kSnapshot,
};

// Something that is not as it was stored.
struct Damage {
  DamageKind kind = DamageKind::kMissingBlob;
  // The object or blob, by its key in the storage.
  std::string key;
  // For people.
  std::string message;
  // The blob's or manifest's digest as it should be; empty for a snapshot
  // file.
  std::string sha256;
  // A manifest's project; with a blob, that of one file that has it.
  std::string project_id;
  std::string project_name;
  // With a blob: one file that has it.
  std::string item_id;
  // Original names from the project's root down.
  std::vector<std::string> path;
  // Where the blob's bytes came from, and how many they should be.
  std::string storage_urn;
  std::optional<int64_t> size;
  // Files of the snapshot that have the blob, or stand in the manifest.
  int64_t files = 0;
};

struct VerifyProgress {
  std::string snapshot_id;
  int64_t manifests_done = 0;
  int64_t manifests = 0;
  // Blobs whose presence and size were looked at, each once.
  int64_t blobs_checked = 0;
  // Blobs read again, and their bytes.
  int64_t blobs_read = 0;
  int64_t bytes_read = 0;
  // Bytes to be read in all; grows while manifests are read.
  int64_t bytes_to_read = 0;
  int64_t damaged = 0;
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_DAMAGE_H_
