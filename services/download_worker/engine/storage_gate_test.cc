#include "services/download_worker/engine/storage_gate.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/download_worker/engine/engine_fixture.h"

namespace bimbackup::engine {
namespace {

using storage::StorageCall;
using testing::HasSubstr;

class StorageGateTest : public EngineFixture {
 protected:
  StorageGate gate_{faulty_, absl::Seconds(1), absl::Seconds(4),
                    absl::Seconds(5)};
  absl::Duration now_ = absl::Seconds(100);
};

TEST_F(StorageGateTest, OpensOnceTheStorageIsWell) {
  EXPECT_TRUE(gate_.open());
  gate_.Close("disk full", 0, now_);
  EXPECT_EQ(gate_.problem(), "disk full");
  gate_.Probe(now_ + absl::Milliseconds(999));
  EXPECT_FALSE(gate_.open());
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_TRUE(gate_.open());
}

TEST_F(StorageGateTest, StaysClosedWhileTheMarkerIsGone) {
  faulty_.faults().SetVanished();
  gate_.Close("write failed", 0, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_FALSE(gate_.open());
  EXPECT_NE(gate_.problem(), "write failed");
}

TEST_F(StorageGateTest, ClosesOnceTheMarkerIsGoneThoughNothingFailed) {
  gate_.Probe(now_);
  EXPECT_TRUE(gate_.open());
  faulty_.faults().SetVanished();
  gate_.Probe(now_ + absl::Seconds(4));
  EXPECT_TRUE(gate_.open());
  gate_.Probe(now_ + absl::Seconds(5));
  EXPECT_FALSE(gate_.open());
  faulty_.faults().Clear();
  gate_.Probe(now_ + absl::Seconds(6));
  EXPECT_TRUE(gate_.open());
}

TEST_F(StorageGateTest, StaysClosedWhileTheStorageCanOnlyBeRead) {
  faulty_.faults().SetReadOnly();
  gate_.Close("write failed", 0, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_THAT(gate_.problem(), HasSubstr("cannot be written"));
  faulty_.faults().Clear();
  gate_.Probe(now_ + absl::Seconds(3));
  EXPECT_TRUE(gate_.open());
}

TEST_F(StorageGateTest, StaysClosedUntilTheFileThatFoundNoRoomFits) {
  const int64_t free = *faulty_.GetCapacity()->free_bytes;
  gate_.Close("disk full", 2 * free, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_THAT(gate_.problem(), HasSubstr("MiB are needed"));
}

TEST_F(StorageGateTest, IsOnTrialUntilSomethingIsStored) {
  gate_.Close("disk full", 0, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_TRUE(gate_.open());
  EXPECT_TRUE(gate_.on_trial());
  gate_.OnStored();
  EXPECT_FALSE(gate_.on_trial());
}

TEST_F(StorageGateTest, LooksMoreRarelyWhileTheFailureComesBack) {
  gate_.Close("disk full", 0, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  gate_.Close("disk full", 0, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_FALSE(gate_.open());
  gate_.Probe(now_ + absl::Seconds(2));
  EXPECT_TRUE(gate_.open());
  gate_.OnStored();
  gate_.Close("disk full", 0, now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_TRUE(gate_.open());
}

}  // namespace
}  // namespace bimbackup::engine
