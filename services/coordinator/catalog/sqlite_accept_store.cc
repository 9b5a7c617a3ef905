// SqliteCatalogImpl as an AcceptStore.

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/accept_writer.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"

namespace bimbackup::catalog {
namespace {

// Nobody should wait for more; the next backup purges the rest.
constexpr int kPurgesAtOnce = 20;

constexpr char kFindRunning[] = "SELECT id FROM backups WHERE state < 3";

constexpr char kListProjects[] = "SELECT pk FROM projects";

// A name may be that of several.
constexpr char kFindProjects[] =
    "SELECT pk FROM projects WHERE id = ?1 OR name = ?1";

absl::Status CheckIdle(Database& database) {
  Query running(database, kFindRunning);
  if (!running.Next()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("backups/", running.Text(0),
                   " is running: what it finds can be accepted at its end"));
}

absl::StatusOr<std::vector<int64_t>> FindProjects(
    Database& database, const std::vector<std::string>& names) {
  std::vector<int64_t> projects;
  if (names.empty()) {
    Query query(database, kListProjects);
    while (query.Next()) projects.push_back(query.Int(0));
  }
  for (const std::string& name : names) {
    const size_t before = projects.size();
    Query query(database, kFindProjects, name);
    while (query.Next()) projects.push_back(query.Int(0));
    if (projects.size() == before) {
      return absl::InvalidArgumentError(
          absl::StrCat("no project is called \"", name, "\""));
    }
  }
  return projects;
}

void Add(const Accepted& more, Accepted& sum) {
  sum.files += more.files;
  sum.folders += more.folders;
  sum.projects += more.projects;
}

}  // namespace

absl::StatusOr<Accepted> SqliteCatalogImpl::Accept(
    const std::vector<std::string>& projects,
    Accepted (*accept)(WriteBatch&, int64_t)) {
  Accepted accepted;
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) -> absl::Status {
    accepted = Accepted();
    ABSL_RETURN_IF_ERROR(CheckIdle(batch.database()));
    ABSL_ASSIGN_OR_RETURN(const std::vector<int64_t> found,
                          FindProjects(batch.database(), projects));
    for (const int64_t project : found) Add(accept(batch, project), accepted);
    return absl::OkStatus();
  }));
  return accepted;
}

absl::StatusOr<Accepted> SqliteCatalogImpl::AcceptDeletions(
    const std::vector<std::string>& projects) {
  ABSL_ASSIGN_OR_RETURN(const Accepted accepted,
                        Accept(projects, AcceptDeletionsOf));
  ABSL_RETURN_IF_ERROR(PurgeAccepted(kPurgesAtOnce));
  return accepted;
}

absl::StatusOr<Accepted> SqliteCatalogImpl::AcceptDenied(
    const std::vector<std::string>& projects) {
  return Accept(projects, AcceptDeniedOf);
}

absl::Status SqliteCatalogImpl::PurgeAccepted(int transactions) {
  bool more = true;
  for (int i = 0; more && i < transactions; ++i) {
    ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
      more = PurgeSome(batch);
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::catalog
