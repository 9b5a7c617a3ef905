// A storage and a tree for this folder's tests.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_SNAPSHOT_FIXTURE_H_
#define SERVICES_COORDINATOR_SNAPSHOT_SNAPSHOT_FIXTURE_H_

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/snapshot/fake_tree_store.h"

namespace bimbackup::snapshot {

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() {
    storage::OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    storage_ = *storage::OpenStorage(options);
  }

  // Stores five bytes made of `text` as a blob; returns its digest.
  std::string Blob(const std::string& text) {
    std::string bytes = text;
    bytes.resize(5, '.');
    const std::string sha256 = Sha256Hex(bytes);
    auto writer = *storage_->OpenBlobWriter("urn:" + text);
    EXPECT_OK(writer->WriteAt(0, bytes));
    std::promise<absl::Status> done;
    writer->Commit(sha256, 5,
                   [&](const absl::Status& status) { done.set_value(status); });
    EXPECT_OK(done.get_future().get());
    return sha256;
  }

  std::vector<storage::format::ManifestEntry> ReadManifest(
      const std::string& sha256) {
    std::vector<storage::format::ManifestEntry> entries;
    auto reader = *storage::format::ManifestReader::Open(*storage_, sha256);
    while (true) {
      auto entry = reader->Next();
      EXPECT_OK(entry);
      if (!entry.ok() || !entry->has_value()) return entries;
      entries.push_back(**std::move(entry));
    }
  }

  // What is under latest/: folders with "/" at their end, files with their
  // bytes.
  std::map<std::string, std::string> ReadLatest() {
    std::map<std::string, std::string> found;
    const std::string root = folder_ / "latest";
    if (!std::filesystem::exists(root)) return found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string().substr(root.size() + 1);
      if (entry.is_directory()) {
        found[path + "/"] = "";
      } else {
        found[path] = storage::ReadWholeFile(entry.path().string());
      }
    }
    return found;
  }

  catalog::BackupRecord Backup(int number) {
    catalog::BackupRecord backup;
    backup.number = number;
    backup.id = "2026013" + std::to_string(number) + "T000000Z-00000000";
    backup.create_time = absl::FromUnixSeconds(1769900000 + number);
    return backup;
  }

  storage::TempFolder folder_;
  std::unique_ptr<storage::Storage> storage_;
  FakeTreeStore tree_;
  FakeClock clock_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_SNAPSHOT_FIXTURE_H_
