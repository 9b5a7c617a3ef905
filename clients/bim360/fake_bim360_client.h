// An account in memory behind the BIM 360 seam, for tests.

#ifndef CLIENTS_BIM360_FAKE_BIM360_CLIENT_H_
#define CLIENTS_BIM360_FAKE_BIM360_CLIENT_H_

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360 {

// Behaves as Autodesk does: pages, hidden entries left out, rollups that move
// with every change below. Counts calls and answers scripted errors. Retries
// nothing. Thread-safe; changes show at once.
class FakeBim360Client : public Bim360Client {
 public:
  enum class Call {
    kListHubs,
    kListProjects,
    kListTopFolders,
    kListFolderContents,
    kSignDownload,
  };

  static constexpr const char* kHubId = "b.fake-account";

  // With one hub, kHubId, and no project.
  FakeBim360Client();

  // Building and changing the account. An unknown parent is made up.

  void AddWarning(Warning warning);
  // Adds or replaces; where `root_folder_id` is empty, "<id>-root" is used.
  // Top folders are that folder's children.
  void AddProject(Project project);
  void RemoveProject(absl::string_view project_id);
  // Adds or replaces the folder, and puts it under `parent_id` (a folder, or
  // a project for its root). Its rollup is kept by this class.
  void AddFolder(absl::string_view parent_id, Folder folder);
  // Adds a folder called `name` with the id "<parent_id>/<name>"; returns it.
  std::string AddFolder(absl::string_view parent_id, absl::string_view name);
  // Puts an existing folder under one more parent: a cycle, for instance.
  void LinkFolder(absl::string_view parent_id, absl::string_view folder_id);
  void RemoveFolder(absl::string_view parent_id, absl::string_view folder_id);
  // Adds the item, or replaces the one with its id in that folder.
  void AddItem(absl::string_view folder_id, Item item);
  // Adds version 1 of a file with made-up ids and a storage object.
  Item AddFile(absl::string_view folder_id, absl::string_view name,
               int64_t size);
  void RemoveItem(absl::string_view folder_id, absl::string_view item_id);

  // How the account answers.

  void SetPageSize(int entries);
  // False: from now on no change moves a rollup.
  void SetRollupsMove(bool move);
  // Sets a rollup, which the next change below moves again.
  void SetRollup(absl::string_view folder_id, absl::string_view rollup);
  // The folder's last page leads back to its second one.
  void LoopPages(absl::string_view folder_id);
  // Every page of this folder, or of kHubId's projects, has this defect.
  void AddDefect(absl::string_view folder_id, absl::string_view defect);
  // What SignDownload answers for this object, instead of one URL
  // "https://storage.invalid/<urn>" with the size of its item.
  void SetDownload(absl::string_view storage_urn, SignedDownload download);
  // The next `times` calls of this kind for `id` (project for top folders,
  // folder, storage URN; empty for any) answer `status`; -1 for ever.
  void FailNext(Call call, absl::string_view id, absl::Status status,
                int times = 1);
  void ClearFailures();
  // Called, outside every lock, at the start of each call; may block.
  void SetBeforeCall(
      std::function<void(Call call, const std::string& id)> hook);

  // While set, every call waits, as for a turn that does not come, until it
  // is cancelled.
  void HoldCalls(bool hold);
  // Calls that wait so.
  int WaitingCalls() const;

  // What was asked.

  int CallCount(Call call) const;
  int CallCount(Call call, absl::string_view id) const;
  // Page URLs asked of a folder, "" for the first page, in order.
  std::vector<std::string> PagesAsked(absl::string_view folder_id) const;
  void ResetCalls();

  absl::StatusOr<HubList> ListHubs(const std::stop_token& cancel) override;
  absl::StatusOr<ProjectPage> ListProjects(
      absl::string_view hub_id, absl::string_view page_url,
      const std::stop_token& cancel) override;
  absl::StatusOr<FolderPage> ListTopFolders(
      absl::string_view hub_id, absl::string_view project_id,
      const std::stop_token& cancel) override;
  absl::StatusOr<FolderPage> ListFolderContents(
      absl::string_view project_id, absl::string_view folder_id,
      absl::string_view page_url, const std::stop_token& cancel) override;
  absl::StatusOr<SignedDownload> SignDownload(
      absl::string_view storage_urn, absl::Duration lifetime,
      const std::stop_token& cancel) override;
  std::optional<absl::Duration> ClockSkew() const override;
  void Cancel() override;

 private:
  struct Node {
    Folder folder;
    std::vector<std::string> parents;
    std::vector<std::string> children;
    std::vector<Item> items;
    std::vector<std::string> defects;
    bool loops = false;
  };
  struct Failure {
    Call call;
    std::string id;
    absl::Status status;
    int times = 0;
  };
  struct Asked {
    Call call;
    std::string id;
    std::string page_url;
  };

  absl::Status Begin(Call call, absl::string_view id,
                     absl::string_view page_url, const std::stop_token& cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);
  Node& Find(absl::string_view folder_or_project_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Touch(const std::string& folder_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string RootOf(absl::string_view id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::vector<Warning> warnings_ ABSL_GUARDED_BY(mutex_);
  std::vector<Project> projects_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Node> nodes_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, SignedDownload> downloads_ ABSL_GUARDED_BY(mutex_);
  std::vector<Failure> failures_ ABSL_GUARDED_BY(mutex_);
  std::vector<Asked> asked_ ABSL_GUARDED_BY(mutex_);
  std::function<void(Call, const std::string&)> before_call_
      ABSL_GUARDED_BY(mutex_);
  int page_size_ ABSL_GUARDED_BY(mutex_) = 200;
  bool rollups_move_ ABSL_GUARDED_BY(mutex_) = true;
  int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool hold_calls_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  CondVar changed_;
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_FAKE_BIM360_CLIENT_H_
