#include "services/coordinator/catalog/group_commit.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::catalog {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Ne;
using Urgency = GroupCommit::Urgency;

// Stands still, but once waits for as long as it takes.
class PatientClock : public FakeClock {
 public:
  bool WaitUntil(Mutex& mutex, CondVar& condition, absl::Duration) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (std::exchange(waited_, true)) return false;
    condition.Wait(mutex);
    return true;
  }

 private:
  bool waited_ = false;
};

class GroupCommitTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(
        auto database, Database::Open(":memory:", Database::Mode::kReadWrite));
    database->Execute("CREATE TABLE t(x UNIQUE); INSERT INTO t VALUES(0)");
    writer_ = std::make_unique<GroupCommit>(std::move(database), clock_);
  }

  absl::Status Insert(int value) {
    return writer_->Commit([value](WriteBatch& batch) {
      catalog::Run(batch.database(), "INSERT INTO t VALUES(?)", value);
      return absl::OkStatus();
    });
  }

  int64_t CountRows() {
    int64_t rows = 0;
    EXPECT_OK(writer_->Commit([&rows](WriteBatch& batch) {
      rows = ReadInt(batch.database(), 0, "SELECT COUNT(*) FROM t");
      return absl::OkStatus();
    }));
    return rows;
  }

  // Another caller, who waits when this returns. Its operation notes its name
  // and on whose thread it runs.
  void Come(const std::string& name, Urgency urgency) {
    const int before = writer_->waiting();
    callers_.emplace_back([this, name, urgency] {
      EXPECT_OK(writer_->Commit(
          [this, name](WriteBatch&) {
            ran_.push_back(name);
            ran_on_.push_back(std::this_thread::get_id());
            return absl::OkStatus();
          },
          urgency));
    });
    while (writer_->waiting() == before) std::this_thread::yield();
  }

  // Commits something during which `meanwhile` happens; returns when all
  // callers have been answered.
  void Run(const std::function<void()>& meanwhile) {
    EXPECT_OK(writer_->Commit([&](WriteBatch&) {
      meanwhile();
      return absl::OkStatus();
    }));
    for (std::thread& caller : callers_) caller.join();
  }

  PatientClock clock_;
  std::unique_ptr<GroupCommit> writer_;
  std::vector<std::thread> callers_;
  std::vector<std::string> ran_;
  std::vector<std::thread::id> ran_on_;
};

TEST_F(GroupCommitTest, TakesAlongWhoComesMeanwhile) {
  Run([&] {
    Come("first", Urgency::kNormal);
    Come("second", Urgency::kNormal);
  });
  EXPECT_THAT(ran_, ElementsAre("first", "second"));
  EXPECT_THAT(ran_on_, Each(std::this_thread::get_id()));
}

TEST_F(GroupCommitTest, LeavesToTheNextWhatWouldTakeTooLong) {
  Run([&] {
    Come("first", Urgency::kNormal);
    Come("second", Urgency::kNormal);
    clock_.Advance(absl::Seconds(1));
  });
  EXPECT_THAT(ran_, ElementsAre("first", "second"));
  EXPECT_THAT(ran_on_, Each(Ne(std::this_thread::get_id())));
}

TEST_F(GroupCommitTest, WhatIsUrgentGoesFirst) {
  Run([&] {
    Come("first", Urgency::kNormal);
    Come("second", Urgency::kNormal);
    Come("urgent", Urgency::kUrgent);
  });
  EXPECT_THAT(ran_, ElementsAre("urgent", "first", "second"));
}

TEST_F(GroupCommitTest, WhatIsUrgentWaitsForNothingThatCameMeanwhile) {
  Run([&] {
    Come("first", Urgency::kNormal);
    Come("urgent", Urgency::kUrgent);
  });
  EXPECT_THAT(ran_, ElementsAre("urgent", "first"));
  EXPECT_EQ(ran_on_[0], std::this_thread::get_id());
  EXPECT_NE(ran_on_[1], std::this_thread::get_id());
}

TEST_F(GroupCommitTest, WhatIsUrgentGoesOnFirst) {
  Run([&] {
    Come("first", Urgency::kNormal);
    Come("urgent", Urgency::kUrgent);
    clock_.Advance(absl::Seconds(1));
  });
  EXPECT_THAT(ran_, ElementsAre("urgent", "first"));
}

TEST_F(GroupCommitTest, WhatIsUrgentDoesNotKeepOthersWaiting) {
  const auto commit_urgently = [this](const std::function<void()>& meanwhile) {
    EXPECT_OK(writer_->Commit(
        [&](WriteBatch&) {
          meanwhile();
          return absl::OkStatus();
        },
        Urgency::kUrgent));
  };
  commit_urgently([&] {
    Come("first", Urgency::kNormal);
    Come("second", Urgency::kNormal);
    clock_.Advance(absl::Seconds(1));
    Come("urgent", Urgency::kUrgent);
  });
  for (std::thread& caller : callers_) caller.join();
  EXPECT_THAT(ran_, ElementsAre("first", "urgent", "second"));
}

TEST_F(GroupCommitTest, WaitsALittleWhereManyCome) {
  Run([&] { Come("first", Urgency::kNormal); });
  callers_.clear();
  ran_.clear();
  ran_on_.clear();
  // Two came: so the next waits for another, whenever that comes.
  const auto commit = [this] {
    EXPECT_OK(writer_->Commit([this](WriteBatch&) {
      ran_on_.push_back(std::this_thread::get_id());
      return absl::OkStatus();
    }));
  };
  std::thread one(commit);
  std::thread other(commit);
  one.join();
  other.join();
  ASSERT_EQ(ran_on_.size(), 2u);
  EXPECT_EQ(ran_on_[0], ran_on_[1]);
}

TEST_F(GroupCommitTest, OneThatFailsSpoilsNoOther) {
  std::atomic<int> failed = 0;
  for (int t = 0; t < 16; ++t) {
    callers_.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if (!Insert(i == 7 ? 0 : t * 100 + i + 1).ok()) ++failed;
      }
    });
  }
  for (std::thread& caller : callers_) caller.join();
  EXPECT_EQ(failed, 16);
  EXPECT_EQ(CountRows(), 1 + 16 * 19);
}

}  // namespace
}  // namespace bimbackup::catalog
