// Autodesk's API in typed calls: the seam between bimbackup and Autodesk
// Platform Services. The implementation is ApsClient; tests use
// FakeBim360Client.

#ifndef CLIENTS_BIM360_BIM360_CLIENT_H_
#define CLIENTS_BIM360_BIM360_CLIENT_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace bimbackup::bim360 {

// A hub: one account in one region.
struct Hub {
  // "b.<account>" for BIM 360 and ACC.
  std::string id;
  std::string name;
  // US, EMEA, AUS and others; an open set.
  std::string region;
  // For example "hubs:autodesk.bim360:Account".
  std::string type;
};

// One entry of a 200 answer's `meta.warnings`: a region that could not be
// asked, as a rule because the app is not provisioned there.
struct Warning {
  std::string http_status;
  std::string code;
  std::string title;
  std::string detail;
};

struct HubList {
  std::vector<Hub> hubs;
  std::vector<Warning> warnings;
};

struct Project {
  // "b.<guid>".
  std::string id;
  std::string name;
  // "ACC", "BIM360" or whatever Autodesk says; empty where it says nothing.
  std::string kind;
  // Empty where the listing does not give it; then ListTopFolders serves.
  std::string root_folder_id;
};

struct ProjectPage {
  std::vector<Project> projects;
  // As FolderPage::defects.
  std::vector<std::string> defects;
  // What the next call takes as `page_url`; empty after the last page.
  std::string next_page_url;
};

struct Folder {
  std::string id;
  std::string name;
  // As Autodesk writes it, to be compared for equality only; empty where
  // missing.
  std::string rollup;
  // normal, plan, shared, recycle, drawing, or empty.
  std::string folder_type;
  bool hidden = false;
  // From the topmost folder down to this one's parent; filled only for top
  // folders that lie deeper, which a caller without rights at the root sees.
  std::vector<std::string> parent_names;
};

// An item with its tip version.
struct Item {
  std::string item_id;
  // The tip's `name`; the item's displayName only where the tip is missing.
  std::string name;
  bool hidden = false;
  // For example "items:autodesk.bim360:File".
  std::string item_type;
  // Empty for an item without a tip, which has nothing to download. (One
  // whose tip is named but missing from the answer is a defect instead.)
  std::string version_id;
  int version_number = 0;
  // For example "versions:autodesk.bim360:File".
  std::string version_type;
  // Nothing where Autodesk does not say.
  std::optional<int64_t> size;
  // "urn:adsk.objects:os.object:<bucket>/<key>"; empty for a version without
  // content.
  std::string storage_urn;
  // The version's last modification; infinite past where missing.
  absl::Time last_modified = absl::InfinitePast();
};

struct FolderPage {
  std::vector<Folder> folders;
  std::vector<Item> items;
  // One line for each malformed entry: left out (no id, no name, no tip where
  // one is named), or listed without what was impossible (a size of 2^63).
  // The rest of the page is good, but the listing is incomplete, and nothing
  // may be held for vanished because of it.
  std::vector<std::string> defects;
  // What the next call takes as `page_url`; empty after the last page.
  std::string next_page_url;
};

// A signed URL and the inclusive byte range of the object that it gives.
struct SignedRange {
  int64_t first = 0;
  // -1 for "to the end", where the size is not known.
  int64_t last = -1;
  // Secret: never logged, stored, or sent to anybody but a worker.
  std::string url;
};

// Where the bytes of a storage object can be fetched until `expires`.
struct SignedDownload {
  // One range for a whole object, several for one that Autodesk keeps in
  // chunks; in order, gapless from 0.
  std::vector<SignedRange> ranges;
  std::optional<int64_t> size;
  // Lower-case hexadecimal; empty where Autodesk gives none.
  std::string sha1;
  // On Clock::Monotonic()'s scale.
  absl::Duration expires;
};

// Nobody says how many may be asked for; Autodesk names this number for
// uploads.
inline constexpr size_t kMaxSignedTogether = 25;

// Errors of every call, after its own bounded retries: UNAUTHENTICATED (the
// credentials are refused), PERMISSION_DENIED (403), NOT_FOUND (404),
// INVALID_ARGUMENT (400), UNAVAILABLE (429, 5xx and transport errors to the
// last attempt), DATA_LOSS (a malformed or contradictory answer; a next link
// to a foreign host), CANCELLED. Messages name the call, the HTTP status and
// Autodesk's error code, and hold no secret.
//
// Thread-safe. Calls block, for at most their deadline and as long as the
// limiter makes them wait; run them on threads of one's own. A stop requested
// of its `cancel` ends a call at once, wherever it waits, and so does Cancel()
// with all of them.
class Bim360Client {
 public:
  virtual ~Bim360Client() = default;

  virtual absl::StatusOr<HubList> ListHubs(const std::stop_token& cancel) = 0;

  // One page of the hub's active projects; the first where `page_url` is
  // empty.
  virtual absl::StatusOr<ProjectPage> ListProjects(
      absl::string_view hub_id, absl::string_view page_url,
      const std::stop_token& cancel) = 0;

  // The highest folders that the caller may see, in one answer: a page
  // without items and without a next one.
  virtual absl::StatusOr<FolderPage> ListTopFolders(
      absl::string_view hub_id, absl::string_view project_id,
      const std::stop_token& cancel) = 0;

  // One page of a folder's sub-folders and items with their tips; the first
  // where `page_url` is empty. `page_url` is a next_page_url as it was given:
  // what the server wrote, so that a link to another host than the API's, or
  // one that is no URL, is refused here with DATA_LOSS, unasked. The caller
  // looks for loops (PageLoopGuard).
  virtual absl::StatusOr<FolderPage> ListFolderContents(
      absl::string_view project_id, absl::string_view folder_id,
      absl::string_view page_url, const std::stop_token& cancel) = 0;

  // Signed URLs of a storage object, good for `lifetime` (1 to 60 minutes).
  // INVALID_ARGUMENT for a malformed URN.
  virtual absl::StatusOr<SignedDownload> SignDownload(
      absl::string_view storage_urn, absl::Duration lifetime,
      const std::stop_token& cancel) = 0;

  // The same for several storage objects of one bucket, at most
  // kMaxSignedTogether, with one call; in their order, each with a status of
  // its own. PERMISSION_DENIED where Autodesk lets only the bucket's owner do
  // so, as with this default: sign one by one.
  virtual absl::StatusOr<std::vector<absl::StatusOr<SignedDownload>>>
  SignDownloads(const std::vector<std::string>& storage_urns,
                absl::Duration lifetime, const std::stop_token& cancel);

  // The server's wall clock minus ours, from the latest answer's Date;
  // nothing before the first.
  virtual std::optional<absl::Duration> ClockSkew() const = 0;

  // Ends every running and every later call with CANCELLED.
  virtual void Cancel() = 0;
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_BIM360_CLIENT_H_
