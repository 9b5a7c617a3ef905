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
  StorageGate gate_{faulty_, absl::Seconds(1), absl::Seconds(4)};
  absl::Duration now_ = absl::Seconds(100);
};

TEST_F(StorageGateTest, OpensOnceTheStorageIsWell) {
  EXPECT_TRUE(gate_.open());
  gate_.Close("disk full", now_);
  EXPECT_EQ(gate_.problem(), "disk full");
  gate_.Probe(now_ + absl::Milliseconds(999));
  EXPECT_FALSE(gate_.open());
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_TRUE(gate_.open());
}

TEST_F(StorageGateTest, StaysClosedWhileTheMarkerIsGone) {
  faulty_.faults().SetVanished();
  gate_.Close("write failed", now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_FALSE(gate_.open());
  EXPECT_NE(gate_.problem(), "write failed");
}

TEST_F(StorageGateTest, LooksMoreRarelyWhileTheFailureComesBack) {
  gate_.Close("disk full", now_);
  gate_.Probe(now_ + absl::Seconds(1));
  gate_.Close("disk full", now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_FALSE(gate_.open());
  gate_.Probe(now_ + absl::Seconds(2));
  EXPECT_TRUE(gate_.open());
  gate_.OnStored();
  gate_.Close("disk full", now_);
  gate_.Probe(now_ + absl::Seconds(1));
  EXPECT_TRUE(gate_.open());
}

}  // namespace
}  // namespace bimbackup::engine
