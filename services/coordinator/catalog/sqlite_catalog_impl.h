// The catalog's stores on SQLite. Included by their sources only.

#ifndef SERVICES_COORDINATOR_CATALOG_SQLITE_CATALOG_IMPL_H_
#define SERVICES_COORDINATOR_CATALOG_SQLITE_CATALOG_IMPL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/catalog/checkpointer.h"
#include "services/coordinator/catalog/group_commit.h"
#include "services/coordinator/catalog/reader_pool.h"
#include "services/coordinator/catalog/state_lock.h"
#include "services/coordinator/catalog/tree_writer.h"

namespace bimbackup::catalog {

// Each store is in a source of its own. Reads go to `readers_`, changes
// through `writer_`. Thread-safe.
class SqliteCatalogImpl : public Catalog {
 public:
  SqliteCatalogImpl(std::unique_ptr<StateLock> lock,
                    std::unique_ptr<Checkpointer> checkpointer,
                    std::unique_ptr<Database> writer,
                    std::unique_ptr<ReaderPool> readers, std::string path,
                    Clock& clock, Random& random);

  // Once, before anything else.
  absl::Status LoadHashes();

  // BackupStore.
  absl::StatusOr<BackupRecord> CreateBackup(
      const BackupRequest& request) override;
  absl::StatusOr<BackupRecord> GetBackup(absl::string_view id) override;
  absl::StatusOr<std::optional<BackupRecord>> GetRunningBackup() override;
  absl::StatusOr<std::vector<BackupRecord>> ListBackups(BackupNumber before,
                                                        int limit) override;
  absl::Status SetBackupState(BackupNumber number, BackupState state,
                              absl::string_view message) override;
  absl::Status AddApiCalls(
      BackupNumber number,
      const std::map<std::string, int64_t>& calls) override;
  absl::StatusOr<AccountTotals> GetTotals() override;
  absl::StatusOr<std::string> GetSetting(absl::string_view name) override;
  absl::Status SetSetting(absl::string_view name,
                          absl::string_view value) override;

  // CrawlStore.
  absl::Status SetViewer(absl::string_view viewer) override;
  absl::Status BeginCrawl(BackupNumber backup,
                          const FileFilter& wanted) override;
  absl::StatusOr<int64_t> PushOldestFolders(BackupNumber backup,
                                            int64_t count) override;
  absl::StatusOr<std::vector<FrontierTask>> TakeTasks(int limit) override;
  void ReleaseTask(int64_t task_id) override;
  absl::Status CommitProjectPage(BackupNumber backup, const FrontierTask& task,
                                 const std::vector<bim360::Project>& projects,
                                 const std::vector<bool>& wanted,
                                 absl::string_view defect,
                                 absl::string_view next_page_url) override;
  absl::Status CommitTopFolders(
      BackupNumber backup, const FrontierTask& task,
      const std::vector<ListedFolder>& folders) override;
  absl::Status CommitFolderPage(BackupNumber backup, const FrontierTask& task,
                                const ListedPage& page,
                                bool recheck_all) override;
  absl::Status CommitUnlisted(BackupNumber backup, const FrontierTask& task,
                              absl::string_view reason) override;
  absl::Status CommitDenied(BackupNumber backup, const FrontierTask& task,
                            absl::string_view reason) override;
  absl::Status CommitNotFound(BackupNumber backup, const FrontierTask& task,
                              absl::string_view reason) override;
  absl::Status CommitFiltered(BackupNumber backup,
                              const FrontierTask& task) override;
  absl::Status EndCrawl(BackupNumber backup,
                        absl::string_view left_open_reason) override;
  absl::StatusOr<std::vector<std::string>> GetFolderPath(
      absl::string_view project_id, absl::string_view folder_id) override;
  absl::StatusOr<ProjectRecord> GetProject(
      absl::string_view project_id) override;

  // TransferStore.
  absl::StatusOr<std::vector<TransferRecord>> ListPending(BackupNumber backup,
                                                          int64_t after,
                                                          int limit) override;
  absl::StatusOr<TransferRecord> GetTransfer(int64_t transfer_id) override;
  absl::Status RecordLeases(const std::vector<LeaseRecord>& leases) override;
  absl::StatusOr<std::vector<LeaseRecord>> ListLeases(
      BackupNumber backup) override;
  absl::Status ApplyUpdates(
      BackupNumber backup, const std::vector<TransferUpdate>& updates) override;
  absl::StatusOr<int64_t> CountOpen(BackupNumber backup) override;
  absl::Status FailOpen(BackupNumber backup, absl::string_view reason) override;
  absl::StatusOr<std::vector<TransferRecord>> ListTransfers(BackupNumber backup,
                                                            bool failed_only,
                                                            int64_t after,
                                                            int limit) override;
  absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(
      int64_t transfer_id) override;
  absl::StatusOr<int64_t> NextEpochBase() override;

  // TreeStore.
  absl::StatusOr<std::vector<ProjectRecord>> ListProjects() override;
  absl::StatusOr<FolderChildren> ListChildren(
      absl::string_view project_id, absl::string_view folder_id) override;
  absl::Status SetManifest(BackupNumber backup, absl::string_view project_id,
                           absl::string_view manifest_sha256,
                           bool written) override;
  absl::Status SetSnapshot(BackupNumber backup,
                           absl::string_view snapshot_id) override;
  absl::StatusOr<std::vector<ShownProject>> ListShown() override;
  absl::Status SetShown(const ShownProject& shown) override;
  absl::StatusOr<std::vector<UnlistedRecord>> ListUnlisted(
      absl::string_view after_project, absl::string_view after_folder,
      int limit) override;

  // SweepStore.
  absl::StatusOr<std::vector<std::string>> ListNeeded(
      const std::vector<std::string>& sha256s) override;
  absl::StatusOr<std::vector<std::string>> ForgetUnneeded(
      const std::vector<std::string>& sha256s) override;

  // DamageStore.
  absl::StatusOr<bool> RecordDamagedBlob(const DamagedBlob& blob) override;
  absl::StatusOr<bool> RecordDamagedManifest(absl::string_view sha256) override;
  absl::StatusOr<std::vector<std::string>> ListMended(int limit) override;
  absl::Status ForgetMended(const std::vector<std::string>& sha256s) override;

  // AcceptStore.
  absl::StatusOr<Accepted> AcceptDeletions(
      const std::vector<std::string>& projects) override;
  absl::StatusOr<Accepted> AcceptDenied(
      const std::vector<std::string>& projects) override;

  // Catalog.
  absl::Status StreamCopy(const CopySink& sink) override;
  absl::StatusOr<bool> PruneTransfers(int backups_kept) override;

 private:
  struct Block {
    // Empty where the filter does not let the task be listed.
    absl::string_view reason;
    bool denied = false;
    bool push_parent = false;
  };

  absl::StatusOr<BackupRecord> ReadBackup(BackupNumber number);
  bool IsHandedOut(int64_t task) ABSL_LOCKS_EXCLUDED(tasks_mutex_);
  // Makes transfers of damaged blobs, which count as stored no longer.
  absl::Status PlanDamaged(BackupNumber backup, const FileFilter& wanted);
  // Makes transfers of known versions that are not stored.
  absl::Status PlanUnstored(BackupNumber backup, const FileFilter& wanted);
  // Blocks the task for this backup.
  absl::Status BlockTask(BackupNumber backup, const FrontierTask& task,
                         const Block& block);
  absl::StatusOr<Accepted> Accept(const std::vector<std::string>& projects,
                                  Accepted (*accept)(WriteBatch&, int64_t));
  // Goes on with what AcceptDeletions began, in up to so many transactions.
  absl::Status PurgeAccepted(int transactions);
  TreeWriter::Options WriterOptions(BackupNumber backup, bool recheck_all);

  Clock& clock_;
  Random& random_;
  // Released last.
  const std::unique_ptr<StateLock> lock_;
  // Outlives the writer, whose commits it hears of.
  const std::unique_ptr<Checkpointer> checkpointer_;
  GroupCommit writer_;
  const std::unique_ptr<ReaderPool> readers_;
  // The database's file.
  const std::string path_;

  Mutex tasks_mutex_;
  std::unordered_set<int64_t> handed_out_ ABSL_GUARDED_BY(tasks_mutex_);
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_SQLITE_CATALOG_IMPL_H_
