// A storage with snapshots for this folder's tests.

#ifndef SERVICES_COORDINATOR_RETENTION_RETENTION_FIXTURE_H_
#define SERVICES_COORDINATOR_RETENTION_RETENTION_FIXTURE_H_

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::retention {

class RetentionTest : public testing::Test {
 protected:
  RetentionTest() {
    storage::OpenOptions options;
    options.url = folder_ / "storage";
    options.create = true;
    storage_ = *storage::OpenStorage(options);
  }

  // Stores `text` as a blob; returns its digest.
  std::string Blob(const std::string& text) {
    const std::string sha256 = Sha256Hex(text);
    auto writer = *storage_->OpenBlobWriter("urn:" + text);
    EXPECT_OK(writer->WriteAt(0, text));
    std::promise<absl::Status> done;
    writer->Commit(sha256, static_cast<int64_t>(text.size()),
                   [&](const absl::Status& status) { done.set_value(status); });
    EXPECT_OK(done.get_future().get());
    return sha256;
  }

  // Writes the manifest of a project whose files have these texts, and their
  // blobs; returns its digest.
  std::string Manifest(const std::string& project,
                       const std::vector<std::string>& texts,
                       bool guarded = false) {
    auto writer = *storage::format::ManifestWriter::Create(*storage_);
    for (const std::string& text : texts) {
      storage::format::ManifestEntry entry;
      entry.project_id = project;
      entry.project_name = project;
      entry.path = {text};
      entry.stored_path = absl::StrCat(project, "/", text);
      entry.item_id = "item-" + text;
      entry.sha256 = Blob(text);
      entry.size = static_cast<int64_t>(text.size());
      if (guarded) entry.status = storage::format::EntryStatus::kGuarded;
      EXPECT_OK(writer->Append(entry));
    }
    counts_ = writer->counts();
    return *writer->Commit();
  }

  // Writes "2026010<day>T000000Z-00000000", with one manifest for each project.
  std::string Snapshot(
      int day, const std::map<std::string, std::vector<std::string>>& projects,
      bool guarded = false) {
    storage::format::Snapshot snapshot;
    snapshot.id = absl::StrCat("2026010", day, "T000000Z-00000000");
    snapshot.backup_id = snapshot.id;
    snapshot.storage_id = storage_->id();
    snapshot.start_time =
        absl::FromCivil(absl::CivilDay(2026, 1, day), absl::UTCTimeZone());
    snapshot.end_time = snapshot.start_time;
    snapshot.state = "SUCCEEDED";
    for (const auto& [project, texts] : projects) {
      const std::string digest = Manifest(project, texts, guarded);
      snapshot.projects.push_back({project, project, project, digest, counts_});
    }
    EXPECT_OK(storage::format::WriteSnapshot(*storage_, snapshot));
    return snapshot.id;
  }

  // Every key in the storage that begins with `prefix`, without folders.
  std::set<std::string> List(const std::string& prefix) {
    std::set<std::string> names;
    std::string token;
    do {
      auto page = *storage_->List(prefix, token);
      for (const auto& entry : page.entries) {
        names.insert(entry.key.substr(entry.key.rfind('/') + 1));
      }
      token = page.next_page_token;
    } while (!token.empty());
    return names;
  }
  std::set<std::string> Blobs() { return List("blobs/"); }
  std::set<std::string> Manifests() { return List("manifests/"); }
  static std::set<std::string> Digests(const std::vector<std::string>& texts) {
    std::set<std::string> digests;
    for (const std::string& text : texts) digests.insert(Sha256Hex(text));
    return digests;
  }

  std::string PathOf(const std::string& key) {
    return folder_ / ("storage/" + key);
  }
  // Makes a stored object unreadable.
  void Damage(const std::string& key) {
    const std::string path = PathOf(key);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    storage::WriteWholeFile(path, "torn");
  }

  storage::TempFolder folder_;
  std::unique_ptr<storage::Storage> storage_;
  storage::format::ManifestCounts counts_;
};

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_RETENTION_FIXTURE_H_
