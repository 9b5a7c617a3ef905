#include "services/download_worker/engine/transfer_run.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/download_worker/engine/engine_fixture.h"

namespace bimbackup::engine {
namespace {

// Takes note of what a run tells, and gives no slot but the first.
class FakeHost : public TransferHost {
 public:
  explicit FakeHost(const EngineOptions& options) : pace_(options) {}

  void SetWanted(uint64_t, int) override {
    MutexLock lock(mutex_);
    ++told_;
  }
  void ReleaseSlot(uint64_t) override {}
  void OnCommitting(uint64_t) override {}
  void OnBytes(int64_t) override {}
  void OnRequestEnded(absl::Duration, bool) override {
    MutexLock lock(mutex_);
    ++requests_ended_;
  }
  int SpareSlots() const override { return 0; }
  const Pace& pace() const override { return pace_; }
  void OnEnded(uint64_t, const TransferReport&) override {
    MutexLock lock(mutex_);
    ended_ = true;
  }

  void SetCap(int64_t bytes_per_second) { pace_.SetCap(bytes_per_second); }

  // How often the run has said what it wants: the last thing that it does on
  // each occasion.
  int told() {
    MutexLock lock(mutex_);
    return told_;
  }
  int requests_ended() {
    MutexLock lock(mutex_);
    return requests_ended_;
  }
  bool ended() {
    MutexLock lock(mutex_);
    return ended_;
  }

 private:
  Pace pace_;
  Mutex mutex_;
  int told_ ABSL_GUARDED_BY(mutex_) = 0;
  int requests_ended_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

// One run whose only request hangs, under a clock that stands still.
class TransferRunTest : public EngineFixture {
 protected:
  TransferRunTest() {
    http::FakeTransport::Answer hanging;
    hanging.hang = true;
    origin_.transport().AddRule([](const http::Request&) { return true; },
                                hanging);
  }

  ~TransferRunTest() override {
    run_->Release("the test is over");
    EXPECT_TRUE(Eventually([this] { return host_.ended(); }));
  }

  void StartRun() {
    run_ = std::make_shared<TransferRun>(
        1, Put(1, "file", std::string(1 << 20, 'x')), deps_, options_,
        executor_, host_);
    run_->Start();
    ASSERT_TRUE(Eventually([this] { return host_.told() > 0; }));
    ASSERT_EQ(origin_.transport().CountRequests("file"), 1);
  }

  // Whether the watchdog, called after `passed`, gives the request up.
  bool GivesUpAfter(absl::Duration passed) {
    still_.Advance(passed);
    const int told = host_.told();
    run_->Tick();
    EXPECT_TRUE(Eventually([&] { return host_.told() > told; }));
    return host_.requests_ended() > 0;
  }

  FakeClock still_;
  EngineOptions options_ = QuickOptions();
  FakeHost host_{options_};
  EngineDeps deps_{.clock = still_,
                   .random = random_,
                   .transport = origin_.transport(),
                   .storage = faulty_,
                   .hosts = hosts_,
                   .resolver = resolver_};
  Executor executor_{still_, 1};
  std::shared_ptr<TransferRun> run_;
};

TEST_F(TransferRunTest, GivesUpARequestThatOutlivesItsLimits) {
  StartRun();
  EXPECT_FALSE(GivesUpAfter(absl::Seconds(1)));
  EXPECT_TRUE(GivesUpAfter(absl::Minutes(5)));
}

TEST_F(TransferRunTest, ACapThatIsLoweredGivesARunningRequestMoreTime) {
  StartRun();
  host_.SetCap(1000);
  EXPECT_FALSE(GivesUpAfter(absl::Minutes(5)));
  EXPECT_FALSE(GivesUpAfter(absl::Minutes(5)));
}

TEST_F(TransferRunTest, ACapThatIsLiftedDoesNotCountTheTimeUnderIt) {
  host_.SetCap(1000);
  StartRun();
  EXPECT_FALSE(GivesUpAfter(absl::Minutes(20)));
  host_.SetCap(0);
  EXPECT_FALSE(GivesUpAfter(absl::Seconds(1)));
  EXPECT_TRUE(GivesUpAfter(absl::Minutes(5)));
}

}  // namespace
}  // namespace bimbackup::engine
