#include "clients/snapshot_diff/loose_entries.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot_diff {
namespace {

using storage::format::ManifestEntry;

uint64_t ItemHash(const ManifestEntry& entry) {
  return absl::HashOf(static_cast<int>(entry.kind), entry.item_id);
}

bool IsSameItem(const ManifestEntry& a, const ManifestEntry& b) {
  return a.kind == b.kind && a.item_id == b.item_id;
}

}  // namespace

absl::Status LooseEntries::Add(const ManifestEntry& entry) {
  if (file_ == nullptr) {
    ABSL_ASSIGN_OR_RETURN(file_, ScratchFile::Create(folder_));
  }
  const std::string line = storage::format::FormatManifestLine(entry);
  const auto size = static_cast<uint32_t>(line.size());
  std::string record(reinterpret_cast<const char*>(&size), sizeof(size));
  record += line;
  ABSL_ASSIGN_OR_RETURN(const int64_t offset, file_->Append(record));
  places_.push_back({ItemHash(entry), offset});
  return absl::OkStatus();
}

void LooseEntries::Sort() {
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return a.item_hash < b.item_hash;
  });
}

absl::StatusOr<std::optional<ManifestEntry>> LooseEntries::Find(
    const ManifestEntry& entry) const {
  const uint64_t hash = ItemHash(entry);
  auto place = std::lower_bound(
      places_.begin(), places_.end(), hash,
      [](const Place& a, uint64_t b) { return a.item_hash < b; });
  for (; place != places_.end() && place->item_hash == hash; ++place) {
    ABSL_ASSIGN_OR_RETURN(ManifestEntry found, Read(place->offset));
    if (IsSameItem(found, entry)) {
      return std::optional<ManifestEntry>(std::move(found));
    }
  }
  return std::optional<ManifestEntry>();
}

absl::StatusOr<ManifestEntry> LooseEntries::Read(int64_t offset) const {
  uint32_t size = 0;
  ABSL_RETURN_IF_ERROR(
      file_->ReadAt(offset, reinterpret_cast<char*>(&size), sizeof(size)));
  std::string line(size, '\0');
  ABSL_RETURN_IF_ERROR(
      file_->ReadAt(offset + sizeof(size), line.data(), line.size()));
  return storage::format::ParseManifestLine(line);
}

}  // namespace bimbackup::snapshot_diff
