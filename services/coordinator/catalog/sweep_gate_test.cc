#include "services/coordinator/catalog/sweep_gate.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace bimbackup::catalog {
namespace {

TEST(SweepGateTest, LetsOneInAtATimeAndEverybodyInTheEnd) {
  SweepGate gate;
  std::atomic<int> inside = 0;
  std::atomic<bool> crowded = false;
  int entered = 0;
  const auto run = [&](SweepGate::Party party) {
    for (int i = 0; i < 2000; ++i) {
      const SweepGate::Pass pass(gate, party);
      if (++inside != 1) crowded = true;
      ++entered;
      --inside;
    }
  };
  std::vector<std::thread> threads;
  for (const SweepGate::Party party :
       {SweepGate::Party::kSweep, SweepGate::Party::kWork,
        SweepGate::Party::kWork, SweepGate::Party::kSweep}) {
    threads.emplace_back(run, party);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(crowded);
  EXPECT_EQ(entered, 8000);
}

TEST(SweepGateTest, ASweepThatWaitsDoesNotKeepWorkOut) {
  SweepGate gate;
  std::thread sweep;
  {
    const SweepGate::Pass work(gate, SweepGate::Party::kWork);
    sweep = std::thread(
        [&gate] { SweepGate::Pass pass(gate, SweepGate::Party::kSweep); });
  }
  for (int i = 0; i < 100; ++i) {
    const SweepGate::Pass work(gate, SweepGate::Party::kWork);
  }
  sweep.join();
}

}  // namespace
}  // namespace bimbackup::catalog
