#include "services/download_worker/engine/digest_frontier.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"
#include "services/download_worker/engine/fake_origin.h"

namespace bimbackup::engine {
namespace {

// A blob in memory; only what the frontier uses.
class MemoryWriter : public storage::BlobWriter {
 public:
  explicit MemoryWriter(std::string bytes) : bytes_(std::move(bytes)) {}

  absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                size_t size) override {
    if (offset >= static_cast<int64_t>(bytes_.size())) return 0;
    return bytes_.copy(buffer, size, offset);
  }

  const std::vector<storage::ByteRange>& recovered() const override {
    return recovered_;
  }
  absl::Status SetIdentity(const storage::ContentIdentity&) override {
    return absl::OkStatus();
  }
  absl::Status WriteAt(int64_t, absl::string_view) override {
    return absl::OkStatus();
  }
  absl::Status RecordRange(storage::ByteRange) override {
    return absl::OkStatus();
  }
  void Commit(absl::string_view, int64_t,
              std::function<void(absl::Status)>) override {}
  absl::Status Discard() override { return absl::OkStatus(); }

 private:
  const std::string bytes_;
  const std::vector<storage::ByteRange> recovered_;
};

constexpr int64_t kMiB = 1 << 20;

// Catches up until nothing waits.
void CatchUp(DigestFrontier& frontier, storage::BlobWriter& writer) {
  for (bool more = true; more;) {
    const absl::StatusOr<bool> result = frontier.CatchUp(writer, kMiB);
    ASSERT_OK(result);
    more = *result;
  }
}

TEST(DigestFrontierTest, DigestsWhatComesInOrder) {
  const std::string bytes = AperiodicBytes(1000, 1);
  MemoryWriter writer(bytes);
  DigestFrontier frontier(/*with_sha1=*/false);
  frontier.AddWritten({0, 400});
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.position(), 400);
  frontier.AddWritten({400, 1000});
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.position(), 1000);
  const DigestFrontier::Digests digests = frontier.Finish();
  EXPECT_EQ(digests.sha256, Sha256Hex(bytes));
  EXPECT_EQ(digests.sha1, "");
}

TEST(DigestFrontierTest, DigestsWhatCameAheadOnceItIsReached) {
  const std::string bytes = AperiodicBytes(1000, 2);
  MemoryWriter writer(bytes);
  DigestFrontier frontier(/*with_sha1=*/true);
  frontier.AddWritten({500, 1000});
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.position(), 0);
  frontier.AddWritten({0, 500});
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.position(), 1000);
  const DigestFrontier::Digests digests = frontier.Finish();
  EXPECT_EQ(digests.sha256, Sha256Hex(bytes));
  Digest sha1(DigestKind::kSha1);
  sha1.Update(bytes);
  EXPECT_EQ(digests.sha1, sha1.FinishHex());
}

TEST(DigestFrontierTest, AsksForACatchUpOnceMuchWaitsInOrder) {
  DigestFrontier frontier(/*with_sha1=*/false);
  EXPECT_FALSE(frontier.AddWritten({kMiB, 2 * kMiB}));
  EXPECT_FALSE(frontier.AddWritten({0, 1000}));
  EXPECT_TRUE(frontier.AddWritten({1000, kMiB}));
}

TEST(DigestFrontierTest, AsksForOneCatchUpAtATime) {
  MemoryWriter writer(AperiodicBytes(3 * kMiB, 3));
  DigestFrontier frontier(/*with_sha1=*/false);
  EXPECT_TRUE(frontier.AddWritten({0, kMiB}));
  EXPECT_FALSE(frontier.AddWritten({kMiB, 2 * kMiB}));
  CatchUp(frontier, writer);
  EXPECT_TRUE(frontier.AddWritten({2 * kMiB, 3 * kMiB}));
}

TEST(DigestFrontierTest, SaysThatMoreWaitsBeyondItsLimit) {
  const std::string bytes = AperiodicBytes(3 * kMiB, 4);
  MemoryWriter writer(bytes);
  DigestFrontier frontier(/*with_sha1=*/false);
  frontier.AddWritten({0, 3 * kMiB});
  EXPECT_THAT(frontier.CatchUp(writer, kMiB), absl_testing::IsOkAndHolds(true));
  EXPECT_LT(frontier.position(), 3 * kMiB);
  // Whoever was told goes on; nobody else is asked.
  EXPECT_FALSE(frontier.AddWritten({0, 3 * kMiB}));
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.Finish().sha256, Sha256Hex(bytes));
}

TEST(DigestFrontierTest, ReadsBackMoreThanWasThereWhenItBegan) {
  const std::string bytes = AperiodicBytes(300'000, 6);
  DigestFrontier frontier(/*with_sha1=*/true);
  // Tells of all other bytes while the first ten are read.
  class GrowingWriter : public MemoryWriter {
   public:
    GrowingWriter(const std::string& bytes, DigestFrontier& frontier)
        : MemoryWriter(bytes), frontier_(frontier) {}
    absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                  size_t size) override {
      frontier_.AddWritten({10, 300'000});
      return MemoryWriter::ReadAt(offset, buffer, size);
    }

   private:
    DigestFrontier& frontier_;
  };
  GrowingWriter writer(bytes, frontier);
  frontier.AddWritten({0, 10});
  EXPECT_THAT(frontier.CatchUp(writer, kMiB),
              absl_testing::IsOkAndHolds(false));
  EXPECT_EQ(frontier.position(), 300'000);
  EXPECT_EQ(frontier.Finish().sha256, Sha256Hex(bytes));
}

TEST(DigestFrontierTest, FailsWhenBytesCannotBeReadBack) {
  MemoryWriter writer("");
  DigestFrontier frontier(/*with_sha1=*/false);
  frontier.AddWritten({0, 10});
  EXPECT_THAT(frontier.CatchUp(writer, 100),
              absl_testing::StatusIs(absl::StatusCode::kDataLoss));
}

TEST(DigestFrontierTest, AgreesWhateverTheOrderAndTheThreads) {
  constexpr int kPieces = 64;
  constexpr int64_t kPiece = 4096;
  const std::string bytes = AperiodicBytes(kPieces * kPiece, 5);
  MemoryWriter writer(bytes);
  DigestFrontier frontier(/*with_sha1=*/true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<int> order(kPieces / 4);
      std::iota(order.begin(), order.end(), t * kPieces / 4);
      if (t % 2 == 1) std::reverse(order.begin(), order.end());
      for (const int i : order) {
        frontier.AddWritten({i * kPiece, (i + 1) * kPiece});
      }
    });
  }
  for (std::thread& thread : threads) {
    CatchUp(frontier, writer);
    thread.join();
  }
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.position(), kPieces * kPiece);
  EXPECT_EQ(frontier.Finish().sha256, Sha256Hex(bytes));
}

TEST(DigestFrontierTest, WithoutDigestsReadsNothingBack) {
  MemoryWriter writer("");
  DigestFrontier frontier(/*with_sha1=*/false, /*with_sha256=*/false);
  EXPECT_FALSE(frontier.AddWritten({500, kMiB}));
  EXPECT_FALSE(frontier.AddWritten({0, 500}));
  CatchUp(frontier, writer);
  EXPECT_EQ(frontier.position(), kMiB);
  EXPECT_EQ(frontier.Finish().sha256, "");
}

}  // namespace
}  // namespace bimbackup::engine
