#include "clients/restore/source_contract.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/snapshots/snapshots_fixture.h"
#include "gmock/gmock.h"
#include "services/common/status_macros.h"
#include "services/common/status_matchers.h"

namespace bimbackup::restore {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using snapshots::SnapshotsFixture;
using storage::format::ManifestEntry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SourceContractTest::Listing SourceContractTest::List(
    const Selection& selection) {
  Listing listing;
  const auto stream = source().ListEntries(selection);
  listing.status = stream.status();
  if (!stream.ok()) return listing;
  while (true) {
    const auto batch = (*stream)->Next();
    listing.status = batch.status();
    if (!batch.ok()) return listing;
    EXPECT_LE(batch->entries.size(), kMaxBatchEntries);
    for (const ManifestEntry& entry : batch->entries) {
      listing.entries.push_back(absl::StrCat(batch->snapshot_id.substr(7, 1),
                                             " ", entry.stored_path, "#",
                                             entry.version_number));
    }
    if (batch->files > 0) listing.files = batch->files;
    if (batch->bytes > 0) listing.bytes = batch->bytes;
    if (batch->last) break;
  }
  listing.damage = (*stream)->damage();
  return listing;
}

SourceContractTest::Listing SourceContractTest::ListPaths(
    const std::vector<std::string>& paths) {
  Selection selection;
  selection.paths = paths;
  return List(selection);
}

absl::StatusOr<std::string> SourceContractTest::ReadBlob(
    const std::string& sha256, int64_t offset) {
  ABSL_ASSIGN_OR_RETURN(const auto stream, source().OpenBlob(sha256, offset));
  std::string bytes;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view next, stream->Next());
    if (next.empty()) return bytes;
    EXPECT_LE(next.size(), kMaxBlobBytes);
    absl::StrAppend(&bytes, next);
  }
}

namespace {

ManifestEntry InAnnex(const std::string& path) {
  ManifestEntry entry =
      SnapshotsFixture::InProject(SnapshotsFixture::Folder(path), "Annex");
  if (path.empty()) entry.stored_path = "Annex";
  return entry;
}

// Two projects; one file's name holds a slash, another's could be a glob.
// Returns the digest of the first project's manifest.
std::string PutTower(SnapshotsFixture& storage) {
  ManifestEntry odd = storage.File("Plans/a_b.dwg", "odd");
  odd.path = {"Plans", "a/b.dwg"};
  const auto annex =
      storage.PutManifest({InAnnex(""), InAnnex("Plans"),
                           SnapshotsFixture::InProject(
                               storage.File("Plans/x.dwg", "annex"), "Annex")});
  const auto tower = storage.PutManifest(
      {storage.Folder(""), storage.Folder("Empty"), storage.Folder("Plans"),
       odd, storage.Folder("Plans/old"), storage.File("Plans/old/x.dwg", "old"),
       storage.File("Plans/x.dwg", "new"), storage.File("[x].txt", "set")});
  storage.PutSnapshot(1, {annex, tower});
  return annex.manifest_sha256;
}

}  // namespace

TEST_P(SourceContractTest, GivesEveryEntryInOrder) {
  std::vector<ManifestEntry> entries = {storage_.Folder("")};
  std::vector<std::string> expected = {"1 Tower#0"};
  for (int i = 0; i < 2500; ++i) {
    ManifestEntry entry = storage_.Folder(absl::StrFormat("%04d", i));
    expected.push_back(absl::StrCat("1 ", entry.stored_path, "#0"));
    entries.push_back(std::move(entry));
  }
  storage_.PutSnapshot(1, {storage_.PutManifest(entries)});
  const Listing listing = List({});
  EXPECT_OK(listing.status);
  EXPECT_EQ(listing.entries, expected);
  EXPECT_THAT(listing.damage, IsEmpty());
}

TEST_P(SourceContractTest, LongPathsMakeShortBatches) {
  std::vector<ManifestEntry> entries = {storage_.Folder("")};
  for (int i = 0; i < 999; ++i) {
    ManifestEntry entry = storage_.Folder(absl::StrFormat("%03d", i));
    for (int depth = 0; depth < 30; ++depth) {
      entry.path.push_back(std::string(250, 'x'));
    }
    entries.push_back(std::move(entry));
  }
  storage_.PutSnapshot(1, {storage_.PutManifest(entries)});
  const Listing listing = List({});
  EXPECT_OK(listing.status);
  EXPECT_THAT(listing.entries, SizeIs(1000));
}

TEST_P(SourceContractTest, SaysHowMuchAWholeSnapshotIs) {
  storage_.PutSnapshot(
      1, {storage_.PutManifest({storage_.Folder(""), storage_.File("a", "12"),
                                storage_.File("b", "345")})});
  const Listing whole = List({});
  EXPECT_EQ(whole.files, 2);
  EXPECT_EQ(whole.bytes, 5);
  EXPECT_EQ(ListPaths({"Tower/a"}).files, 0);
}

TEST_P(SourceContractTest, TheNewestSnapshotIsADash) {
  storage_.PutSnapshot(1, {storage_.PutManifest({storage_.File("a", "1")})});
  storage_.PutSnapshot(2, {storage_.PutManifest({storage_.File("b", "2")})});
  EXPECT_THAT(List({}).entries, ElementsAre("2 Tower/b#1"));
  Selection older;
  older.snapshot_id = SnapshotsFixture::Id(1);
  EXPECT_THAT(List(older).entries, ElementsAre("1 Tower/a#1"));
}

TEST_P(SourceContractTest, AnEmptySnapshotIsEmpty) {
  storage_.PutSnapshot(1, {});
  const Listing listing = List({});
  EXPECT_OK(listing.status);
  EXPECT_THAT(listing.entries, IsEmpty());
}

TEST_P(SourceContractTest, RefusesWhatDoesNotExistOrMakesNoSense) {
  EXPECT_THAT(List({}).status, StatusIs(absl::StatusCode::kNotFound));
  storage_.PutSnapshot(1, {storage_.PutManifest({storage_.File("a", "1")})});
  Selection selection;
  selection.snapshot_id = "20200101T000000Z-00000000";
  EXPECT_THAT(List(selection).status, StatusIs(absl::StatusCode::kNotFound));
  selection.item_id = "item:a";
  EXPECT_THAT(List(selection).status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ListPaths({"Tower/b"}).status,
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ListPaths({"Tower/["}).status,
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ListPaths({"/"}).status,
              StatusIs(absl::StatusCode::kInvalidArgument));
  Selection all;
  all.snapshot_id = "*";
  EXPECT_THAT(List(all).status, StatusIs(absl::StatusCode::kInvalidArgument));
  all.paths = {"Tower"};
  all.item_id = "item:a";
  EXPECT_THAT(List(all).status, StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(SourceContractTest, PathsStandForAllTheyHold) {
  PutTower(storage_);
  EXPECT_THAT(ListPaths({"Tower/Plans/x.dwg"}).entries,
              ElementsAre("1 Tower/Plans/x.dwg#1"));
  EXPECT_THAT(ListPaths({"/Tower/Plans/"}).entries,
              ElementsAre("1 Tower/Plans#0", "1 Tower/Plans/a_b.dwg#1",
                          "1 Tower/Plans/old#0", "1 Tower/Plans/old/x.dwg#1",
                          "1 Tower/Plans/x.dwg#1"));
  EXPECT_THAT(ListPaths({"Annex", "Tower/Empty"}).entries,
              ElementsAre("1 Annex#0", "1 Annex/Plans#0",
                          "1 Annex/Plans/x.dwg#1", "1 Tower/Empty#0"));
}

TEST_P(SourceContractTest, PathsMayBeGlobs) {
  PutTower(storage_);
  EXPECT_THAT(ListPaths({"*/Plans/*.dwg"}).entries,
              ElementsAre("1 Annex/Plans/x.dwg#1", "1 Tower/Plans/a_b.dwg#1",
                          "1 Tower/Plans/x.dwg#1"));
  EXPECT_THAT(ListPaths({"Tower/**/old"}).entries,
              ElementsAre("1 Tower/Plans/old#0", "1 Tower/Plans/old/x.dwg#1"));
}

TEST_P(SourceContractTest, OddNamesAreFoundAsTheyAre) {
  PutTower(storage_);
  EXPECT_THAT(ListPaths({"Tower/[x].txt"}).entries,
              ElementsAre("1 Tower/[x].txt#1"));
  EXPECT_THAT(ListPaths({"Tower/Plans/a/b.dwg"}).entries,
              ElementsAre("1 Tower/Plans/a_b.dwg#1"));
  EXPECT_THAT(ListPaths({"Tower/Plans/a_b.dwg"}).entries,
              ElementsAre("1 Tower/Plans/a_b.dwg#1"));
}

TEST_P(SourceContractTest, NamesADamagedManifestAndGoesOn) {
  const std::string annex = PutTower(storage_);
  storage_.Overwrite(storage_.ManifestPath(annex), "torn");
  Listing listing = List({});
  EXPECT_OK(listing.status);
  EXPECT_THAT(listing.entries, SizeIs(8));
  EXPECT_THAT(listing.damage, ElementsAre(HasSubstr(annex)));
  std::filesystem::remove(storage_.ManifestPath(annex));
  listing = ListPaths({"Annex/Plans"});
  EXPECT_OK(listing.status);
  EXPECT_THAT(listing.damage, ElementsAre(HasSubstr(annex)));
}

TEST_P(SourceContractTest, ATornSnapshotIsRefusedAndAnOlderOneIsNot) {
  storage_.PutSnapshot(1, {storage_.PutManifest({storage_.File("a", "1")})});
  storage_.PutSnapshot(2, {});
  storage_.Overwrite(storage_.SnapshotPath(SnapshotsFixture::Id(2)), "{");
  EXPECT_THAT(List({}).status, StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr(SnapshotsFixture::Id(2))));
  Selection older;
  older.snapshot_id = SnapshotsFixture::Id(1);
  EXPECT_THAT(List(older).entries, SizeIs(1));
}

TEST_P(SourceContractTest, GivesEachVersionOfAnItemOnceOldestFirst) {
  const auto with = [this](const ManifestEntry& entry) {
    return std::vector<storage::format::SnapshotProject>{
        storage_.PutManifest({storage_.Folder(""), entry})};
  };
  storage_.PutSnapshot(1, with(storage_.File("a", "one", 1)));
  storage_.PutSnapshot(2, with(storage_.File("a", "two", 2)));
  storage_.PutSnapshot(3, with(storage_.File("b", "other")));
  storage_.PutSnapshot(4, with(storage_.File("a", "two", 2)));
  ManifestEntry lost = storage_.File("a", "three", 3);
  lost.sha256.clear();
  storage_.PutSnapshot(5, with(lost));
  storage_.PutSnapshot(6, with(storage_.File("a", "four", 4)));
  Selection selection;
  selection.snapshot_id = "*";
  selection.item_id = "item:a";
  EXPECT_THAT(List(selection).entries,
              ElementsAre("1 Tower/a#1", "2 Tower/a#2", "6 Tower/a#4"));
  selection.snapshot_id = SnapshotsFixture::Id(4);
  EXPECT_THAT(List(selection).entries, ElementsAre("4 Tower/a#2"));
  selection.item_id = "item:c";
  EXPECT_THAT(List(selection).status, StatusIs(absl::StatusCode::kNotFound));

  storage_.Overwrite(storage_.SnapshotPath(SnapshotsFixture::Id(2)), "{");
  selection = {"*", {}, "item:a"};
  const Listing damaged = List(selection);
  EXPECT_OK(damaged.status);
  EXPECT_THAT(damaged.entries,
              ElementsAre("1 Tower/a#1", "4 Tower/a#2", "6 Tower/a#4"));
  EXPECT_THAT(damaged.damage, ElementsAre(HasSubstr(SnapshotsFixture::Id(2))));
}

TEST_P(SourceContractTest, ReadsABlobFromAnyOffset) {
  std::string bytes(3 * kMaxBlobBytes + 5, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = "blob"[i * i % 4];
  const std::string sha256 = storage_.PutBlob(bytes);
  for (const size_t offset : {size_t{0}, size_t{1}, kMaxBlobBytes + 3,
                              bytes.size() - 1, bytes.size()}) {
    EXPECT_TRUE(ReadBlob(sha256, static_cast<int64_t>(offset)) ==
                absl::StatusOr<std::string>(bytes.substr(offset)))
        << offset;
  }
  EXPECT_THAT(ReadBlob(storage_.PutBlob(""), 0), IsOkAndHolds(""));
}

TEST_P(SourceContractTest, RefusesBlobsAndOffsetsThatAreNone) {
  const std::string sha256 = storage_.PutBlob("12345");
  EXPECT_THAT(ReadBlob(sha256, 6), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(ReadBlob(sha256, -1), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(ReadBlob(std::string(64, 'a'), 0),
              StatusIs(absl::StatusCode::kNotFound));
  for (const std::string& name : {std::string(), std::string("../x"),
                                  std::string(64, 'A'), std::string(63, 'a')}) {
    EXPECT_THAT(ReadBlob(name, 0),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_P(SourceContractTest, StreamsMayBeLeftBeforeTheirEnd) {
  const std::string sha256 =
      storage_.PutBlob(std::string(4 * kMaxBlobBytes, 'x'));
  const auto blob = source().OpenBlob(sha256, 0);
  ASSERT_OK(blob);
  ASSERT_OK((*blob)->Next());
  storage_.PutSnapshot(1, {storage_.PutManifest({storage_.File("a", "1")})});
  const auto stream = source().ListEntries({});
  ASSERT_OK(stream);
  ASSERT_OK((*stream)->Next());
}

}  // namespace bimbackup::restore
