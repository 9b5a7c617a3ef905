// Faults that make an answer wrong in what it says, not in how it travels.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator_session.h"
#include "services/bim360_emulator/gzip.h"

namespace bimbackup::bim360_emulator {
namespace {

using Ending = ProbeResult::Ending;

class HostileAnswersTest : public testing::Test {
 protected:
  static EmulatorOptions Options() {
    EmulatorOptions options;
    options.account = "custom:folders=2,files=5,bytes=50000";
    options.limits = false;
    return options;
  }
  void Spoil(Endpoint endpoint, FaultType type, int64_t bytes = -1,
             const std::string& location = "") {
    session_.emulator().faults().Clear();
    FaultAction action;
    action.type = type;
    action.bytes = bytes;
    action.location = location;
    session_.AddFault(endpoint, action);
  }
  ProbeResult GetRange(HttpHeaders more = {}) {
    more.emplace_back("Range", "bytes=10-19");
    return session_.probe().Get(url_, more);
  }
  Json Contents() {
    return Json(session_.Get(session_.TopFolderPath() + "/contents").body);
  }

  EmulatorSession session_{Options()};
  const std::string url_ = session_.SignedUrl();
  const std::string bytes_ = session_.FirstBytes();
};

TEST_F(HostileAnswersTest, ARangeMayBeIgnored) {
  Spoil(Endpoint::kStorage, FaultType::kIgnoreRange);
  const ProbeResult whole = GetRange();
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body, bytes_);
}

TEST_F(HostileAnswersTest, AContentRangeMayBeWrongOrMissing) {
  const std::string size = absl::StrCat(bytes_.size());
  Spoil(Endpoint::kStorage, FaultType::kNoRange);
  EXPECT_EQ(GetRange().status, 206);
  EXPECT_EQ(GetRange().Header("Content-Range"), "");
  Spoil(Endpoint::kStorage, FaultType::kWrongTotal, 7);
  EXPECT_EQ(GetRange().Header("Content-Range"),
            absl::StrCat("bytes 10-19/", bytes_.size() + 7));
  Spoil(Endpoint::kStorage, FaultType::kWrongRange, 3);
  EXPECT_EQ(GetRange().Header("Content-Range"),
            absl::StrCat("bytes 13-22/", size));
  EXPECT_EQ(GetRange().body, bytes_.substr(10, 10));
}

TEST_F(HostileAnswersTest, AnObjectMayHaveAnotherETag) {
  const std::string etag(GetRange().Header("ETag"));
  Spoil(Endpoint::kStorage, FaultType::kNewETag);
  const std::string other(GetRange().Header("ETag"));
  EXPECT_NE(other, etag);
  EXPECT_EQ(GetRange({{"If-Match", etag}}).status, 412);
  EXPECT_EQ(GetRange({{"If-Match", other}}).status, 206);
  Spoil(Endpoint::kStorage, FaultType::kIgnoreIfMatch);
  const ProbeResult ignored = GetRange({{"If-Match", etag}});
  EXPECT_EQ(ignored.status, 206);
  EXPECT_EQ(ignored.Header("ETag"), other);
}

TEST_F(HostileAnswersTest, ABodyMayComeInGzip) {
  Spoil(Endpoint::kStorage, FaultType::kGzip);
  const ProbeResult part = GetRange();
  EXPECT_EQ(part.Header("Content-Encoding"), "gzip");
  EXPECT_EQ(part.body, GzipStored(bytes_.substr(10, 10)));
  Spoil(Endpoint::kContents, FaultType::kGzip);
  EXPECT_FALSE(Contents().valid());
}

TEST(GzipTest, IsGzipsOwnFormat) {
  // As `printf abc | gzip -n` has it, but for compression and system.
  const std::string expected(
      "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x03\0\xfc\xff"
      "abc\xc2\x41\x24\x35\x03\0\0\0",
      26);
  EXPECT_EQ(GzipStored("abc"), expected);
  // Two blocks of at most 65,535 bytes, each with five bytes before it.
  EXPECT_EQ(GzipStored(std::string(70'000, 'x')).size(), 70'000 + 10 + 10 + 8);
}

TEST_F(HostileAnswersTest, ADigestAndAHostMayBeForeign) {
  const std::string truth(
      Json(session_.Get(session_.SignPath()).body).Text("/sha1"));
  Spoil(Endpoint::kSign, FaultType::kWrongSha1);
  const std::string told(
      Json(session_.Get(session_.SignPath()).body).Text("/sha1"));
  EXPECT_EQ(told.size(), truth.size());
  EXPECT_NE(told, truth);
  Spoil(Endpoint::kSign, FaultType::kForeignUrl, -1, "http://10.0.0.1");
  EXPECT_TRUE(absl::StartsWith(
      Json(session_.Get(session_.SignPath()).body).Text("/url"),
      "http://10.0.0.1/storage/"));
}

TEST_F(HostileAnswersTest, JsonMayBeDeepOrHuge) {
  const std::string path = session_.TopFolderPath() + "/contents";
  const size_t size = session_.Get(path).body.size();
  Spoil(Endpoint::kContents, FaultType::kDeepJson, 50);
  EXPECT_TRUE(Contents().valid());
  EXPECT_TRUE(absl::StartsWith(session_.Get(path).body,
                               "{\"deep\":" + std::string(50, '[')));
  Spoil(Endpoint::kContents, FaultType::kHugeJson, 100'000);
  EXPECT_TRUE(Contents().valid());
  EXPECT_EQ(session_.Get(path).body.size(), size + 100'000);
}

TEST_F(HostileAnswersTest, EntriesMayComeTwice) {
  const int64_t count = Contents().Size("/data");
  ASSERT_GT(count, 0);
  Spoil(Endpoint::kContents, FaultType::kDuplicate);
  EXPECT_EQ(Contents().Size("/data"), 2 * count);
}

TEST_F(HostileAnswersTest, AnEmptyPageMayComeFirst) {
  const std::string path = session_.TopFolderPath() + "/contents";
  const int64_t count = Contents().Size("/data");
  FaultAction action;
  action.type = FaultType::kEmptyPage;
  FaultMatch once;
  once.count = 1;
  session_.AddFault(Endpoint::kContents, action, once);
  const Json empty(session_.Get(path).body);
  EXPECT_EQ(empty.Size("/data"), 0);
  const std::string next = empty.Text("/links/next/href");
  EXPECT_NE(next, "");
  EXPECT_EQ(Json(session_.Get(next).body).Size("/data"), count);
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
