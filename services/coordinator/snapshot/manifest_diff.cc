#include "services/coordinator/snapshot/manifest_diff.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/storage/format/manifest.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {
namespace {

using storage::LatestView;
using storage::Storage;
using storage::format::EntryKind;
using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::StoredPathLess;

// The entries of a manifest that the view shows, one at a time.
class ShownEntries {
 public:
  // An empty digest stands for a manifest without entries.
  static absl::StatusOr<ShownEntries> Open(Storage& storage,
                                           const std::string& digest) {
    ShownEntries entries;
    if (digest.empty()) return entries;
    ABSL_ASSIGN_OR_RETURN(entries.reader_,
                          ManifestReader::Open(storage, digest));
    ABSL_RETURN_IF_ERROR(entries.Advance());
    return entries;
  }

  bool at_end() const { return !current_; }
  const ManifestEntry& current() const { return *current_; }

  absl::Status Advance() {
    do {
      ABSL_ASSIGN_OR_RETURN(current_, reader_->Next());
    } while (current_ && current_->kind == EntryKind::kFile &&
             current_->sha256.empty());
    return absl::OkStatus();
  }

  // Advances to `path`; returns its entry, or null where there is none.
  absl::StatusOr<const ManifestEntry*> Find(const std::string& path) {
    while (current_ && StoredPathLess(current_->stored_path, path)) {
      ABSL_RETURN_IF_ERROR(Advance());
    }
    const bool found = current_ && current_->stored_path == path;
    return found ? &*current_ : nullptr;
  }

 private:
  std::unique_ptr<ManifestReader> reader_;
  std::optional<ManifestEntry> current_;
};

bool ShowsTheSame(const ManifestEntry& a, const ManifestEntry& b) {
  if (a.kind != b.kind) return false;
  return a.kind == EntryKind::kFolder ||
         (a.sha256 == b.sha256 && a.last_modified == b.last_modified);
}

absl::Status RemoveOne(LatestView& view, const std::string& path) {
  const absl::Status removed = view.Remove(path);
  if (!absl::IsFailedPrecondition(removed)) return removed;
  spdlog::warn("the latest view keeps a folder that is gone: {}", removed);
  return absl::OkStatus();
}

// Removes folders only after what they hold, although they are met before.
class FolderRemover {
 public:
  explicit FolderRemover(LatestView& view) : view_(view) {}

  void Add(const std::string& path) { pending_.push_back(path); }

  // Removes those that do not hold `path`, because all they hold has passed.
  absl::Status PassTo(absl::string_view path) {
    while (!pending_.empty()) {
      absl::string_view rest = path;
      if (absl::ConsumePrefix(&rest, pending_.back()) &&
          absl::StartsWith(rest, "/")) {
        break;
      }
      ABSL_RETURN_IF_ERROR(RemoveOne(view_, pending_.back()));
      pending_.pop_back();
    }
    return absl::OkStatus();
  }

 private:
  LatestView& view_;
  std::vector<std::string> pending_;
};

absl::Status RemoveOutdatedOf(Storage& storage, LatestView& view,
                              const std::string& base_digest,
                              const std::string& target_digest) {
  ABSL_ASSIGN_OR_RETURN(ShownEntries base,
                        ShownEntries::Open(storage, base_digest));
  ABSL_ASSIGN_OR_RETURN(ShownEntries target,
                        ShownEntries::Open(storage, target_digest));
  FolderRemover folders(view);
  while (!base.at_end()) {
    const ManifestEntry& entry = base.current();
    ABSL_RETURN_IF_ERROR(folders.PassTo(entry.stored_path));
    ABSL_ASSIGN_OR_RETURN(const ManifestEntry* kept,
                          target.Find(entry.stored_path));
    if (kept == nullptr || kept->kind != entry.kind) {
      if (entry.kind == EntryKind::kFolder) {
        folders.Add(entry.stored_path);
      } else {
        ABSL_RETURN_IF_ERROR(RemoveOne(view, entry.stored_path));
      }
    }
    ABSL_RETURN_IF_ERROR(base.Advance());
  }
  return folders.PassTo("");
}

absl::Status Put(LatestView& view, const ManifestEntry& entry,
                 Additions& additions) {
  ++additions.entries;
  if (additions.on_entry) {
    ABSL_RETURN_IF_ERROR(additions.on_entry(additions.entries));
  }
  if (entry.kind == EntryKind::kFolder) {
    return view.PutFolder(entry.stored_path);
  }
  const absl::Status put =
      view.PutFile(entry.stored_path, entry.sha256, entry.last_modified);
  if (!absl::IsNotFound(put)) return put;
  ++additions.missing_blobs;
  additions.missing_path = entry.stored_path;
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveOutdated(Storage& storage, LatestView& view,
                            const ProjectChange& change) {
  for (const std::string& base : change.bases) {
    if (base.empty() || base == change.target) continue;
    ABSL_RETURN_IF_ERROR(RemoveOutdatedOf(storage, view, base, change.target));
  }
  return absl::OkStatus();
}

absl::Status AddMissing(Storage& storage, LatestView& view,
                        const ProjectChange& change, Additions& additions) {
  std::vector<ShownEntries> bases;
  for (const std::string& digest : change.bases) {
    ABSL_ASSIGN_OR_RETURN(ShownEntries base,
                          ShownEntries::Open(storage, digest));
    bases.push_back(std::move(base));
  }
  ABSL_ASSIGN_OR_RETURN(ShownEntries target,
                        ShownEntries::Open(storage, change.target));
  while (!target.at_end()) {
    const ManifestEntry& entry = target.current();
    bool shown = !bases.empty();
    for (ShownEntries& base : bases) {
      ABSL_ASSIGN_OR_RETURN(const ManifestEntry* known,
                            base.Find(entry.stored_path));
      shown = shown && known != nullptr && ShowsTheSame(*known, entry);
    }
    if (!shown) ABSL_RETURN_IF_ERROR(Put(view, entry, additions));
    ABSL_RETURN_IF_ERROR(target.Advance());
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::snapshot
