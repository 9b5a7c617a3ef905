#include "clients/restore/restore_engine.h"

#include "clients/restore/restore_fixture.h"

namespace bimbackup::restore {
namespace {

using absl_testing::StatusIs;
using storage::format::EntryStatus;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST_F(RestoreTest, BringsBackBytesNamesTimesAndEmptyFolders) {
  auto plans = storage_.Folder("Plans");
  plans.last_modified = snapshots::TestTime(77);
  const auto dwg = storage_.File("Plans/a.dwg", "drawing", 3);
  PutSnapshot({storage_.Folder(""), storage_.Folder("Empty"), plans, dwg,
               storage_.File("empty.txt", "")});
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(),
              ElementsAre(Pair("Tower/", ""), Pair("Tower/Empty/", ""),
                          Pair("Tower/Plans/", ""),
                          Pair("Tower/Plans/a.dwg", "drawing"),
                          Pair("Tower/empty.txt", "")));
  EXPECT_EQ(TimeOf(At("Tower/Plans/a.dwg")), dwg.last_modified);
  EXPECT_EQ(TimeOf(At("Tower/Plans")), plans.last_modified);
  EXPECT_TRUE(summary_.whole());
  EXPECT_EQ(summary_.restored, 2);
  EXPECT_EQ(summary_.folders, 3);
  EXPECT_EQ(summary_.bytes, 7);
  EXPECT_EQ(observer_.files_, 2);
  EXPECT_EQ(observer_.bytes_, 7);
}

TEST_F(RestoreTest, MakesTheFoldersAboveWhatWasAskedFor) {
  PutSnapshot({storage_.Folder(""), storage_.Folder("A"),
               storage_.Folder("A/B"), storage_.File("A/B/x", "x"),
               storage_.File("A/y", "y")});
  ASSERT_OK(Run({"-", {"Tower/A/B/x"}, ""}));
  EXPECT_THAT(Restored(),
              ElementsAre(Pair("Tower/", ""), Pair("Tower/A/", ""),
                          Pair("Tower/A/B/", ""), Pair("Tower/A/B/x", "x")));
}

TEST_F(RestoreTest, MakesNothingWhereNothingIsFound) {
  PutSnapshot({storage_.Folder("")});
  EXPECT_THAT(Run({"-", {"Tower/none"}, ""}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(std::filesystem::exists(options_.destination));
}

TEST_F(RestoreTest, NamesThatCannotBeHeldAreReported) {
  const auto named = [this](const std::string& stored,
                            const std::string& original) {
    auto entry = storage_.File(stored, stored);
    entry.path = {original};
    return entry;
  };
  const std::string long_name(300, 'x');
  PutSnapshot({storage_.Folder(""), named("%2E%2E", ".."),
               named("a%2Fb", "a/b"), named("line%0Abreak", "line\nbreak"),
               named("twin", "twin"), named("twin~2", "twin"),
               named("x~cut.txt", long_name)});
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(),
              UnorderedElementsAre(
                  Pair("Tower/", ""), Pair("Tower/%2E%2E", "%2E%2E"),
                  Pair("Tower/a%2Fb", "a%2Fb"),
                  Pair("Tower/line\nbreak", "line%0Abreak"),
                  Pair("Tower/twin", "twin"), Pair("Tower/twin~2", "twin~2"),
                  Pair("Tower/x~cut.txt", "x~cut.txt")));
  EXPECT_EQ(summary_.renamed, 4);
  EXPECT_THAT(observer_.lines_, Contains("renamed Tower/twin~2"));
  EXPECT_TRUE(summary_.whole());
}

TEST_F(RestoreTest, ARepeatWritesNothingAgain) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "bytes")});
  ASSERT_OK(Run());
  struct stat before {};
  stat(At("Tower/a").c_str(), &before);
  ASSERT_OK(Run());
  struct stat after {};
  stat(At("Tower/a").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(summary_.unchanged, 1);
  EXPECT_EQ(summary_.restored, 0);
  EXPECT_EQ(observer_.bytes_, 5);
}

TEST_F(RestoreTest, IfDifferentReplacesOtherBytesAndSetsOtherTimes) {
  const auto file = storage_.File("a", "bytes");
  PutSnapshot({storage_.Folder(""), file, storage_.File("b", "12345"),
               storage_.File("c", "longer")});
  ASSERT_OK(Run());
  storage::WriteWholeFile(At("Tower/a"), "bytes");
  storage::WriteWholeFile(At("Tower/b"), "other");
  storage::WriteWholeFile(At("Tower/c"), "c");
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.lines_,
              UnorderedElementsAre("unchanged Tower/a", "restored Tower/b",
                                   "restored Tower/c"));
  EXPECT_EQ(TimeOf(At("Tower/a")), file.last_modified);
  EXPECT_EQ(storage::ReadWholeFile(At("Tower/b")), "12345");
}

TEST_F(RestoreTest, NeverLeavesWhatIsThere) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "bytes"),
               storage_.File("b", "bytes")});
  std::filesystem::create_directories(At("Tower"));
  storage::WriteWholeFile(At("Tower/a"), "mine");
  options_.overwrite = Overwrite::kNever;
  ASSERT_OK(Run());
  EXPECT_EQ(storage::ReadWholeFile(At("Tower/a")), "mine");
  EXPECT_THAT(observer_.lines_,
              UnorderedElementsAre("kept Tower/a", "restored Tower/b"));
}

TEST_F(RestoreTest, AlwaysReplacesEvenTheSame) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "bytes")});
  ASSERT_OK(Run());
  options_.overwrite = Overwrite::kAlways;
  ASSERT_OK(Run());
  EXPECT_EQ(summary_.restored, 1);
}

TEST_F(RestoreTest, DryRunSaysWhatItWouldDoAndWritesNothing) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "bytes"),
               storage_.File("b", "12")});
  options_.dry_run = true;
  ASSERT_OK(Run());
  EXPECT_EQ(summary_.restored, 2);
  EXPECT_FALSE(std::filesystem::exists(options_.destination));

  options_.dry_run = false;
  ASSERT_OK(Run({"-", {"Tower/a"}, ""}));
  options_.dry_run = true;
  const auto before = Restored();
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.lines_,
              UnorderedElementsAre("unchanged Tower/a", "restored Tower/b"));
  EXPECT_EQ(Restored(), before);
}

TEST_F(RestoreTest, DamagedBlobsAreNamedAndTheRestGoesOn) {
  const auto flipped = storage_.File("flipped", "bytes");
  const auto gone = storage_.File("gone", "is gone");
  const auto cut = storage_.File("cut", "cut short");
  const auto grown = storage_.File("grown", "grown");
  PutSnapshot({storage_.Folder(""), cut, flipped, gone, grown,
               storage_.File("whole", "whole")});
  storage_.Overwrite(storage_.BlobPath(flipped.sha256), "bytez");
  std::filesystem::remove(storage_.BlobPath(gone.sha256));
  storage_.Overwrite(storage_.BlobPath(cut.sha256), "cut");
  storage_.Overwrite(storage_.BlobPath(grown.sha256), "grown more");
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(),
              ElementsAre(Pair("Tower/", ""), Pair("Tower/whole", "whole")));
  EXPECT_EQ(summary_.damaged, 4);
  EXPECT_EQ(summary_.restored, 1);
  EXPECT_FALSE(summary_.whole());
  EXPECT_THAT(observer_.messages_["Tower/flipped"], HasSubstr(flipped.sha256));
  EXPECT_THAT(observer_.messages_["Tower/gone"], HasSubstr("is missing"));
  EXPECT_THAT(observer_.messages_["Tower/cut"], HasSubstr("3 of 9 bytes"));
  EXPECT_THAT(observer_.messages_["Tower/grown"], HasSubstr("too long"));
  EXPECT_EQ(observer_.bytes_, 5);
}

TEST_F(RestoreTest, DamagedManifestsAreNamedAndTheRestGoesOn) {
  const auto torn = storage_.PutManifest({storage_.File("a", "a")});
  const auto other = storage_.PutManifest(
      {storage_.InProject(storage_.File("b", "b"), "Annex")});
  storage_.PutSnapshot(1, {torn, other});
  storage_.Overwrite(storage_.ManifestPath(torn.manifest_sha256), "torn");
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(), Contains(Pair("Annex/b", "b")));
  EXPECT_THAT(summary_.damage, ElementsAre(HasSubstr(torn.manifest_sha256)));
  EXPECT_FALSE(summary_.whole());
}

TEST_F(RestoreTest, WhatHasNoBytesIsReportedAndNotMadeUp) {
  auto no_content = storage_.File("form", "");
  no_content.sha256.clear();
  no_content.size.reset();
  no_content.status = EntryStatus::kNoContent;
  auto failed = no_content;
  failed.path = {"late"};
  failed.stored_path = "Tower/late";
  failed.status = EntryStatus::kFailed;
  failed.reason = "HTTP 404";
  PutSnapshot({storage_.Folder(""), no_content});
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.lines_, ElementsAre("no_content Tower/form"));
  EXPECT_TRUE(summary_.whole());
  PutSnapshot({storage_.Folder(""), no_content, failed});
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.messages_["Tower/late"], HasSubstr("HTTP 404"));
  EXPECT_FALSE(summary_.whole());
  EXPECT_THAT(Restored(), ElementsAre(Pair("Tower/", "")));
}

TEST_F(RestoreTest, AnOlderVersionThatStandsForANewerOneIsSaidToBe) {
  auto former = storage_.File("a", "old");
  former.status = EntryStatus::kFailed;
  former.reason = "version 1 stands for version 2";
  PutSnapshot({storage_.Folder(""), former});
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.lines_, ElementsAre("restored Tower/a"));
  EXPECT_EQ(observer_.messages_["Tower/a"], former.reason);
}

TEST_F(RestoreTest, PutsTheVersionsOfAnItemSideBySide) {
  PutSnapshot({storage_.Folder(""), storage_.File("plan.dwg", "one", 1)});
  PutSnapshot({storage_.Folder(""), storage_.File("plan.dwg", "two", 2)});
  auto renamed = storage_.File("plan.dwg", "three", 3);
  renamed.path = {"final/plan.dwg"};
  renamed.stored_path = "Tower/final%2Fplan.dwg";
  PutSnapshot({storage_.Folder(""), renamed});
  ASSERT_OK(Run({"*", {}, "item:plan.dwg"}));
  EXPECT_THAT(Restored(), UnorderedElementsAre(
                              Pair("plan (version 1).dwg", "one"),
                              Pair("plan (version 2).dwg", "two"),
                              Pair("final%2Fplan (version 3).dwg", "three")));
  EXPECT_EQ(TimeOf(At("plan (version 2).dwg")),
            snapshots::TestTime(2) + absl::Milliseconds(250));
}

TEST_F(RestoreTest, ManyFilesAreAllRestored) {
  std::vector<ManifestEntry> entries = {storage_.Folder("")};
  for (int i = 1000; i < 2500; ++i) {
    entries.push_back(
        storage_.File(absl::StrCat("f", i), absl::StrCat("file ", i % 7)));
  }
  PutSnapshot(entries);
  ASSERT_OK(Run());
  EXPECT_EQ(summary_.restored, 1500);
  EXPECT_THAT(Restored(), SizeIs(1501));
  EXPECT_EQ(storage::ReadWholeFile(At("Tower/f2499")), "file 0");
}

TEST_F(RestoreTest, EndsWhenTheStorageHasGone) {
  std::vector<ManifestEntry> entries = {storage_.Folder("")};
  for (int i = 1000; i < 1200; ++i) {
    entries.push_back(storage_.File(absl::StrCat("f", i), "bytes"));
  }
  PutSnapshot(entries);
  faulty_.faults().Fail(storage::StorageCall::kReadBlob,
                        absl::UnavailableError("gone"), /*after=*/100);
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_GE(summary_.restored, 1);
  EXPECT_LT(summary_.failed, 60);
  faulty_.faults().Clear();
  ASSERT_OK(Run());
  EXPECT_EQ(summary_.restored + summary_.unchanged, 200);
}

TEST_F(RestoreTest, OneUnreadableBlobIsOneFailure) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "a"),
               storage_.File("b", "b"), storage_.File("c", "c")});
  options_.max_files = 1;
  faulty_.faults().Fail(storage::StorageCall::kReadBlob,
                        absl::UnavailableError("bad sector"), /*after=*/0,
                        /*times=*/1);
  ASSERT_OK(Run());
  EXPECT_EQ(summary_.failed, 1);
  EXPECT_EQ(summary_.restored, 2);
}

TEST_F(RestoreTest, RefusesToRestoreIntoAStorage) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "a")});
  for (const char* folder : {"", "/latest", "/blobs/../x"}) {
    options_.destination = storage_.path() + folder;
    EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("lies in the storage")));
  }
  EXPECT_FALSE(std::filesystem::exists(storage_.path() + "/Tower"));
}

TEST_F(RestoreTest, SaysWhenTheDestinationCannotBe) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "a")});
  options_.destination = folder_ / "no/such/parent";
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kNotFound,
                              HasSubstr("no/such/parent")));
  storage::WriteWholeFile(folder_ / "file", "");
  options_.destination = folder_ / "file";
  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kFailedPrecondition,
                              HasSubstr("Not a directory")));
}

}  // namespace
}  // namespace bimbackup::restore
