// A storage with snapshots for this folder's tests, and an observer that
// remembers. For tests only.

#ifndef CLIENTS_VERIFY_VERIFY_FIXTURE_H_
#define CLIENTS_VERIFY_VERIFY_FIXTURE_H_

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/storage/faulty_storage.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "clients/verify/snapshot_verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/fake_clock.h"
#include "services/common/random.h"
#include "services/common/status_matchers.h"

namespace bimbackup::verify {

class RecordingObserver : public VerifyObserver {
 public:
  absl::Status OnDamage(const Damage& found) override {
    damage.push_back(found);
    return damage_status;
  }
  void OnProgress(const VerifyProgress& now) override {
    progress.push_back(now);
  }
  bool IsCancelled() override { return cancelled && cancelled(); }

  std::vector<Damage> damage;
  std::vector<VerifyProgress> progress;
  absl::Status damage_status;
  std::function<bool()> cancelled;
};

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    storage::OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    local_ = *storage::OpenStorage(options);
    storage_ = std::make_unique<storage::FaultyStorage>(*local_);
  }

  std::string StoreBlob(const std::string& bytes) {
    const std::string sha256 = Sha256Hex(bytes);
    auto writer = *local_->OpenBlobWriter("urn:" + sha256);
    EXPECT_OK(writer->WriteAt(0, bytes));
    std::promise<absl::Status> done;
    writer->Commit(sha256, bytes.size(),
                   [&](const absl::Status& status) { done.set_value(status); });
    EXPECT_OK(done.get_future().get());
    return sha256;
  }

  // A project with one file for each of `contents`, "file-0000" and so on.
  storage::format::SnapshotProject MakeProject(
      const std::string& name, const std::vector<std::string>& contents) {
    auto writer = *storage::format::ManifestWriter::Create(*local_);
    for (size_t i = 0; i < contents.size(); ++i) {
      storage::format::ManifestEntry entry;
      entry.project_id = "id-" + name;
      entry.project_name = name;
      entry.path = {"Plans", absl::StrCat("file-", 1000 + i)};
      entry.stored_path = absl::StrCat(name, "/Plans/file-", 1000 + i);
      entry.item_id = absl::StrCat("item-", i);
      entry.storage_urn = absl::StrCat("urn:", name, ":", i);
      entry.size = contents[i].size();
      entry.sha256 = StoreBlob(contents[i]);
      EXPECT_OK(writer->Append(entry));
    }
    storage::format::SnapshotProject project;
    project.project_id = "id-" + name;
    project.name = name;
    project.stored_name = name;
    project.manifest_sha256 = *writer->Commit();
    project.counts = writer->counts();
    return project;
  }

  void MakeSnapshot(const std::string& id,
                    std::vector<storage::format::SnapshotProject> projects) {
    storage::format::Snapshot snapshot;
    snapshot.id = id;
    snapshot.backup_id = id;
    snapshot.state = "SUCCEEDED";
    snapshot.start_time = snapshot.end_time = absl::FromUnixSeconds(1.7e9);
    snapshot.projects = std::move(projects);
    ASSERT_OK(storage::format::WriteSnapshot(*local_, snapshot));
  }

  absl::StatusOr<VerifyProgress> Verify(const VerifyOptions& options = {},
                                        const std::string& id = "-") {
    observer_.damage.clear();
    SnapshotVerifier verifier(*storage_, clock_, random_);
    return verifier.Verify(id, options, observer_);
  }

  std::string BlobPath(const std::string& bytes) {
    const std::string sha256 = Sha256Hex(bytes);
    return folder_ / ("blobs/sha256/" + sha256.substr(0, 3) + "/" + sha256);
  }
  std::string ManifestPath(const storage::format::SnapshotProject& project) {
    return folder_ / storage::format::ManifestKey(project.manifest_sha256);
  }

  // Changes a file in place, whatever its mode, as the superuser may.
  static void Overwrite(const std::string& path, const std::string& bytes) {
    std::filesystem::permissions(path, std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
    storage::WriteWholeFile(path, bytes);
  }

  storage::TempFolder folder_;
  std::unique_ptr<storage::Storage> local_;
  std::unique_ptr<storage::FaultyStorage> storage_;
  FakeClock clock_;
  SeededRandom random_{11};
  RecordingObserver observer_;
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_VERIFY_FIXTURE_H_
