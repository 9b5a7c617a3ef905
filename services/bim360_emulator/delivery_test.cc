// What faults, latencies and bandwidths do to answers on their way.

#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator_session.h"

namespace bimbackup::bim360_emulator {
namespace {

using Ending = ProbeResult::Ending;

EmulatorOptions Options() {
  EmulatorOptions options;
  options.account = "custom:folders=4,files=6,bytes=3MB,largest=600KB";
  options.limits = false;
  return options;
}

class DeliveryTest : public testing::Test {
 protected:
  void Spoil(FaultType type, int64_t bytes = -1) {
    session_.emulator().faults().Clear();
    FaultAction action;
    action.type = type;
    action.bytes = bytes;
    session_.AddFault(Endpoint::kStorage, action);
  }
  ProbeResult Fetch() {
    HttpProbe probe(session_.emulator().base_url(), timeout_);
    return probe.Get(url_);
  }

  absl::Duration timeout_ = absl::Seconds(20);
  EmulatorSession session_{Options()};
  const std::string url_ = session_.SignedUrl();
  const std::string bytes_ = session_.FirstBytes();
};

TEST_F(DeliveryTest, AStallSendsNothingMore) {
  timeout_ = absl::Milliseconds(200);
  Spoil(FaultType::kStall);
  EXPECT_EQ(Fetch().ending, Ending::kTimeout);
  EXPECT_EQ(Fetch().status, 0);
  Spoil(FaultType::kStall, 1000);
  const ProbeResult half = Fetch();
  EXPECT_EQ(half.ending, Ending::kTimeout);
  EXPECT_EQ(half.status, 200);
  EXPECT_EQ(half.body, bytes_.substr(0, 1000));
}

TEST_F(DeliveryTest, AResetCutsTheConnection) {
  Spoil(FaultType::kReset);
  EXPECT_EQ(Fetch().ending, Ending::kReset);
  Spoil(FaultType::kReset, 1000);
  const ProbeResult half = Fetch();
  EXPECT_EQ(half.ending, Ending::kReset);
  EXPECT_LE(half.body.size(), 1000);
}

TEST_F(DeliveryTest, AShortBodyEndsBeforeItsLength) {
  Spoil(FaultType::kShort, 1000);
  const ProbeResult half = Fetch();
  EXPECT_EQ(half.ending, Ending::kClosed);
  EXPECT_EQ(half.Header("Content-Length"), absl::StrCat(bytes_.size()));
  EXPECT_EQ(half.body, bytes_.substr(0, 1000));
}

TEST_F(DeliveryTest, ATruncatedBodyLooksWhole) {
  Spoil(FaultType::kTruncate, 1000);
  const ProbeResult half = Fetch();
  EXPECT_EQ(half.ending, Ending::kComplete);
  EXPECT_EQ(half.body, bytes_.substr(0, 1000));
}

TEST_F(DeliveryTest, ACorruptBodyHasOneOtherByte) {
  Spoil(FaultType::kCorrupt, 200'000);
  const ProbeResult corrupt = Fetch();
  EXPECT_EQ(corrupt.ending, Ending::kComplete);
  std::string expected = bytes_;
  expected[200'000] ^= 0x55;
  EXPECT_EQ(corrupt.body, expected);
}

TEST_F(DeliveryTest, ADripTakesItsTime) {
  Spoil(FaultType::kDrip, 5000);
  timeout_ = absl::Milliseconds(400);
  const ProbeResult drip = Fetch();
  EXPECT_EQ(drip.ending, Ending::kTimeout);
  EXPECT_GT(drip.body.size(), 0);
  EXPECT_LE(drip.body.size(), 2100);
}

TEST_F(DeliveryTest, ChunkedCodingHasNoLength) {
  Spoil(FaultType::kTransferChunked);
  const ProbeResult coded = Fetch();
  EXPECT_EQ(coded.Header("Content-Length"), "");
  EXPECT_EQ(coded.body, bytes_);
}

TEST_F(DeliveryTest, StatusRedirectAndExpiry) {
  FaultAction slow_down;
  slow_down.status = 503;
  slow_down.retry_after = "7";
  session_.AddFault(Endpoint::kStorage, slow_down);
  const ProbeResult refused = Fetch();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.Header("Retry-After"), "7");
  EXPECT_TRUE(absl::StrContains(refused.body, "SlowDown"));
  session_.emulator().faults().Clear();
  FaultAction redirect;
  redirect.type = FaultType::kRedirect;
  redirect.location = "http://elsewhere.example.com/";
  session_.AddFault(Endpoint::kStorage, redirect);
  EXPECT_EQ(Fetch().Header("Location"), "http://elsewhere.example.com/");
  Spoil(FaultType::kExpired);
  EXPECT_EQ(Fetch().status, 403);
  FaultAction date;
  date.status = 429;
  date.retry_after = "date:5";
  session_.AddFault(Endpoint::kHubs, date);
  EXPECT_TRUE(absl::EndsWith(
      session_.Get("/project/v1/hubs").Header("Retry-After"), " GMT"));
}

TEST_F(DeliveryTest, ExpiredSignaturesAreGivenOut) {
  FaultAction expired;
  expired.type = FaultType::kExpired;
  session_.AddFault(Endpoint::kSign, expired);
  EXPECT_EQ(session_.probe().Get(session_.SignedUrl()).status, 403);
}

TEST_F(DeliveryTest, OtherConnectionsGoOnDuringAStall) {
  FaultMatch once;
  once.count = 2;
  FaultAction stall;
  stall.type = FaultType::kStall;
  session_.AddFault(Endpoint::kStorage, stall, once);
  timeout_ = absl::Milliseconds(100);
  EXPECT_EQ(Fetch().ending, Ending::kTimeout);
  EXPECT_EQ(Fetch().ending, Ending::kTimeout);
  timeout_ = absl::Seconds(20);
  EXPECT_EQ(Fetch().body, bytes_);
}

class ListingFaultTest : public DeliveryTest {
 protected:
  Json List(FaultType type, int64_t bytes = -1,
            std::vector<std::string> keys = {}) {
    FaultAction action;
    action.type = type;
    action.bytes = bytes;
    action.keys = std::move(keys);
    session_.emulator().faults().Clear();
    session_.AddFault(Endpoint::kContents, action);
    return Json(session_.Get(Path()).body);
  }
  std::string Path() { return session_.TopFolderPath() + "/contents"; }

  void SetUp() override {
    const ProjectView project = session_.emulator().account().ListProjects()[0];
    ASSERT_TRUE(
        session_.emulator()
            .account()
            .CreateFile({project.name, {"Project Files", "x.pdf"}}, FileSpec())
            .ok());
  }
};

TEST_F(ListingFaultTest, MalformedJsonIsCut) {
  EXPECT_FALSE(List(FaultType::kMalformedJson).valid());
}

TEST_F(ListingFaultTest, NextLeadsAstray) {
  EXPECT_TRUE(
      absl::EndsWith(List(FaultType::kNextLoop).Text("/links/next/href"),
                     Path() + "?page%5Bnumber%5D=0"));
  EXPECT_TRUE(
      absl::StartsWith(List(FaultType::kNextForeign).Text("/links/next/href"),
                       "http://foreign.example.com/"));
  EXPECT_TRUE(absl::StartsWith(
      List(FaultType::kNextRelative).Text("/links/self/href"), "/data/v1/"));
}

TEST_F(ListingFaultTest, AFolderHoldsItself) {
  const Json listed = List(FaultType::kCycle);
  EXPECT_TRUE(absl::EndsWith(session_.TopFolderPath(),
                             UrlEncode(listed.Text("/data/0/id"))));
}

TEST_F(ListingFaultTest, MembersAreLeftOut) {
  EXPECT_TRUE(List(FaultType::kFractionDigits, 7)
                  .Has("/included/0/relationships/storage"));
  EXPECT_FALSE(List(FaultType::kOmit, -1, {"storage"})
                   .Has("/included/0/relationships/storage"));
  EXPECT_FALSE(List(FaultType::kOmit, -1, {"included"}).Has("/included"));
  EXPECT_FALSE(List(FaultType::kOmit, -1, {"storageSize"})
                   .Has("/included/0/attributes/storageSize"));
}

TEST_F(ListingFaultTest, FractionsHaveAsManyDigitsAsAsked) {
  const auto time = [&](int64_t digits) {
    return List(FaultType::kFractionDigits, digits)
        .Text("/included/0/attributes/lastModifiedTime");
  };
  EXPECT_EQ(time(7).size(), std::string("2026-01-01T00:00:00.0000000Z").size());
  EXPECT_EQ(time(0).size(), std::string("2026-01-01T00:00:00Z").size());
}

TEST_F(ListingFaultTest, SizesAreBeyondAllBounds) {
  FaultAction action;
  action.type = FaultType::kHugeSize;
  session_.AddFault(Endpoint::kContents, action);
  EXPECT_TRUE(absl::StrContains(session_.Get(Path()).body,
                                R"("storageSize":9223372036854775808)"));
}

TEST_F(ListingFaultTest, HubsWarnOrAreEmpty) {
  FaultAction warn;
  warn.type = FaultType::kWarnings;
  session_.AddFault(Endpoint::kHubs, warn);
  const Json warned(session_.Get("/project/v1/hubs").body);
  EXPECT_EQ(warned.Text("/meta/warnings/0/HttpStatusCode"), "403");
  session_.emulator().faults().Clear();
  FaultAction empty;
  empty.type = FaultType::kEmpty;
  session_.AddFault(Endpoint::kHubs, empty);
  EXPECT_EQ(Json(session_.Get("/project/v1/hubs").body).Size("/data"), 0);
}

TEST(ShapingTest, LatenciesAreKept) {
  EmulatorOptions options = Options();
  options.api_latency = absl::Milliseconds(100);
  options.first_byte_latency = absl::Milliseconds(60);
  options.time_scale = 2;
  EmulatorSession session(options);
  const ProbeResult listed = session.Get("/project/v1/hubs");
  EXPECT_GE(listed.first_byte, absl::Milliseconds(50));
  EXPECT_LT(listed.first_byte, absl::Milliseconds(1000));
  const ProbeResult fetched = session.probe().Get(session.SignedUrl());
  EXPECT_GE(fetched.first_byte, absl::Milliseconds(30));
  EXPECT_LT(fetched.first_byte, absl::Milliseconds(1000));
}

TEST(ShapingTest, BandwidthHoldsPerConnection) {
  EmulatorOptions options = Options();
  options.account = "custom:folders=2,files=1,bytes=1MB";
  options.connection_bandwidth = 5'000'000;
  EmulatorSession session(options);
  const std::string url = session.SignedUrl();
  std::vector<absl::Duration> times(3);
  std::vector<std::thread> threads;
  for (absl::Duration& time : times) {
    threads.emplace_back([&session, &url, &time] {
      HttpProbe probe(session.emulator().base_url());
      const ProbeResult result = probe.Get(url);
      EXPECT_EQ(result.body.size(), 1'000'000);
      time = result.total;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Duration time : times) {
    // 200 ms exactly; the upper bound leaves room for a busy machine.
    EXPECT_GE(time, absl::Milliseconds(196));
    EXPECT_LT(time, absl::Milliseconds(1000));
  }
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
