#include "services/download_worker/lease/lease_book.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::worker_lease {
namespace {

using testing::ElementsAre;

const absl::Duration kNow = absl::Seconds(100);

engine::TransferReport Stored() {
  engine::TransferReport report;
  report.outcome = engine::Outcome::kStored;
  return report;
}

TEST(LeaseBookTest, HoldsALeaseUntilItsResultIsAcknowledged) {
  LeaseBook book;
  EXPECT_TRUE(book.Add({1, 5}));
  EXPECT_FALSE(book.Add({1, 5}));
  EXPECT_EQ(book.unfinished(), 1);
  book.Finish({1, 5}, Stored(), kNow);
  EXPECT_EQ(book.unfinished(), 0);
  EXPECT_EQ(book.held(), 1);
  EXPECT_EQ(book.first_result_at(), kNow);
  book.Acknowledge(1);
  EXPECT_EQ(book.held(), 0);
  EXPECT_EQ(book.results(), 0);
  EXPECT_FALSE(book.first_result_at().has_value());
}

TEST(LeaseBookTest, NamesWhatNoResultOfThisCallTellsOf) {
  LeaseBook book;
  for (int64_t id = 1; id <= 40; ++id) book.Add({id, id});
  for (int64_t id = 1; id <= 35; ++id) {
    book.Finish({id, id}, Stored(), kNow + absl::Seconds(id));
  }
  const std::vector<FinishedLease> results = book.NextResults();
  ASSERT_EQ(results.size(), 32u);
  EXPECT_EQ(results.front().key.transfer_id, 1);
  EXPECT_EQ(results.back().key.transfer_id, 32);
  EXPECT_EQ(book.HeldBeside(results).size(), 8u);
}

TEST(LeaseBookTest, SaysNothingOfALostLease) {
  LeaseBook book;
  book.Add({1, 5});
  book.SetHandle({1, 5}, 77);
  EXPECT_THAT(book.LoseTransfer(1), ElementsAre(77));
  book.Finish({1, 5}, Stored(), kNow);
  EXPECT_EQ(book.results(), 0);
  EXPECT_EQ(book.held(), 0);
}

TEST(LeaseBookTest, ForgetsTheResultOfALeaseThatIsLostAfterwards) {
  LeaseBook book;
  book.Add({1, 5});
  book.Finish({1, 5}, Stored(), kNow);
  EXPECT_THAT(book.LoseTransfer(1), ElementsAre());
  EXPECT_EQ(book.results(), 0);
}

TEST(LeaseBookTest, TellsTheEpochsOfOneTransferApart) {
  LeaseBook book;
  book.Add({1, 5});
  book.Finish({1, 5}, Stored(), kNow);
  EXPECT_TRUE(book.Add({1, 6}));
  book.Acknowledge(1);
  EXPECT_FALSE(book.Holds({1, 5}));
  EXPECT_TRUE(book.Holds({1, 6}));
}

TEST(LeaseBookTest, DropsAResultThatIsNeverAcknowledged) {
  LeaseBook book;
  book.Add({1, 5});
  book.Finish({1, 5}, Stored(), kNow);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(book.CountUnanswered(book.NextResults()), 0);
  }
  EXPECT_EQ(book.CountUnanswered(book.NextResults()), 1);
  EXPECT_EQ(book.held(), 0);
}

}  // namespace
}  // namespace bimbackup::worker_lease
