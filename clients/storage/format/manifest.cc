#include "clients/storage/format/manifest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/zstd_stream.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::format {
namespace {

// Whether a manifest of this digest is stored and can be read to its end.
absl::StatusOr<bool> IsWhole(Storage& storage, const std::string& digest) {
  absl::Status status;
  auto reader = ManifestReader::Open(storage, digest);
  if (!reader.ok()) status = reader.status();
  while (status.ok()) {
    const auto entry = (*reader)->Next();
    if (entry.ok() && !entry->has_value()) return true;
    status = entry.status();
  }
  if (absl::IsNotFound(status) || absl::IsDataLoss(status)) return false;
  return status;
}

class ZstdManifestWriter : public ManifestWriter {
 public:
  ZstdManifestWriter(Storage& storage, std::unique_ptr<ObjectWriter> object)
      : storage_(storage), writer_(std::move(object)) {}

  absl::Status Append(const ManifestEntry& entry) override {
    if (!StoredPathLess(last_path_, entry.stored_path)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a manifest's line for ", entry.stored_path,
                       " comes after that for ", last_path_));
    }
    last_path_ = entry.stored_path;
    const std::string line = absl::StrCat(FormatManifestLine(entry), "\n");
    digest_.Update(line);
    counts_.Add(entry);
    return writer_.Append(line);
  }

  absl::StatusOr<std::string> Commit() override {
    ABSL_RETURN_IF_ERROR(writer_.Finish());
    std::string digest = digest_.FinishHex();
    const std::string key = ManifestKey(digest);
    ABSL_ASSIGN_OR_RETURN(const bool whole, IsWhole(storage_, digest));
    if (whole) return digest;
    // A torn one must not stand for what was just written.
    ABSL_RETURN_IF_ERROR(storage_.RemoveObject(key));
    const absl::Status committed = writer_.Commit(key);
    // The same text, as another zstd has compressed it meanwhile.
    if (!absl::IsAlreadyExists(committed)) ABSL_RETURN_IF_ERROR(committed);
    return digest;
  }

  const ManifestCounts& counts() const override { return counts_; }

 private:
  Storage& storage_;
  ZstdWriter writer_;
  Digest digest_{DigestKind::kSha256};
  ManifestCounts counts_;
  std::string last_path_;
};

class ZstdManifestReader : public ManifestReader {
 public:
  ZstdManifestReader(std::unique_ptr<ObjectReader> object,
                     absl::string_view digest)
      : lines_(std::move(object)), expected_(digest) {}

  absl::StatusOr<std::optional<ManifestEntry>> Next() override {
    if (ended_) return std::nullopt;
    ABSL_ASSIGN_OR_RETURN(const std::optional<absl::string_view> line,
                          lines_.Next());
    if (!line) {
      ended_ = true;
      if (digest_.FinishHex() == expected_) return std::nullopt;
      return absl::DataLossError(
          absl::StrCat("manifest ", expected_, " is not what its name says"));
    }
    digest_.Update(*line);
    digest_.Update("\n");
    ABSL_ASSIGN_OR_RETURN(ManifestEntry entry, ParseManifestLine(*line));
    return entry;
  }

 private:
  ZstdLineReader lines_;
  const std::string expected_;
  Digest digest_{DigestKind::kSha256};
  bool ended_ = false;
};

}  // namespace

void ManifestCounts::Add(const ManifestEntry& entry) {
  if (entry.kind == EntryKind::kFolder) {
    ++folders;
  } else {
    ++files;
    if (!entry.sha256.empty()) bytes += entry.size.value_or(0);
  }
  switch (entry.status) {
    case EntryStatus::kStored:
      break;
    case EntryStatus::kCarried:
      ++carried;
      break;
    case EntryStatus::kFailed:
      ++failed;
      break;
    case EntryStatus::kGuarded:
      ++guarded;
      break;
    case EntryStatus::kNoContent:
      ++no_content;
      break;
  }
}

absl::StatusOr<std::unique_ptr<ManifestWriter>> ManifestWriter::Create(
    Storage& storage) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectWriter> object,
                        storage.OpenObjectWriter());
  return std::make_unique<ZstdManifestWriter>(storage, std::move(object));
}

absl::StatusOr<std::unique_ptr<ManifestReader>> ManifestReader::Open(
    Storage& storage, absl::string_view digest) {
  if (!IsSha256Hex(digest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", digest, "' is no manifest's digest"));
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectReader> object,
                        storage.OpenObject(ManifestKey(digest)));
  return std::make_unique<ZstdManifestReader>(std::move(object), digest);
}

std::string ManifestKey(absl::string_view digest) {
  return absl::StrCat("manifests/sha256/", digest.substr(0, 3), "/", digest,
                      ".jsonl.zst");
}

bool StoredPathLess(absl::string_view a, absl::string_view b) {
  // Stored names hold no control characters, so that '/' as the least of all
  // compares component by component.
  const auto rank = [](char c) {
    return c == '/' ? 0 : static_cast<unsigned char>(c);
  };
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](char left, char right) { return rank(left) < rank(right); });
}

}  // namespace bimbackup::storage::format
