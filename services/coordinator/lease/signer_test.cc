#include "services/coordinator/lease/signer.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/bim360/fake_bim360_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::lease {
namespace {

using absl_testing::StatusIs;
using testing::Each;
using testing::Le;
using testing::SizeIs;

std::string Urn(int number, absl::string_view bucket = "wip.dm.prod") {
  return absl::StrCat("urn:adsk.objects:os.object:", bucket, "/", number);
}

bim360::SignedDownload DownloadOf(const std::string& urn) {
  bim360::SignedDownload download;
  download.ranges = {{0, -1, absl::StrCat("https://storage.invalid/", urn)}};
  return download;
}

// Signs everything, in batches where it is told to allow them.
class BatchClient : public bim360::FakeBim360Client {
 public:
  absl::StatusOr<bim360::SignedDownload> SignDownload(
      absl::string_view storage_urn, absl::Duration,
      const std::stop_token&) override {
    MutexLock lock(mutex_);
    AwaitTurn();
    const std::string urn(storage_urn.data(), storage_urn.size());
    ++single_calls_;
    if (missing_.count(urn) > 0) return absl::NotFoundError("HTTP 404");
    return DownloadOf(urn);
  }

  absl::StatusOr<std::vector<absl::StatusOr<bim360::SignedDownload>>>
  SignDownloads(const std::vector<std::string>& urns, absl::Duration,
                const std::stop_token&) override {
    MutexLock lock(mutex_);
    AwaitTurn();
    batches_.push_back(urns);
    if (!answer_.ok()) return answer_;
    std::vector<absl::StatusOr<bim360::SignedDownload>> downloads;
    for (const std::string& urn : urns) {
      if (missing_.count(urn) > 0) {
        downloads.push_back(absl::NotFoundError("error"));
      } else {
        downloads.push_back(DownloadOf(urn));
      }
    }
    return downloads;
  }

  // While set, every call waits, as for the limiter's turn.
  void HoldCalls(bool hold) {
    MutexLock lock(mutex_);
    hold_ = hold;
    changed_.NotifyAll();
  }
  // Returns once so many calls wait.
  void AwaitHeld(int calls) {
    MutexLock lock(mutex_);
    while (held_ < calls) changed_.Wait(mutex_);
  }
  void SetBatchAnswer(absl::Status status) {
    MutexLock lock(mutex_);
    answer_ = std::move(status);
  }
  void SetMissing(std::string urn) {
    MutexLock lock(mutex_);
    missing_.insert(std::move(urn));
  }
  std::vector<std::vector<std::string>> batches() const {
    MutexLock lock(mutex_);
    return batches_;
  }
  int single_calls() const {
    MutexLock lock(mutex_);
    return single_calls_;
  }

 private:
  void AwaitTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++held_;
    changed_.NotifyAll();
    while (hold_) changed_.Wait(mutex_);
    --held_;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  bool hold_ ABSL_GUARDED_BY(mutex_) = false;
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status answer_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> missing_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<std::string>> batches_ ABSL_GUARDED_BY(mutex_);
  int single_calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

class SignerTest : public testing::Test {
 protected:
  // One thread, so that the batches are known.
  explicit SignerTest(int max_threads = 1)
      : signer_(client_, hosts_, max_threads, done_) {}

  // Signs transfers first..last; waits for all of them.
  void SignAll(int first, int last, absl::string_view bucket = "wip.dm.prod") {
    std::vector<SigningJob> jobs;
    for (int i = first; i <= last; ++i) jobs.push_back({i, Urn(i, bucket)});
    const size_t wanted = Ended() + jobs.size();
    signer_.Submit(std::move(jobs));
    AwaitEnded(wanted);
  }

  void AwaitEnded(size_t jobs) {
    MutexLock lock(mutex_);
    while (ended_.size() < jobs) changed_.Wait(mutex_);
  }

  size_t Ended() {
    MutexLock lock(mutex_);
    return ended_.size();
  }
  absl::Status StatusOf(int64_t id) {
    MutexLock lock(mutex_);
    return ended_.at(id);
  }

  Mutex mutex_;
  CondVar changed_;
  std::map<int64_t, absl::Status> ended_ ABSL_GUARDED_BY(mutex_);
  BatchClient client_;
  http::HostPolicy hosts_ = *http::HostPolicy::Parse("storage.invalid");
  const Signer::Done done_ =
      [this](int64_t id, absl::StatusOr<bim360::SignedDownload> download) {
        MutexLock lock(mutex_);
        ended_[id] = download.status();
        changed_.NotifyAll();
      };
  Signer signer_;
};

TEST_F(SignerTest, SignsInBatchesWhereThatIsAllowed) {
  SignAll(1, 60);
  EXPECT_THAT(client_.batches(), SizeIs(3));
  EXPECT_THAT(client_.batches(), Each(SizeIs(Le(25))));
  EXPECT_EQ(client_.single_calls(), 0);
  EXPECT_EQ(signer_.signed_by_a_call(), 25);
  EXPECT_EQ(signer_.max_jobs(), 25);
}

TEST_F(SignerTest, NeverTriesAgainInTheRunWhereItWasRefused) {
  client_.SetBatchAnswer(absl::PermissionDeniedError("HTTP 403"));
  SignAll(1, 30);
  SignAll(31, 60);
  EXPECT_THAT(client_.batches(), SizeIs(1));
  EXPECT_EQ(client_.single_calls(), 60);
  EXPECT_EQ(signer_.signed_by_a_call(), 1);
  signer_.ForgetRefusals();
  SignAll(61, 70);
  EXPECT_THAT(client_.batches(), SizeIs(2));
  EXPECT_EQ(client_.single_calls(), 70);
}

TEST_F(SignerTest, KnowsBucketsApart) {
  std::vector<SigningJob> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs.push_back({i, Urn(i, i % 2 == 0 ? "even" : "odd.bucket")});
  }
  signer_.Submit(std::move(jobs));
  AwaitEnded(10);
  ASSERT_THAT(client_.batches(), SizeIs(2));
  EXPECT_THAT(client_.batches(), Each(SizeIs(5)));
}

TEST_F(SignerTest, WhatABatchCannotSignHasACallOfItsOwn) {
  client_.SetMissing(Urn(3));
  SignAll(1, 10);
  EXPECT_THAT(client_.batches(), SizeIs(1));
  EXPECT_EQ(client_.single_calls(), 1);
  EXPECT_THAT(StatusOf(3), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_OK(StatusOf(4));
}

TEST_F(SignerTest, ABatchThatFailsForAMomentSaysNothingOfTheBucket) {
  client_.SetBatchAnswer(absl::UnavailableError("HTTP 503"));
  SignAll(1, 5);
  EXPECT_EQ(client_.single_calls(), 5);
  client_.SetBatchAnswer(absl::OkStatus());
  SignAll(6, 10);
  EXPECT_EQ(client_.single_calls(), 5);
  EXPECT_EQ(signer_.signed_by_a_call(), 25);
}

TEST_F(SignerTest, TriesABatchThatFailedOtherwiseThreeTimesInARow) {
  client_.SetBatchAnswer(absl::DataLossError("no results"));
  SignAll(1, 5);
  SignAll(6, 10);
  client_.SetBatchAnswer(absl::OkStatus());
  SignAll(11, 15);
  EXPECT_THAT(client_.batches(), SizeIs(3));
  EXPECT_EQ(client_.single_calls(), 10);
  client_.SetBatchAnswer(absl::UnavailableError("HTTP 500"));
  for (int first = 16; first < 36; first += 5) SignAll(first, first + 4);
  EXPECT_THAT(client_.batches(), SizeIs(6));
  EXPECT_EQ(client_.single_calls(), 30);
  EXPECT_EQ(signer_.signed_by_a_call(), 1);
}

TEST_F(SignerTest, ALoneObjectNeedsNoBatch) {
  SignAll(1, 1);
  EXPECT_THAT(client_.batches(), SizeIs(0));
  EXPECT_EQ(client_.single_calls(), 1);
}

// With as many threads as the coordinator's, and batches allowed already.
class WideSignerTest : public SignerTest {
 protected:
  WideSignerTest() : SignerTest(/*max_threads=*/64) {
    SignAll(1, 2);
    client_.HoldCalls(true);
  }

  // Submits transfers first..last one by one.
  void Trickle(int first, int last) {
    for (int i = first; i <= last; ++i) signer_.Submit({{i, Urn(i)}});
  }
};

TEST_F(WideSignerTest, FillsBatchesWhileCallsWaitForTheirTurn) {
  Trickle(3, 3);
  client_.AwaitHeld(1);
  Trickle(4, 413);
  client_.AwaitHeld(1 + 16);
  client_.HoldCalls(false);
  AwaitEnded(413);
  EXPECT_EQ(client_.single_calls(), 1);
  // The first two, 16 full ones, and what was left.
  EXPECT_THAT(client_.batches(), SizeIs(1 + 16 + 1));
}

TEST_F(WideSignerTest, HoldsNothingBackOnceBatchesAreRefused) {
  Trickle(3, 3);
  client_.AwaitHeld(1);
  Trickle(4, 28);
  client_.AwaitHeld(2);
  Trickle(29, 33);
  client_.SetBatchAnswer(absl::PermissionDeniedError("HTTP 403"));
  client_.HoldCalls(false);
  AwaitEnded(33);
  EXPECT_THAT(client_.batches(), SizeIs(2));
  EXPECT_EQ(client_.single_calls(), 1 + 25 + 5);
}

}  // namespace
}  // namespace bimbackup::lease
