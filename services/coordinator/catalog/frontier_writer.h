// Changes to the frontier, within a transaction.

#ifndef SERVICES_COORDINATOR_CATALOG_FRONTIER_WRITER_H_
#define SERVICES_COORDINATOR_CATALOG_FRONTIER_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// Why a task is not handed out; values of frontier.blocked.
enum class Blocked { kOpen = 0, kUnlisted = 1, kFiltered = 2, kGone = 3 };

// A row of the frontier.
struct FrontierRow {
  int64_t task = 0;
  FrontierTask::Kind kind = FrontierTask::Kind::kFolder;
  int64_t project = 0;
  int64_t folder = 0;
  // The folder's rollup when the listing could first begin.
  std::string rollup;
  int page_number = 0;
  // What the pages so far could not be read in.
  std::string defect;
  // Something in it that the filter left out has changed.
  bool keep = false;
  int times_blocked = 0;
};

// Nothing where the task is not in the frontier (any more).
std::optional<FrontierRow> FindTask(Database& database, int64_t task);

// Adds a task, with a number above all earlier ones, and makes it its
// folder's, where it has one. Returns the number.
int64_t PushTask(Database& database, FrontierTask::Kind kind, int64_t project,
                 int64_t folder, absl::string_view rollup, Blocked blocked);

// The task goes on with this page.
void AdvanceTask(Database& database, const FrontierRow& row,
                 absl::string_view page_url);

// Starts a task's listing anew, under a new number, so that what an earlier
// attempt saw does not count as seen.
void RenewTask(Database& database, const FrontierRow& row, Blocked blocked);

void RemoveTask(Database& database, const FrontierRow& row);

// Blocks or opens the tasks of a folder and of everything below it.
void BlockSubtree(Database& database, int64_t folder);
void OpenSubtree(Database& database, int64_t folder);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_FRONTIER_WRITER_H_
