#include "services/coordinator/catalog/sqlite_database.h"

#include <atomic>
#include <thread>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/group_commit.h"

namespace bimbackup::catalog {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;

TEST(DatabaseTest, FirstErrorSticksUntilItIsTaken) {
  ASSERT_OK_AND_ASSIGN(auto database,
                       Database::Open(":memory:", Database::Mode::kReadWrite));
  database->Execute("CREATE TABLE t(x)");
  catalog::Run(*database, "INSERT INTO nowhere VALUES(1)");
  catalog::Run(*database, "INSERT INTO t VALUES(1)");
  EXPECT_THAT(database->TakeStatus(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("nowhere")));
  EXPECT_EQ(ReadInt(*database, -1, "SELECT COUNT(*) FROM t"), 0);
}

TEST(DatabaseTest, FullDiskIsResourceExhausted) {
  ASSERT_OK_AND_ASSIGN(auto database,
                       Database::Open(":memory:", Database::Mode::kReadWrite));
  database->Execute("CREATE TABLE t(x); PRAGMA max_page_count = 3");
  catalog::Run(*database, "INSERT INTO t VALUES(?)", std::string(100'000, 'x'));
  EXPECT_THAT(
      database->TakeStatus(),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("no room")));
}

TEST(DatabaseTest, ValuesComeBackAsTheyWere) {
  ASSERT_OK_AND_ASSIGN(auto database,
                       Database::Open(":memory:", Database::Mode::kReadWrite));
  const std::string bytes("a\0b", 3);
  const std::string text = "text";
  Query query(*database, "SELECT ?, ?, ?, ?, ?", -5, absl::string_view(),
              std::optional<int64_t>(), Blob{bytes}, text);
  ASSERT_TRUE(query.Next());
  EXPECT_EQ(query.Int(0), -5);
  EXPECT_FALSE(query.IsNull(1));
  EXPECT_EQ(query.OptionalInt(2), std::nullopt);
  EXPECT_EQ(query.Text(3), bytes);
  EXPECT_EQ(query.Text(4), "text");
}

TEST(GroupCommitTest, OneThatFailsSpoilsNoOther) {
  ASSERT_OK_AND_ASSIGN(auto database,
                       Database::Open(":memory:", Database::Mode::kReadWrite));
  database->Execute("CREATE TABLE t(x UNIQUE); INSERT INTO t VALUES(0)");
  GroupCommit writer(std::move(database));
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const int value = i == 7 ? 0 : t * 100 + i + 1;
        const absl::Status status = writer.Commit([&](WriteBatch& batch) {
          catalog::Run(batch.database(), "INSERT INTO t VALUES(?)", value);
          return absl::OkStatus();
        });
        if (!status.ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 16);
  int64_t rows = 0;
  EXPECT_OK(writer.Commit([&](WriteBatch& batch) {
    rows = ReadInt(batch.database(), 0, "SELECT COUNT(*) FROM t");
    return absl::OkStatus();
  }));
  EXPECT_EQ(rows, 1 + 16 * 19);
}

}  // namespace
}  // namespace bimbackup::catalog
