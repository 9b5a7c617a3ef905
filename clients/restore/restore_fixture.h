// A storage, a destination and what a restore says, for this folder's tests.
// For tests only.

#ifndef CLIENTS_RESTORE_RESTORE_FIXTURE_H_
#define CLIENTS_RESTORE_RESTORE_FIXTURE_H_

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/restore/restore_engine.h"
#include "clients/restore/storage_source.h"
#include "clients/snapshots/snapshots_fixture.h"
#include "clients/storage/faulty_storage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::restore {

// Remembers what it was told.
class RecordingObserver : public RestoreObserver {
 public:
  void OnTotals(int64_t files, int64_t bytes) override {
    files_ = files;
    total_bytes_ = bytes;
  }
  void OnBytes(int64_t bytes) override { bytes_ += bytes; }
  void OnOutcome(const Outcome& outcome) override {
    lines_.push_back(
        absl::StrCat(OutcomeName(outcome.kind), " ", outcome.local_path));
    messages_[outcome.local_path] = outcome.message;
  }

  int64_t files_ = 0;
  int64_t total_bytes_ = 0;
  int64_t bytes_ = 0;
  // "<outcome> <local path>".
  std::vector<std::string> lines_;
  std::map<std::string, std::string> messages_;
};

class RestoreTest : public testing::Test {
 protected:
  using ManifestEntry = storage::format::ManifestEntry;

  RestoreTest() { options_.destination = folder_ / "restored"; }

  // Writes the next snapshot, of one project.
  void PutSnapshot(const std::vector<ManifestEntry>& entries) {
    storage_.PutSnapshot(++snapshots_, {storage_.PutManifest(entries)});
  }

  absl::Status Run(const Selection& selection = {}) {
    observer_ = {};
    summary_ = {};
    StorageSource source(faulty_);
    return Restore(source, selection, options_, observer_, summary_);
  }

  std::string At(const std::string& path) const {
    return absl::StrCat(options_.destination, "/", path);
  }

  // What stands in the destination: folders with "/" at their end, links with
  // "@", files with their bytes.
  std::map<std::string, std::string> Restored() const {
    namespace fs = std::filesystem;
    std::map<std::string, std::string> found;
    const std::string& root = options_.destination;
    if (!fs::exists(root)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string().substr(root.size() + 1);
      if (entry.is_symlink()) {
        found[path + "@"] = fs::read_symlink(entry.path());
      } else if (entry.is_directory()) {
        found[path + "/"] = "";
      } else {
        found[path] = storage::ReadWholeFile(entry.path().string());
      }
    }
    return found;
  }

  static absl::Time TimeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return absl::TimeFromTimespec(info.st_mtim);
  }

  storage::TempFolder folder_;
  snapshots::SnapshotsFixture storage_;
  storage::FaultyStorage faulty_{storage_.storage()};
  RestoreOptions options_;
  RecordingObserver observer_;
  RestoreSummary summary_;
  int snapshots_ = 0;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_RESTORE_FIXTURE_H_
