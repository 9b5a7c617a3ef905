// Random workers, losses and restarts: nothing is lost, nothing counts twice.

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "services/coordinator/lease/pool_harness.h"

namespace bimbackup::lease {
namespace {

using catalog::TransferState;

constexpr int kSteps = 10'000;
constexpr int kWorkers = 4;
constexpr int kTransfers = 400;

// One worker as it behaves: one call at a time, results kept until they are
// acknowledged.
struct ModelWorker {
  std::string id;
  std::map<int64_t, GrantedLease> held;
  std::map<int64_t, TransferResult> results;
};

class LeaseModel : public PoolHarness {
 public:
  explicit LeaseModel(uint64_t seed) : dice_(seed) {
    for (int i = 0; i < kWorkers; ++i) workers_.push_back({NextName(), {}, {}});
  }

  void Step() {
    const uint64_t choice = Roll(100);
    ModelWorker& worker = workers_[Roll(kWorkers)];
    if (choice < 55) {
      Synchronize(worker, /*answer_is_lost=*/Roll(20) == 0);
    } else if (choice < 85) {
      FinishOne(worker);
    } else if (choice < 90) {
      clock.Advance(absl::Seconds(static_cast<int>(Roll(40))));
    } else if (choice < 92 && added_ < kTransfers) {
      for (int i = 0; i < 10; ++i, ++added_) store.Add(1000);
      pool->NotifyPending();
    } else if (choice < 94) {
      worker = {NextName(), {}, {}};
    } else if (choice < 95) {
      RestartCoordinator();
    }
  }

  void RestartCoordinator() {
    Restart();
    ASSERT_TRUE(pool->BeginBackup(kBackup, clock.Now()).ok());
    if (added_ >= kTransfers) pool->SetListingDone();
  }

  // Honest work until all is done.
  void Drain() {
    while (added_ < kTransfers) store.Add(1000), ++added_;
    pool->SetListingDone();
    for (int i = 0; i < 20'000 && !pool->stats().drained; ++i) {
      ModelWorker& worker = workers_[i % kWorkers];
      Synchronize(worker, /*answer_is_lost=*/false);
      while (!worker.held.empty()) FinishOne(worker);
      if (i % 50 == 0) clock.Advance(absl::Seconds(20));
    }
    EXPECT_TRUE(pool->stats().drained);
  }

  void ExpectEverythingEndedOnce() {
    int failed = 0;
    for (int64_t id = 1; id <= added_; ++id) {
      const TransferState state = store.StateOf(id);
      EXPECT_TRUE(state == TransferState::kStored ||
                  state == TransferState::kFailed)
          << id;
      EXPECT_EQ(store.StoredTimes(id), state == TransferState::kStored) << id;
      failed += state == TransferState::kFailed;
    }
    EXPECT_LT(failed, added_ / 4) << store.ReasonOf(1);
  }

 private:
  uint64_t Roll(uint64_t sides) { return dice_.Next() % sides; }
  std::string NextName() { return "w" + std::to_string(++names_); }

  void Synchronize(ModelWorker& worker, bool answer_is_lost) {
    WorkerReport report = Report(worker.id, 8);
    for (const auto& [id, lease] : worker.held) {
      report.held.push_back({id, lease.epoch, 0});
    }
    for (const auto& [id, result] : worker.results) {
      report.results.push_back(result);
    }
    report.may_hold = false;
    const PendingReport pending = Send(std::move(report));
    Settle();
    ASSERT_TRUE(pending.answered());
    if (answer_is_lost || !pending.status().ok()) return;
    for (const int64_t id : pending.get().acknowledged)
      worker.results.erase(id);
    for (const int64_t id : pending.get().revoked) worker.held.erase(id);
    for (const GrantedLease& lease : pending.get().granted) {
      ExpectFreshEpoch(lease);
      worker.held[lease.transfer.transfer_id] = lease;
    }
  }

  void ExpectFreshEpoch(const GrantedLease& lease) {
    EXPECT_TRUE(epochs_.insert(lease.epoch).second)
        << "epoch " << lease.epoch << " twice";
  }

  void FinishOne(ModelWorker& worker) {
    if (worker.held.empty()) return;
    auto it = worker.held.begin();
    std::advance(it, Roll(worker.held.size()));
    const GrantedLease lease = it->second;
    worker.held.erase(it);
    const uint64_t choice = Roll(20);
    TransferResult result = choice == 0   ? Ended(lease, Outcome::kRetryable)
                            : choice == 1 ? Ended(lease, Outcome::kReleased)
                                          : Stored(lease);
    worker.results[result.transfer_id] = result;
  }

  SeededRandom dice_;
  std::vector<ModelWorker> workers_;
  std::set<int64_t> epochs_;
  int added_ = 0;
  int names_ = 0;
};

TEST(LeaseModelTest, LosesNothingAndCountsNothingTwice) {
  const uint64_t seed = SeededRandom().Next() % 1'000'000;
  std::cout << "seed " << seed << "\n";
  LeaseModel model(seed);
  model.RestartCoordinator();
  for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
    model.Step();
  }
  model.Drain();
  model.ExpectEverythingEndedOnce();
}

}  // namespace
}  // namespace bimbackup::lease
