#include "services/download_worker/rpc/conversion.h"

#include <string>

#include "gtest/gtest.h"

namespace bimbackup::worker_rpc {
namespace {

const absl::Duration kNow = absl::Seconds(1000);

TEST(ConversionTest, LeavesAMarginBeforeUrlsExpire) {
  v1::DownloadSource source;
  source.set_valid_seconds(3600);
  EXPECT_EQ(FromProto(source, kNow).valid_until, kNow + absl::Seconds(3590));
  source.set_valid_seconds(20);
  EXPECT_EQ(FromProto(source, kNow).valid_until, kNow + absl::Seconds(18));
}

TEST(ConversionTest, TakesOnlyAHexadecimalSha1) {
  v1::DownloadSource source;
  source.set_sha1(std::string(40, 'A'));
  EXPECT_EQ(FromProto(source, kNow).sha1, std::string(40, 'a'));
  source.set_sha1("TyLZ+pjYh+3t7hq5gn/Ol+tX8sY=");
  EXPECT_EQ(FromProto(source, kNow).sha1, "");
}

TEST(ConversionTest, KeepsAnUnknownSizeUnknown) {
  v1::GrantedLease lease;
  lease.set_epoch(3);
  lease.mutable_transfer()->set_transfer_id(7);
  lease.mutable_transfer()->mutable_source()->add_ranges()->set_last(-1);
  const engine::TransferTask task = FromProto(lease, kNow);
  EXPECT_EQ(task.transfer_id, 7);
  EXPECT_EQ(task.epoch, 3);
  EXPECT_FALSE(task.source.size.has_value());
  EXPECT_EQ(task.source.ranges.at(0).last, -1);
}

TEST(ConversionTest, KeepsItsOwnLeaseLifeWhereTheAnswerHasNone) {
  v1::SynchronizeResponse response;
  EXPECT_EQ(FromProto(response, kNow).lease_life, absl::Seconds(60));
  response.set_lease_seconds(5);
  EXPECT_EQ(FromProto(response, kNow).lease_life, absl::Seconds(5));
  response.set_lease_seconds(-1);
  EXPECT_EQ(FromProto(response, kNow).lease_life, absl::Seconds(60));
}

TEST(ConversionTest, CutsMessagesToWhatTheCoordinatorTakes) {
  worker_lease::FinishedLease finished;
  finished.report.message = std::string(1 << 20, 'x') + "\n\xff";
  EXPECT_LT(ToProto(finished).message().size(), 1100);
  worker_lease::SyncRequest request;
  request.storage_problem = std::string(1 << 20, 'x');
  v1::SynchronizeRequest proto;
  AddToProto(request, proto);
  EXPECT_LT(proto.storage_problem().size(), 1100);
}

TEST(ConversionTest, GivesDigestAndSizeOnlyOfWhatIsStored) {
  worker_lease::FinishedLease finished;
  finished.key = {7, 3};
  finished.report.sha256 = "digest";
  finished.report.size = 5;
  finished.report.outcome = engine::Outcome::kCorrupt;
  EXPECT_EQ(ToProto(finished).sha256(), "");
  EXPECT_EQ(ToProto(finished).outcome(), v1::TRANSFER_OUTCOME_CORRUPT);
  finished.report.outcome = engine::Outcome::kStored;
  EXPECT_EQ(ToProto(finished).sha256(), "digest");
  EXPECT_EQ(ToProto(finished).size(), 5);
  EXPECT_EQ(ToProto(finished).epoch(), 3);
}

}  // namespace
}  // namespace bimbackup::worker_rpc
