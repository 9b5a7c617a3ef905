#include "clients/snapshots/cursor_cache.h"

#include "clients/snapshots/snapshots_fixture.h"
#include "services/common/fake_clock.h"

namespace bimbackup::snapshots {
namespace {

class CursorCacheTest : public testing::Test {
 protected:
  CursorCacheTest() {
    fixture_.PutSnapshot(1, {fixture_.PutManifest({fixture_.Folder("")})});
  }

  EntryPosition At(int line) { return {fixture_.Id(1), 0, line}; }

  void Put(int line) {
    cache_.Put(*EntryCursor::Open(fixture_.storage(), At(line)));
  }

  SnapshotsFixture fixture_;
  FakeClock clock_;
  CursorCache cache_{clock_, 2, absl::Minutes(1)};
};

TEST_F(CursorCacheTest, GivesACursorOnceAndForItsPositionAlone) {
  Put(3);
  EXPECT_EQ(cache_.Take(At(4)), nullptr);
  EXPECT_EQ(cache_.Take({fixture_.Id(2), 0, 3}), nullptr);
  ASSERT_NE(cache_.Take(At(3)), nullptr);
  EXPECT_EQ(cache_.Take(At(3)), nullptr);
}

TEST_F(CursorCacheTest, TheOldestMakesRoom) {
  for (const int line : {1, 2, 3}) Put(line);
  EXPECT_EQ(cache_.Take(At(1)), nullptr);
  EXPECT_NE(cache_.Take(At(2)), nullptr);
  EXPECT_NE(cache_.Take(At(3)), nullptr);
}

TEST_F(CursorCacheTest, ExpiresWhatNobodyCameBackFor) {
  Put(1);
  clock_.Advance(absl::Seconds(59));
  Put(2);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(cache_.Take(At(1)), nullptr);
  EXPECT_NE(cache_.Take(At(2)), nullptr);
}

}  // namespace
}  // namespace bimbackup::snapshots
