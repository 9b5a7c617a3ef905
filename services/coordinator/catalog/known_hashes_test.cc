#include "services/coordinator/catalog/known_hashes.h"

#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/group_commit.h"
#include "services/coordinator/catalog/object_writer.h"
#include "services/coordinator/catalog/schema.h"

namespace bimbackup::catalog {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr int kMoved = static_cast<int>(KnownHashes::kMovedAtOnce);

std::string Urn(int number) { return absl::StrCat("urn:", number); }

class KnownHashesTest : public testing::Test {
 protected:
  KnownHashesTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hashes.XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    Reopen();
  }
  ~KnownHashesTest() override {
    writer_.reset();
    std::filesystem::remove_all(dir_);
  }

  void Reopen() {
    writer_.reset();
    const std::string path = absl::StrCat(dir_, "/catalog.db");
    ASSERT_OK_AND_ASSIGN(auto database,
                         Database::Open(path, Database::Mode::kReadWrite));
    database->Execute("PRAGMA synchronous = OFF");
    ASSERT_OK(MigrateSchema(*database, path, clock_.Now()));
    writer_ = std::make_unique<GroupCommit>(std::move(database), clock_);
  }

  void Commit(const std::function<void(WriteBatch&)>& change) {
    ASSERT_OK(writer_->Commit([&](WriteBatch& batch) {
      change(batch);
      return absl::OkStatus();
    }));
  }

  // As Commit(), in a transaction that fails at its end.
  void Spoil(const std::function<void(WriteBatch&)>& change) {
    ASSERT_THAT(writer_->Commit([&](WriteBatch& batch) {
      change(batch);
      catalog::Run(batch.database(), "INSERT INTO no_table VALUES(1)");
      return absl::OkStatus();
    }),
                Not(absl_testing::IsOk()));
  }

  // Objects with the URNs of these numbers, the last of them included.
  static void Add(WriteBatch& batch, int first, int last) {
    for (int i = first; i <= last; ++i) FindOrAddObject(batch, Urn(i), 1);
  }

  int64_t Read(const char* sql) {
    int64_t value = -1;
    Commit(
        [&](WriteBatch& batch) { value = ReadInt(batch.database(), 0, sql); });
    return value;
  }

  // The first number up to `last` whose object is not found under its own
  // hash; 0 for none. Numbers are those of the rows.
  int FirstLost(int last) {
    int lost = 0;
    Commit([&](WriteBatch& batch) {
      for (int i = last; i > 0; --i) {
        const ObjectPks found = batch.hashes().FindObjects(UrnHash(Urn(i)));
        if (found.size() != 1 || found[0] != i) lost = i;
      }
    });
    return lost;
  }

  FakeClock clock_;
  std::string dir_;
  std::unique_ptr<GroupCommit> writer_;
};

TEST_F(KnownHashesTest, WhatARolledBackTransactionAddedIsForgotten) {
  Commit([](WriteBatch& batch) { Add(batch, 1, 1); });
  Spoil([](WriteBatch& batch) {
    Add(batch, 2, 3);
    EXPECT_THAT(batch.hashes().FindObjects(UrnHash(Urn(3))), ElementsAre(3));
  });
  // Which gets the number that was taken back.
  Commit([](WriteBatch& batch) {
    EXPECT_EQ(FindOrAddObject(batch, Urn(4), 1).pk, 2);
    EXPECT_THAT(batch.hashes().FindObjects(UrnHash(Urn(1))), ElementsAre(1));
    EXPECT_THAT(batch.hashes().FindObjects(UrnHash(Urn(2))), IsEmpty());
    EXPECT_THAT(batch.hashes().FindObjects(UrnHash(Urn(3))), IsEmpty());
    EXPECT_THAT(batch.hashes().FindObjects(UrnHash(Urn(4))), ElementsAre(2));
    EXPECT_EQ(FindOrAddObject(batch, Urn(2), 1).pk, 3);
  });
}

TEST_F(KnownHashesTest, WhatFollowsAnErrorIsNotAdded) {
  Commit([](WriteBatch& batch) { Add(batch, 1, 1); });
  ASSERT_THAT(writer_->Commit([](WriteBatch& batch) {
    catalog::Run(batch.database(), "INSERT INTO no_table VALUES(1)");
    Add(batch, 2, 2);
    return absl::OkStatus();
  }),
              Not(absl_testing::IsOk()));
  Commit([](WriteBatch& batch) {
    EXPECT_THAT(batch.hashes().FindObjects(UrnHash(Urn(2))), IsEmpty());
  });
}

TEST_F(KnownHashesTest, OneThatSpoilsATransactionTakesNothingFromOthers) {
  Commit([](WriteBatch& batch) {
    batch.hashes().Load();
    Add(batch, 1, 10);
  });
  Spoil([](WriteBatch& batch) { Add(batch, 11, 20); });
  Spoil([](WriteBatch&) {});
  Commit([](WriteBatch& batch) { Add(batch, 11, 15); });
  EXPECT_EQ(FirstLost(15), 0);
  EXPECT_EQ(Read("SELECT COUNT(*) FROM objects"), 15);
}

TEST_F(KnownHashesTest, RolledBackMoveIsMadeAgain) {
  Commit([](WriteBatch& batch) { Add(batch, 1, kMoved - 1); });
  EXPECT_EQ(Read("SELECT COUNT(*) FROM object_hashes"), 0);
  Spoil([](WriteBatch& batch) {
    Add(batch, kMoved, kMoved + 5);
    EXPECT_EQ(
        ReadInt(batch.database(), 0, "SELECT COUNT(*) FROM object_hashes"),
        kMoved);
  });
  EXPECT_EQ(Read("SELECT COUNT(*) FROM object_hashes"), 0);
  EXPECT_EQ(FirstLost(kMoved - 1), 0);
  Commit([](WriteBatch& batch) { Add(batch, kMoved - 1, kMoved + 2); });
  EXPECT_EQ(Read("SELECT COUNT(*) FROM object_hashes"), kMoved);
  EXPECT_EQ(Read("SELECT value FROM settings WHERE name = 'hashed_objects'"),
            kMoved);
  EXPECT_EQ(FirstLost(kMoved + 2), 0);
}

TEST_F(KnownHashesTest, AllIsFoundAfterReopening) {
  Commit([](WriteBatch& batch) { Add(batch, 1, kMoved + 100); });
  for (const bool load : {false, true}) {
    Reopen();
    if (load) Commit([](WriteBatch& batch) { batch.hashes().Load(); });
    Commit([](WriteBatch& batch) { Add(batch, 1, kMoved + 100); });
    EXPECT_EQ(FirstLost(kMoved + 100), 0);
    EXPECT_EQ(Read("SELECT COUNT(*) FROM objects"), kMoved + 100);
  }
  // Moved after kMovedAtOnce of them, whichever run they were added in.
  Commit([](WriteBatch& batch) { Add(batch, kMoved + 101, 2 * kMoved); });
  EXPECT_EQ(Read("SELECT COUNT(*) FROM object_hashes"), 2 * kMoved);
  EXPECT_EQ(FirstLost(2 * kMoved), 0);
}

TEST_F(KnownHashesTest, ObjectsOfOneHashAreAllFound) {
  Commit([](WriteBatch& batch) {
    catalog::Run(batch.database(), "INSERT INTO object_hashes VALUES(7, 1)");
    EXPECT_THAT(batch.hashes().FindObjects(7), ElementsAre(1));
    batch.hashes().AddObject(7, 2);
    batch.hashes().AddObject(7, 3);
    EXPECT_THAT(batch.hashes().FindObjects(7), ElementsAre(2, 3, 1));
  });
}

constexpr char kAddFile[] = R"sql(
INSERT INTO files(project, folder, item_hash, item_id, name, version_id,
  version_number, reason, seen)
VALUES(1, 1, ?, 'i', 'n', 'v', 1, '', 1))sql";

TEST_F(KnownHashesTest, FilesAreKnownOnceTheyAreAdded) {
  const auto add = [](WriteBatch& batch, int64_t hash) {
    catalog::Run(batch.database(), kAddFile, hash);
    batch.hashes().AddFile(hash);
  };
  Commit([&](WriteBatch& batch) {
    // Before the first look, and after it.
    add(batch, 5);
    EXPECT_TRUE(batch.hashes().MayHaveFile(5));
    EXPECT_FALSE(batch.hashes().MayHaveFile(6));
    add(batch, 6);
    EXPECT_TRUE(batch.hashes().MayHaveFile(6));
  });
  Spoil([&](WriteBatch& batch) { add(batch, 7); });
  Commit([&](WriteBatch& batch) {
    EXPECT_TRUE(batch.hashes().MayHaveFile(5));
    add(batch, 7);
  });
  Reopen();
  Commit([](WriteBatch& batch) {
    for (const int64_t hash : {5, 6, 7}) {
      EXPECT_TRUE(batch.hashes().MayHaveFile(hash)) << hash;
    }
    EXPECT_FALSE(batch.hashes().MayHaveFile(8));
  });
}

// It does not take what it could not read for empty.
TEST_F(KnownHashesTest, WhatCannotBeReadMayBeThere) {
  Commit([](WriteBatch& batch) {
    catalog::Run(batch.database(), kAddFile, 5);
    Add(batch, 1, 3);
    batch.database().Execute(
        "ALTER TABLE files RENAME TO f; ALTER TABLE objects RENAME TO o");
  });
  Reopen();
  ASSERT_THAT(writer_->Commit([](WriteBatch& batch) {
    batch.hashes().Load();
    EXPECT_TRUE(batch.hashes().MayHaveFile(5));
    return absl::OkStatus();
  }),
              Not(absl_testing::IsOk()));
  Commit([](WriteBatch& batch) {
    batch.database().Execute(
        "ALTER TABLE f RENAME TO files; ALTER TABLE o RENAME TO objects");
  });
  Commit([](WriteBatch& batch) { EXPECT_TRUE(batch.hashes().MayHaveFile(5)); });
  EXPECT_EQ(FirstLost(3), 0);
}

}  // namespace
}  // namespace bimbackup::catalog
