#include "services/download_worker/lease/lease_loop.h"

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/download_worker/engine/engine_fixture.h"

namespace bimbackup::worker_lease {
namespace {

using absl_testing::StatusIs;
using engine::Outcome;

// Keeps each call until the test answers it. Thread-safe.
class FakePool : public WorkerPool {
 public:
  using Done = std::function<void(absl::StatusOr<SyncResponse>)>;

  void Synchronize(const SyncRequest& request, absl::Duration,
                   Done done) override {
    MutexLock lock(mutex_);
    requests_.push_back(request);
    done_ = std::move(done);
    changed_.NotifyAll();
  }

  void Cancel() override {
    Done done;
    {
      MutexLock lock(mutex_);
      done = std::move(done_);
      done_ = nullptr;
      if (done != nullptr) ++cancelled_;
    }
    if (done != nullptr) done(absl::CancelledError("cancelled"));
  }

  // Waits for a call that `wanted` accepts; answers others with nothing.
  SyncRequest Await(const std::function<bool(const SyncRequest&)>& wanted) {
    const absl::Duration deadline = clock_.Monotonic() + absl::Seconds(30);
    for (;;) {
      {
        MutexLock lock(mutex_);
        while (done_ == nullptr) {
          if (!clock_.WaitUntil(mutex_, changed_, deadline)) {
            ADD_FAILURE() << "the call did not come";
            return {};
          }
        }
        if (wanted(requests_.back())) return requests_.back();
      }
      // Held ones stay held, as a coordinator would.
      if (!IsHeld()) Answer(SyncResponse());
      clock_.Sleep(absl::Milliseconds(1));
    }
  }
  SyncRequest AwaitAny() {
    return Await([](const SyncRequest&) { return true; });
  }

  void Answer(absl::StatusOr<SyncResponse> response) {
    Done done;
    {
      MutexLock lock(mutex_);
      done = std::move(done_);
      done_ = nullptr;
    }
    if (done != nullptr) done(std::move(response));
  }

  bool IsHeld() {
    MutexLock lock(mutex_);
    return done_ != nullptr && requests_.back().may_hold;
  }

  int cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

 private:
  SystemClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<SyncRequest> requests_ ABSL_GUARDED_BY(mutex_);
  Done done_ ABSL_GUARDED_BY(mutex_);
  int cancelled_ ABSL_GUARDED_BY(mutex_) = 0;
};

SyncResponse Acknowledging(const SyncRequest& request) {
  SyncResponse response;
  for (const FinishedLease& result : request.results) {
    response.acknowledged.push_back(result.key.transfer_id);
  }
  return response;
}

bool HasResults(const SyncRequest& request) { return !request.results.empty(); }
bool MayBeHeld(const SyncRequest& request) { return request.may_hold; }

class LeaseLoopTest : public engine::EngineFixture {
 protected:
  ~LeaseLoopTest() override {
    if (loop_ != nullptr) loop_->Stop();
    engine_.reset();
  }

  void StartLoop() {
    StartEngine();
    options_.reconnect.maximum = absl::Milliseconds(5);
    options_.reconnect.initial = absl::Milliseconds(1);
    loop_ =
        std::make_unique<LeaseLoop>(clock_, random_, pool_, *engine_, options_);
    loop_->Start();
  }

  SyncResponse Granting(const std::vector<int64_t>& ids) {
    SyncResponse response;
    for (const int64_t id : ids) {
      response.granted.push_back(Put(id, absl::StrCat("file", id), "content"));
      response.granted.back().epoch = 100 + id;
    }
    return response;
  }

  // Requests for these objects never end by themselves.
  void Hang(absl::string_view name) {
    http::FakeTransport::Answer answer;
    answer.hang = true;
    origin_.transport().AddRule(
        [name = std::string(name)](const http::Request& request) {
          return request.url.find(name) != std::string::npos;
        },
        answer);
  }

  LeaseOptions options_;
  FakePool pool_;
  std::unique_ptr<LeaseLoop> loop_;
};

TEST_F(LeaseLoopTest, SaysHelloWithoutBeingHeldAndAsksForWork) {
  StartLoop();
  const SyncRequest hello = pool_.AwaitAny();
  EXPECT_FALSE(hello.may_hold);
  EXPECT_EQ(hello.free_slots, 5);
  pool_.Answer(SyncResponse());
  EXPECT_TRUE(pool_.AwaitAny().may_hold);
  EXPECT_TRUE(loop_->connection().connected);
}

TEST_F(LeaseLoopTest, EndsAHeldCallToTellAResult) {
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1}));
  const SyncRequest call = pool_.Await(HasResults);
  ASSERT_EQ(call.results.size(), 1u);
  EXPECT_EQ(call.results[0].key, (LeaseKey{1, 101}));
  EXPECT_EQ(call.results[0].report.outcome, Outcome::kStored);
  EXPECT_TRUE(call.held.empty());
  EXPECT_FALSE(call.may_hold);
}

TEST_F(LeaseLoopTest, TellsAResultAgainUntilItIsAcknowledged) {
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1}));
  pool_.Await(HasResults);
  pool_.Answer(absl::UnavailableError("restarting"));
  const SyncRequest again = pool_.Await(HasResults);
  EXPECT_EQ(again.results.size(), 1u);
  pool_.Answer(Acknowledging(again));
  EXPECT_TRUE(pool_.Await(MayBeHeld).held.empty());
}

TEST_F(LeaseLoopTest, NamesWhatItHolds) {
  Hang("file1");
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1}));
  const SyncRequest call = pool_.Await(MayBeHeld);
  ASSERT_EQ(call.held.size(), 1u);
  EXPECT_EQ(call.held[0].key, (LeaseKey{1, 101}));
  EXPECT_EQ(call.free_slots, 4);
}

TEST_F(LeaseLoopTest, TakesAGrantThatComesTwiceOnce) {
  Hang("file1");
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1}));
  pool_.Await(MayBeHeld);
  pool_.Answer(Granting({1}));
  EXPECT_EQ(pool_.Await(MayBeHeld).held.size(), 1u);
  EXPECT_EQ(engine_->held(), 1);
}

TEST_F(LeaseLoopTest, StopsWhatIsRevoked) {
  Hang("file1");
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1}));
  pool_.Await(MayBeHeld);
  SyncResponse response;
  response.revoked = {1};
  pool_.Answer(response);
  EXPECT_TRUE(pool_.Await(MayBeHeld).held.empty());
  EXPECT_TRUE(Eventually([&] { return engine_->held() == 0; }));
}

TEST_F(LeaseLoopTest, GivesUpUnstartedWorkWhenItsLeasesAreOver) {
  Hang("file");
  StartLoop();
  pool_.AwaitAny();
  SyncResponse granting = Granting({1, 2, 3, 4, 5, 6});
  granting.lease_life = absl::Milliseconds(1);
  pool_.Answer(granting);
  pool_.Await(MayBeHeld);
  while (pool_.AwaitAny().held.size() > 4) {
    pool_.Answer(absl::UnavailableError("gone"));
  }
  EXPECT_FALSE(loop_->connection().connected);
  EXPECT_EQ(loop_->connection().error, "gone");
}

TEST_F(LeaseLoopTest, EndsWhenItIsRefused) {
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(absl::FailedPreconditionError("another storage"));
  const auto ended = loop_->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.has_value());
  EXPECT_THAT(*ended, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(LeaseLoopTest, DrainGivesBackWhatHasNotBeenStartedAndSaysFarewell) {
  Hang("file");
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1, 2, 3, 4, 5, 6}));
  pool_.Await(MayBeHeld);
  loop_->Drain(absl::Hours(1));
  SyncRequest call = pool_.Await(HasResults);
  EXPECT_TRUE(call.draining);
  EXPECT_EQ(call.free_slots, 0);
  std::set<int64_t> released;
  while (released.size() < 2) {
    for (const FinishedLease& result : call.results) {
      EXPECT_EQ(result.report.outcome, Outcome::kReleased);
      released.insert(result.key.transfer_id);
    }
    pool_.Answer(Acknowledging(call));
    if (released.size() < 2) call = pool_.Await(HasResults);
  }
  EXPECT_FALSE(loop_->Wait(absl::ZeroDuration()).has_value());
  // The grace is over at once now.
  loop_->Drain(absl::ZeroDuration());
  while (!loop_->Wait(absl::ZeroDuration()).has_value()) {
    call = pool_.Await([&](const SyncRequest&) { return true; });
    const bool farewell = call.held.empty();
    if (!call.may_hold) pool_.Answer(Acknowledging(call));
    if (farewell) break;
  }
  const auto ended = loop_->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.has_value());
  EXPECT_OK(*ended);
}

TEST_F(LeaseLoopTest, EndsADrainAtOnceWhereNobodyIsThereToBeTold) {
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(absl::UnavailableError("gone"));
  pool_.AwaitAny();
  loop_->Drain(absl::Hours(1));
  pool_.Answer(absl::UnavailableError("gone"));
  const auto ended = loop_->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.has_value());
  EXPECT_OK(*ended);
}

TEST_F(LeaseLoopTest, AsksForNothingWhileTheStorageIsFull) {
  faulty_.faults().SetFull();
  faulty_.faults().Fail(storage::StorageCall::kGetCapacity,
                        absl::UnavailableError("still full"));
  StartLoop();
  pool_.AwaitAny();
  pool_.Answer(Granting({1}));
  const SyncRequest call = pool_.Await([](const SyncRequest& request) {
    return !request.storage_problem.empty();
  });
  EXPECT_EQ(call.free_slots, 0);
}

}  // namespace
}  // namespace bimbackup::worker_lease
