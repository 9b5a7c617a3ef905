#include "services/coordinator/snapshot/manifest_builder.h"

#include "absl/strings/str_cat.h"
#include "services/coordinator/snapshot/snapshot_fixture.h"

namespace bimbackup::snapshot {
namespace {

using storage::format::EntryKind;
using storage::format::EntryStatus;
using storage::format::ManifestEntry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManifestBuilderTest : public SnapshotTest {
 protected:
  std::vector<ManifestEntry> Build() {
    ManifestBuilder builder(tree_, *storage_, {});
    auto built = builder.Build(tree_.projects.at("b.1"), "Tower");
    EXPECT_OK(built);
    counts_ = built->counts;
    return ReadManifest(built->sha256);
  }

  ManifestEntry Entry(const std::string& stored_path) {
    for (const ManifestEntry& entry : Build()) {
      if (entry.stored_path == stored_path) return entry;
    }
    ADD_FAILURE() << "no entry for " << stored_path;
    return {};
  }

  storage::format::ManifestCounts counts_;
};

TEST_F(ManifestBuilderTest, EveryFolderAndFileHasALineInOrderOfStoredPaths) {
  tree_.AddProject("b.1", "Tower");
  tree_.AddFolder("b.1", "", "f1", "Plans");
  tree_.AddFolder("b.1", "", "f2", "Empty");
  tree_.AddFolder("b.1", "f1", "f3", "A/B");
  tree_.AddFile("b.1", "f1", "i1", "A", Sha256Hex("1"));
  tree_.AddFile("b.1", "f3", "i2", "x.dwg", Sha256Hex("2"));
  tree_.AddFile("b.1", "", "i3", "loose.txt", Sha256Hex("3"));
  std::vector<std::string> paths;
  const std::vector<ManifestEntry> entries = Build();
  for (const ManifestEntry& entry : entries) paths.push_back(entry.stored_path);
  EXPECT_THAT(paths, ElementsAre("Tower", "Tower/Empty", "Tower/Plans",
                                 "Tower/Plans/A", "Tower/Plans/A%2FB",
                                 "Tower/Plans/A%2FB/x.dwg", "Tower/loose.txt"));
  EXPECT_EQ(counts_.files, 3);
  EXPECT_EQ(counts_.folders, 4);
  EXPECT_EQ(counts_.bytes, 15);
  EXPECT_TRUE(entries[0].path.empty());
  EXPECT_EQ(entries[0].item_id, "root-b.1");
  const ManifestEntry& file = entries[5];
  EXPECT_EQ(file.kind, EntryKind::kFile);
  EXPECT_EQ(file.project_name, "Tower");
  EXPECT_THAT(file.path, ElementsAre("Plans", "A/B", "x.dwg"));
  EXPECT_EQ(file.item_id, "i2");
  EXPECT_EQ(file.version_id, "i2?version=1");
  EXPECT_EQ(file.version_number, 1);
  EXPECT_EQ(file.size, 5);
  EXPECT_EQ(file.sha256, Sha256Hex("2"));
  EXPECT_EQ(file.storage_urn, "urn:i2");
  EXPECT_EQ(file.status, EntryStatus::kStored);
  EXPECT_EQ(file.reason, "");
}

TEST_F(ManifestBuilderTest, TwinsOfOneFolderGetDistinctStoredNames) {
  tree_.AddProject("b.1", "Tower");
  tree_.AddFile("b.1", "", "i2", "plan.dwg", Sha256Hex("1"));
  tree_.AddFile("b.1", "", "i1", "Plan.dwg", Sha256Hex("2"));
  tree_.AddFolder("b.1", "", "f1", "PLAN.dwg");
  const std::vector<ManifestEntry> entries = Build();
  ASSERT_EQ(entries.size(), 4);
  for (const ManifestEntry& entry : entries) {
    if (entry.item_id == "f1") {
      EXPECT_EQ(entry.stored_path, "Tower/PLAN.dwg");
    } else {
      EXPECT_NE(entry.stored_path, "Tower/PLAN.dwg");
    }
  }
}

TEST_F(ManifestBuilderTest, WhatAnUnlistedFolderHoldsIsCarriedAllTheWayDown) {
  tree_.AddProject("b.1", "Tower");
  tree_.AddFolder("b.1", "", "f1", "A").unlisted_reason = "403";
  tree_.AddFolder("b.1", "f1", "f2", "B");
  tree_.AddFile("b.1", "f2", "i1", "x", Sha256Hex("1"));
  tree_.AddFile("b.1", "", "i2", "y", Sha256Hex("2"));
  for (const char* path : {"Tower/A", "Tower/A/B", "Tower/A/B/x"}) {
    EXPECT_EQ(Entry(path).status, EntryStatus::kCarried) << path;
    EXPECT_EQ(Entry(path).reason, "403");
  }
  EXPECT_EQ(Entry("Tower/A/B/x").sha256, Sha256Hex("1"));
  EXPECT_EQ(Entry("Tower").status, EntryStatus::kStored);
  EXPECT_EQ(Entry("Tower/y").status, EntryStatus::kStored);
  EXPECT_EQ(counts_.carried, 3);
}

TEST_F(ManifestBuilderTest, AnUnlistedProjectIsCarriedAndAVanishedOneGuarded) {
  catalog::ProjectRecord& project = tree_.AddProject("b.1", "Tower");
  tree_.AddFile("b.1", "", "i1", "x", Sha256Hex("1"));
  project.unlisted_reason = "500";
  EXPECT_EQ(Entry("Tower").status, EntryStatus::kCarried);
  EXPECT_EQ(Entry("Tower/x").reason, "500");
  project.vanished = true;
  EXPECT_EQ(Entry("Tower/x").status, EntryStatus::kGuarded);
  EXPECT_THAT(Entry("Tower/x").reason, HasSubstr("left the account"));
}

TEST_F(ManifestBuilderTest, AFileThatFailedStandsWithItsFormerVersion) {
  tree_.AddProject("b.1", "Tower");
  catalog::FileRecord& file = tree_.AddFile("b.1", "", "i1", "x", "");
  file.version_number = 3;
  file.reason = "404";
  ManifestEntry entry = Entry("Tower/x");
  EXPECT_EQ(entry.status, EntryStatus::kFailed);
  EXPECT_EQ(entry.reason, "404");
  EXPECT_EQ(entry.sha256, "");
  EXPECT_EQ(entry.version_number, 3);
  EXPECT_EQ(counts_.bytes, 0);

  file.former = catalog::StoredVersion{"i1?version=2",
                                       2,
                                       4,
                                       "urn:old",
                                       Sha256Hex("old"),
                                       absl::FromUnixSeconds(1600000000)};
  entry = Entry("Tower/x");
  EXPECT_EQ(entry.status, EntryStatus::kFailed);
  EXPECT_THAT(entry.reason, HasSubstr("version 2 stands for version 3"));
  EXPECT_EQ(entry.sha256, Sha256Hex("old"));
  EXPECT_EQ(entry.version_id, "i1?version=2");
  EXPECT_EQ(entry.version_number, 2);
  EXPECT_EQ(entry.size, 4);
  EXPECT_EQ(entry.storage_urn, "urn:old");
  EXPECT_EQ(entry.last_modified, absl::FromUnixSeconds(1600000000));
  EXPECT_EQ(counts_.bytes, 4);
}

TEST_F(ManifestBuilderTest, AFileWithoutContentSaysWhy) {
  tree_.AddProject("b.1", "Tower");
  catalog::FileRecord& file = tree_.AddFile("b.1", "", "i1", "x", "");
  file.storage_urn = "";
  file.reason = "no storage";
  EXPECT_EQ(Entry("Tower/x").status, EntryStatus::kNoContent);
  EXPECT_EQ(Entry("Tower/x").reason, "no storage");
}

TEST_F(ManifestBuilderTest, GuardedEntriesKeepTheirContent) {
  tree_.AddProject("b.1", "Tower");
  tree_.AddFolder("b.1", "", "f1", "A").guarded = true;
  tree_.AddFile("b.1", "f1", "i1", "x", Sha256Hex("1"));
  tree_.AddFile("b.1", "", "i2", "y", Sha256Hex("2")).guarded = true;
  EXPECT_EQ(Entry("Tower/A").status, EntryStatus::kGuarded);
  EXPECT_EQ(Entry("Tower/A/x").status, EntryStatus::kGuarded);
  EXPECT_EQ(Entry("Tower/y").status, EntryStatus::kGuarded);
  EXPECT_EQ(Entry("Tower/y").sha256, Sha256Hex("2"));
}

TEST_F(ManifestBuilderTest, TheSameTreeGivesTheSameManifestInAnyOrder) {
  tree_.AddProject("b.1", "Tower");
  for (int i = 0; i < 50; ++i) {
    tree_.AddFile("b.1", "", absl::StrCat("i", i), absl::StrCat("n", i % 7),
                  Sha256Hex("1"));
  }
  ManifestBuilder builder(tree_, *storage_, {});
  const catalog::ProjectRecord& project = tree_.projects.at("b.1");
  ASSERT_OK_AND_ASSIGN(const BuiltManifest first,
                       builder.Build(project, "Tower"));
  auto& files = tree_.children[{"b.1", ""}].files;
  std::reverse(files.begin(), files.end());
  ASSERT_OK_AND_ASSIGN(const BuiltManifest second,
                       builder.Build(project, "Tower"));
  EXPECT_EQ(first.sha256, second.sha256);
  EXPECT_EQ(first.counts.files, 50);
}

TEST_F(ManifestBuilderTest, ACycleInTheCatalogEnds) {
  tree_.AddProject("b.1", "Tower");
  tree_.AddFolder("b.1", "", "f1", "A");
  tree_.AddFolder("b.1", "f1", "f1", "A");
  ManifestBuilder builder(tree_, *storage_, {});
  EXPECT_THAT(builder.Build(tree_.projects.at("b.1"), "Tower"),
              absl_testing::StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace bimbackup::snapshot
