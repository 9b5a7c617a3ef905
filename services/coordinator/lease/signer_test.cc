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
    const std::string urn(storage_urn.data(), storage_urn.size());
    ++single_calls_;
    if (missing_.count(urn) > 0) return absl::NotFoundError("HTTP 404");
    return DownloadOf(urn);
  }

  absl::StatusOr<std::vector<absl::StatusOr<bim360::SignedDownload>>>
  SignDownloads(const std::vector<std::string>& urns, absl::Duration,
                const std::stop_token&) override {
    MutexLock lock(mutex_);
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
  mutable Mutex mutex_;
  absl::Status answer_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> missing_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<std::string>> batches_ ABSL_GUARDED_BY(mutex_);
  int single_calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

class SignerTest : public testing::Test {
 protected:
  // Signs transfers first..last, with one thread so that the batches are
  // known; waits for all of them.
  void SignAll(int first, int last, absl::string_view bucket = "wip.dm.prod") {
    std::vector<SigningJob> jobs;
    for (int i = first; i <= last; ++i) jobs.push_back({i, Urn(i, bucket)});
    const size_t before = Ended();
    const size_t count = jobs.size();
    signer_.Submit(std::move(jobs));
    MutexLock lock(mutex_);
    while (ended_.size() < before + count) changed_.Wait(mutex_);
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
  Signer signer_{
      client_, hosts_, /*max_threads=*/1,
      [this](int64_t id, absl::StatusOr<bim360::SignedDownload> download) {
        MutexLock lock(mutex_);
        ended_[id] = download.status();
        changed_.NotifyAll();
      }};
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
  {
    MutexLock lock(mutex_);
    while (ended_.size() < 10) changed_.Wait(mutex_);
  }
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

TEST_F(SignerTest, ALoneObjectNeedsNoBatch) {
  SignAll(1, 1);
  EXPECT_THAT(client_.batches(), SizeIs(0));
  EXPECT_EQ(client_.single_calls(), 1);
}

}  // namespace
}  // namespace bimbackup::lease
