#include "services/coordinator/state.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/snapshot_file.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/sqlite_catalog.h"
#include "services/coordinator/rebuild/catalog_rebuilder.h"

namespace bimbackup::coordinator {
namespace {

constexpr absl::string_view kStorageId = "storage_id";

absl::Status Prefixed(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(what, ": ", status.message()));
}

bool IsWritable(const std::filesystem::path& folder) {
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

// Whether the state folder can hold a catalog, or be made to; writes nothing.
absl::Status CheckStateFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) {
    if (IsWritable(folder)) return absl::OkStatus();
  } else if (!std::filesystem::exists(folder, error)) {
    const auto parent = std::filesystem::absolute(folder, error).parent_path();
    if (std::filesystem::is_directory(parent, error) && IsWritable(parent)) {
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("--state_dir: ", folder.string(),
                   " is not a folder that can be written"));
}

absl::StatusOr<std::unique_ptr<storage::Storage>> OpenStorageFor(
    const Options& options, bool catalog_is_new) {
  storage::OpenOptions open;
  open.url = options.storage;
  // What is to be rebuilt from is there, or not mounted.
  open.create = catalog_is_new && !options.rebuild_catalog;
  open.latest = options.latest;
  absl::StatusOr<std::unique_ptr<storage::Storage>> storage =
      storage::OpenStorage(open);
  if (!storage.ok()) return Prefixed("--storage", storage.status());
  if (!catalog_is_new) return storage;
  ABSL_ASSIGN_OR_RETURN(const auto snapshots,
                        storage::format::ListSnapshotIds(**storage));
  if (!snapshots.empty() && !options.rebuild_catalog) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--storage: ", options.storage, " holds ", snapshots.size(),
        " snapshots, but --state_dir ", options.state_dir,
        " holds no catalog: bring its catalog back, start once with "
        "--rebuild_catalog, or take an empty storage"));
  }
  return storage;
}

// With --rebuild_catalog, which may stay set: it does nothing where there is
// a catalog, or no snapshot.
absl::Status RebuildIfAsked(const Options& options, bool catalog_is_new,
                            storage::Storage& storage, Clock& clock) {
  if (!options.rebuild_catalog) return absl::OkStatus();
  if (!catalog_is_new) {
    spdlog::info("--rebuild_catalog: {} holds a catalog, which stands",
                 options.state_dir);
    return absl::OkStatus();
  }
  ABSL_ASSIGN_OR_RETURN(const auto snapshots,
                        storage::format::ListSnapshotIds(storage));
  if (snapshots.empty()) {
    spdlog::info(
        "--rebuild_catalog: {} holds no snapshot; a new catalog begins",
        options.storage);
    return absl::OkStatus();
  }
  const absl::Status rebuilt = rebuild::RebuildCatalog(
      storage, options.state_dir, options.account_id, clock);
  return rebuilt.ok() ? rebuilt : Prefixed("--rebuild_catalog", rebuilt);
}

// The catalog learns its storage's id once, and knows no other from then on.
absl::Status Marry(catalog::Catalog& catalog, storage::Storage& storage) {
  const absl::StatusOr<std::string> known = catalog.GetSetting(kStorageId);
  if (!known.ok() && !absl::IsNotFound(known.status())) return known.status();
  if (!known.ok() || known->empty()) {
    return catalog.SetSetting(kStorageId, storage.id());
  }
  if (*known == storage.id()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "--storage: this is storage ", storage.id(), ", but the catalog's is ",
      *known, ": is another share mounted?"));
}

}  // namespace

absl::StatusOr<State> OpenState(const Options& options, Clock& clock,
                                Random& random) {
  State state;
  ABSL_RETURN_IF_ERROR(CheckStateFolder(options.state_dir));
  std::error_code error;
  const bool catalog_is_new = !std::filesystem::exists(
      std::filesystem::path(options.state_dir) / "catalog.db", error);
  ABSL_ASSIGN_OR_RETURN(state.storage, OpenStorageFor(options, catalog_is_new));
  ABSL_RETURN_IF_ERROR(
      RebuildIfAsked(options, catalog_is_new, *state.storage, clock));
  catalog::SqliteCatalogOptions catalog_options;
  catalog_options.state_dir = options.state_dir;
  absl::StatusOr<std::unique_ptr<catalog::Catalog>> catalog =
      catalog::SqliteCatalog::Open(catalog_options, clock, random);
  if (!catalog.ok()) return Prefixed("--state_dir", catalog.status());
  state.catalog = *std::move(catalog);
  ABSL_RETURN_IF_ERROR(Marry(*state.catalog, *state.storage));
  return state;
}

}  // namespace bimbackup::coordinator
