// An account, its storage and its catalog, which can be lost. For tests.

#ifndef SERVICES_COORDINATOR_REBUILD_REBUILD_FIXTURE_H_
#define SERVICES_COORDINATOR_REBUILD_REBUILD_FIXTURE_H_

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawler_fixture.h"
#include "services/coordinator/rebuild/catalog_copy.h"
#include "services/coordinator/rebuild/catalog_rebuilder.h"
#include "services/coordinator/snapshot/snapshot_committer.h"

namespace bimbackup::rebuild {

// CrawlerFixture's account with whole backups into a real folder.
class RebuildFixture : public crawl::CrawlerFixture {
 protected:
  static constexpr char kAccount[] = "the-account";

  struct Done {
    catalog::BackupRecord record;
    storage::format::Snapshot snapshot;
  };

  RebuildFixture() {
    storage::OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    storage_ = *storage::OpenStorage(options);
    EXPECT_OK(harness_.catalog->SetSetting("storage_id", storage_->id()));
  }

  // One whole backup. `fetch` is false where no transfer succeeds.
  Done Backup(bool fetch = true) {
    const catalog::BackupNumber number = harness_.Start();
    EXPECT_OK(Crawl(harness_.Options(number)));
    Done done;
    done.record = **harness_.catalog->GetRunningBackup();
    if (fetch) Store(number);
    EXPECT_OK(harness_.catalog->FailOpen(number, "HTTP 500"));
    EXPECT_OK(harness_.catalog->SetBackupState(
        number, catalog::BackupState::kCommitting, ""));
    snapshot::SnapshotCommitter committer(*harness_.catalog, *storage_,
                                          harness_.clock, kAccount, {});
    done.snapshot =
        *committer.Commit(done.record, catalog::BackupState::kSucceeded);
    if (copies_) {
      EXPECT_OK(StoreCatalogCopy(*harness_.catalog, *storage_, done.snapshot.id,
                                 [] { return false; }));
    }
    harness_.End(number);
    return done;
  }

  // Removes catalog.db and what belongs to it.
  void LoseCatalog() {
    harness_.catalog.reset();
    for (const auto& file :
         std::filesystem::directory_iterator(harness_.state_dir)) {
      std::filesystem::remove_all(file.path());
    }
  }

  absl::Status Rebuild(const std::string& account = kAccount) {
    return RebuildCatalog(*storage_, harness_.state_dir, account,
                          harness_.clock);
  }

  // Loses the catalog, and brings it back.
  void LoseAndRebuild() {
    LoseCatalog();
    ASSERT_OK(Rebuild());
    harness_.Reopen();
  }

  // Digests of a snapshot's manifests by project id.
  static std::map<std::string, std::string> Manifests(
      const storage::format::Snapshot& snapshot) {
    std::map<std::string, std::string> manifests;
    for (const auto& project : snapshot.projects) {
      manifests[project.project_id] = project.manifest_sha256;
    }
    return manifests;
  }

  std::string BlobPath(const std::string& sha256) {
    return folder_ /
           absl::StrCat("blobs/sha256/", sha256.substr(0, 3), "/", sha256);
  }

  std::string ManifestPath(const std::string& digest) {
    return folder_ / absl::StrCat("manifests/sha256/", digest.substr(0, 3), "/",
                                  digest, ".jsonl.zst");
  }

  // Writes over a read-only file.
  static void Spoil(const std::string& path, const std::string& bytes) {
    std::filesystem::remove(path);
    storage::WriteWholeFile(path, bytes);
  }

  storage::TempFolder folder_;
  std::unique_ptr<storage::Storage> storage_;
  // Whether backups leave a copy of their catalog.
  bool copies_ = false;

 private:
  void Store(catalog::BackupNumber backup) {
    const auto pending = harness_.catalog->ListPending(backup, 0, 1 << 20);
    std::vector<catalog::TransferUpdate> updates;
    for (const catalog::TransferRecord& transfer : *pending) {
      catalog::TransferUpdate& update = updates.emplace_back();
      update.transfer_id = transfer.transfer_id;
      update.state = catalog::TransferState::kStored;
      update.sha256 = PutBlob(transfer.storage_urn, transfer.size.value_or(0));
      update.size = transfer.size.value_or(0);
    }
    EXPECT_OK(harness_.catalog->ApplyUpdates(backup, updates));
  }

  // `size` bytes of the URN, over and over.
  std::string PutBlob(const std::string& urn, int64_t size) {
    std::string bytes;
    while (static_cast<int64_t>(bytes.size()) < size) bytes += urn;
    bytes.resize(static_cast<size_t>(size));
    const std::string sha256 = Sha256Hex(bytes);
    auto writer = *storage_->OpenBlobWriter(urn);
    EXPECT_OK(writer->WriteAt(0, bytes));
    std::promise<absl::Status> committed;
    writer->Commit(sha256, size, [&](const absl::Status& status) {
      committed.set_value(status);
    });
    EXPECT_OK(committed.get_future().get());
    return sha256;
  }
};

}  // namespace bimbackup::rebuild

#endif  // SERVICES_COORDINATOR_REBUILD_REBUILD_FIXTURE_H_
