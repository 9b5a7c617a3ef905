#include "clients/storage/format/manifest.h"

#include <algorithm>
#include <memory>
#include <random>

#include "absl/strings/str_format.h"
#include "clients/storage/faulty_storage.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage::format {
namespace {

using ::absl_testing::StatusIs;

bool Same(const ManifestEntry& a, const ManifestEntry& b) {
  return a.kind == b.kind && a.project_id == b.project_id &&
         a.project_name == b.project_name && a.path == b.path &&
         a.stored_path == b.stored_path && a.item_id == b.item_id &&
         a.version_id == b.version_id && a.version_number == b.version_number &&
         a.size == b.size && a.sha256 == b.sha256 &&
         a.last_modified == b.last_modified && a.storage_urn == b.storage_urn &&
         a.status == b.status && a.reason == b.reason;
}

ManifestEntry FullEntry() {
  ManifestEntry entry;
  entry.project_id = "b.1";
  entry.project_name = "Tower \"A\"";
  entry.path = {"Plans", "A/B.dwg"};
  entry.stored_path = "Tower %22A%22/Plans/A%2FB.dwg";
  entry.item_id = "urn:item";
  entry.version_id = "urn:item?version=3";
  entry.version_number = 3;
  entry.size = 12;
  entry.sha256 = Sha256Hex("x");
  entry.last_modified =
      absl::FromUnixSeconds(1769903999) + absl::Nanoseconds(123456700);
  entry.storage_urn = "urn:adsk.objects:os.object:wip/1.dwg";
  return entry;
}

TEST(ManifestLineTest, KeysStandInTheDesignsOrder) {
  EXPECT_EQ(
      FormatManifestLine(FullEntry()),
      "{\"kind\":\"file\",\"project_id\":\"b.1\",\"project_name\":"
      "\"Tower \\\"A\\\"\",\"path\":[\"Plans\",\"A/B.dwg\"],\"stored_path\":"
      "\"Tower %22A%22/Plans/A%2FB.dwg\",\"item_id\":\"urn:item\","
      "\"version_id\":\"urn:item?version=3\",\"version_number\":3,\"size\":12,"
      "\"sha256\":\"" +
          Sha256Hex("x") +
          "\",\"last_modified\":\"2026-01-31T23:59:59.1234567Z\","
          "\"storage_urn\":\"urn:adsk.objects:os.object:wip/1.dwg\","
          "\"status\":\"stored\"}");
}

TEST(ManifestLineTest, WhatIsAbsentIsLeftOut) {
  ManifestEntry entry;
  entry.kind = EntryKind::kFolder;
  entry.project_id = "b.1";
  entry.stored_path = "P";
  entry.status = EntryStatus::kCarried;
  entry.reason = "403";
  EXPECT_EQ(FormatManifestLine(entry),
            "{\"kind\":\"folder\",\"project_id\":\"b.1\",\"project_name\":\"\","
            "\"path\":[],\"stored_path\":\"P\",\"status\":\"carried\","
            "\"reason\":\"403\"}");
}

// Any text that JSON can hold, with a bias to what needs care.
std::string OddText(std::mt19937& random) {
  static const std::vector<std::string> pieces = {
      "a",       "\"",
      "\\",      "\n",
      "\t",      std::string(1, '\0'),
      "\x01",    "\x7f",
      "/",       "ä",
      "🏗",    "\u2028",
      "\\u0041", "%2F",
      "}",       "\xEF\xBF\xBD",
      " "};
  std::string text;
  for (int count = random() % 8; count > 0; --count) {
    text += pieces[random() % pieces.size()];
  }
  return text;
}

ManifestEntry OddEntry(std::mt19937& random) {
  ManifestEntry entry;
  entry.kind = random() % 2 == 0 ? EntryKind::kFile : EntryKind::kFolder;
  entry.project_id = "b." + OddText(random);
  entry.project_name = OddText(random);
  for (int depth = random() % 5; depth > 0; --depth) {
    entry.path.push_back(OddText(random));
  }
  entry.stored_path = "p" + OddText(random);
  entry.item_id = OddText(random);
  entry.version_id = OddText(random);
  entry.version_number = random() % 3;
  if (random() % 2 == 0)
    entry.size = static_cast<int64_t>(random()) << (random() % 31);
  if (random() % 2 == 0) entry.sha256 = Sha256Hex(OddText(random));
  if (random() % 2 == 0) {
    entry.last_modified =
        absl::FromUnixNanos(static_cast<int64_t>(random()) * 1234567891);
  }
  entry.storage_urn = OddText(random);
  entry.status = static_cast<EntryStatus>(random() % 5);
  entry.reason = OddText(random);
  return entry;
}

TEST(ManifestLineTest, EveryEntryComesBackAsItWas) {
  std::mt19937 random(20260131);
  for (int i = 0; i < 5000; ++i) {
    const ManifestEntry entry = OddEntry(random);
    const std::string line = FormatManifestLine(entry);
    ASSERT_EQ(line.find('\n'), std::string::npos);
    ASSERT_OK_AND_ASSIGN(const ManifestEntry parsed, ParseManifestLine(line));
    ASSERT_TRUE(Same(entry, parsed)) << line;
  }
}

TEST(ManifestLineTest, BytesThatAreNoTextDoNotBreakTheLine) {
  ManifestEntry entry = FullEntry();
  entry.path = {"a\xff"};
  ASSERT_OK_AND_ASSIGN(const ManifestEntry parsed,
                       ParseManifestLine(FormatManifestLine(entry)));
  EXPECT_EQ(parsed.path[0], "a\uFFFD");
}

TEST(ManifestLineTest, UnknownKeysArePassedOverAndBadOnesRefused) {
  EXPECT_OK(ParseManifestLine(
      R"({"project_id":"b","stored_path":"p","new":[1],"kind":"folder"})"));
  for (const char* line :
       {"", "[]", "{", "{}", R"({"project_id":"b","stored_path":""})",
        R"({"project_id":"b","stored_path":"p","kind":"link"})",
        R"({"project_id":"b","stored_path":"p","status":"?"})",
        R"({"project_id":"b","stored_path":"p","path":[1]})",
        R"({"project_id":"b","stored_path":"p","last_modified":"now"})",
        R"({"project_id":"b","stored_path":"p","version_number":-1})"}) {
    EXPECT_THAT(ParseManifestLine(line), StatusIs(absl::StatusCode::kDataLoss))
        << line;
  }
}

TEST(StoredPathLessTest, AFolderComesBeforeWhatItHoldsAndThatBeforeTheNext) {
  std::vector<std::string> paths = {"a b", "a", "a/b", "a!", "a/b/c", "b"};
  std::sort(paths.begin(), paths.end(), StoredPathLess);
  EXPECT_THAT(paths,
              testing::ElementsAre("a", "a/b", "a/b/c", "a b", "a!", "b"));
}

class ManifestFileTest : public testing::Test {
 protected:
  ManifestFileTest() {
    OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    storage_ = *OpenStorage(options);
  }

  ManifestEntry Entry(int i) {
    ManifestEntry entry = FullEntry();
    entry.stored_path = absl::StrFormat("Tower/%07d", i);
    if (i % 3 == 0) entry.status = EntryStatus::kFailed;
    return entry;
  }

  std::string Write(int entries, ManifestCounts* counts = nullptr) {
    auto writer = *ManifestWriter::Create(*storage_);
    for (int i = 0; i < entries; ++i) EXPECT_OK(writer->Append(Entry(i)));
    if (counts != nullptr) *counts = writer->counts();
    return *writer->Commit();
  }

  TempFolder folder_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(ManifestFileTest, AManifestIsReadBackEntryByEntry) {
  ManifestCounts counts;
  const std::string digest = Write(20000, &counts);
  EXPECT_EQ(counts.files, 20000);
  EXPECT_EQ(counts.bytes, 20000 * 12);
  EXPECT_EQ(counts.failed, 6667);
  ASSERT_OK_AND_ASSIGN(auto reader, ManifestReader::Open(*storage_, digest));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto entry, reader->Next());
    ASSERT_TRUE(entry.has_value());
    ASSERT_TRUE(Same(*entry, Entry(i)));
  }
  ASSERT_OK_AND_ASSIGN(const auto end, reader->Next());
  EXPECT_FALSE(end.has_value());
  ASSERT_OK_AND_ASSIGN(const auto still, reader->Next());
  EXPECT_FALSE(still.has_value());
}

TEST_F(ManifestFileTest, AnEmptyManifestIsOne) {
  const std::string digest = Write(0);
  EXPECT_EQ(digest, Sha256Hex(""));
  ASSERT_OK_AND_ASSIGN(auto reader, ManifestReader::Open(*storage_, digest));
  ASSERT_OK_AND_ASSIGN(const auto end, reader->Next());
  EXPECT_FALSE(end.has_value());
}

TEST_F(ManifestFileTest, TheSameEntriesAreTheSameManifest) {
  FaultyStorage counted(*storage_);
  const std::string digest = Write(10);
  auto writer = *ManifestWriter::Create(counted);
  for (int i = 0; i < 10; ++i) ASSERT_OK(writer->Append(Entry(i)));
  ASSERT_OK_AND_ASSIGN(const std::string again, writer->Commit());
  EXPECT_EQ(again, digest);
  EXPECT_EQ(counted.faults().calls(StorageCall::kCommitObject), 0);
}

TEST_F(ManifestFileTest, ADamagedManifestIsWrittenAgain) {
  const std::string digest = Write(10);
  const std::string path = folder_ / ManifestKey(digest);
  const std::string good = ReadWholeFile(path);
  for (const std::string& bad : {good.substr(0, good.size() / 2),
                                 std::string("other bytes"), std::string()}) {
    std::filesystem::remove(path);
    WriteWholeFile(path, bad);
    EXPECT_EQ(Write(10), digest);
    EXPECT_EQ(ReadWholeFile(path), good);
  }
}

TEST_F(ManifestFileTest, EntriesOutOfOrderAreRefused) {
  auto writer = *ManifestWriter::Create(*storage_);
  ASSERT_OK(writer->Append(Entry(2)));
  EXPECT_THAT(writer->Append(Entry(1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Append(Entry(2)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

absl::Status ReadThrough(Storage& storage, const std::string& digest) {
  auto reader = ManifestReader::Open(storage, digest);
  if (!reader.ok()) return reader.status();
  while (true) {
    const auto entry = (*reader)->Next();
    if (!entry.ok()) return entry.status();
    if (!entry->has_value()) return absl::OkStatus();
  }
}

TEST_F(ManifestFileTest, ADamagedManifestIsToldFromAWholeOne) {
  const std::string digest = Write(3000);
  const std::string path = folder_ / ManifestKey(digest);
  const std::string whole = ReadWholeFile(path);
  ASSERT_OK(ReadThrough(*storage_, digest));
  std::filesystem::permissions(path, std::filesystem::perms::owner_write |
                                         std::filesystem::perms::owner_read);
  for (size_t size : {whole.size() - 1, whole.size() / 2, size_t{5}}) {
    WriteWholeFile(path, whole.substr(0, size));
    EXPECT_THAT(ReadThrough(*storage_, digest),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  WriteWholeFile(path, flipped);
  EXPECT_THAT(ReadThrough(*storage_, digest),
              StatusIs(absl::StatusCode::kDataLoss));
  // A whole one, but another's.
  WriteWholeFile(path, ReadWholeFile(folder_ / ManifestKey(Write(3001))));
  EXPECT_THAT(ReadThrough(*storage_, digest),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ManifestFileTest, AMissingManifestIsNotFound) {
  EXPECT_THAT(ManifestReader::Open(*storage_, Sha256Hex("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace bimbackup::storage::format
