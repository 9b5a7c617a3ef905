#include "services/coordinator/catalog/sqlite_database.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

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

}  // namespace
}  // namespace bimbackup::catalog
