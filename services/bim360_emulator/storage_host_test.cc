#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator_session.h"

namespace bimbackup::bim360_emulator {
namespace {

class StorageHostTest : public testing::Test {
 protected:
  static EmulatorOptions Options() {
    EmulatorOptions options;
    options.account = "custom:folders=2,files=1,bytes=100003";
    options.limits = false;
    return options;
  }
  ProbeResult GetRange(const std::string& range) {
    return session_.probe().Get(url_, {{"Range", range}});
  }

  EmulatorSession session_{Options()};
  const std::string url_ = session_.SignedUrl();
  const std::string bytes_ = session_.FirstBytes();
};

TEST_F(StorageHostTest, ServesTheBytesThatWereSigned) {
  const Json answer(session_.Get(session_.SignPath()).body);
  EXPECT_EQ(answer.Text("/status"), "complete");
  EXPECT_EQ(answer.Number("/size"), 100'003);
  Digest digest(DigestKind::kSha1);
  digest.Update(bytes_);
  EXPECT_EQ(answer.Text("/sha1"), digest.FinishHex());
  const ProbeResult whole = session_.probe().Get(url_);
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body, bytes_);
  EXPECT_FALSE(whole.Header("ETag").empty());
}

TEST_F(StorageHostTest, RangesAreThoseOfTheWhole) {
  const ProbeResult part = GetRange("bytes=10-19");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.Header("Content-Range"), "bytes 10-19/100003");
  EXPECT_EQ(part.body, bytes_.substr(10, 10));
  EXPECT_EQ(GetRange("bytes=99999-").body, bytes_.substr(99'999));
  EXPECT_EQ(GetRange("bytes=-5").body, bytes_.substr(99'998));
  EXPECT_EQ(GetRange("bytes=99990-200000").body, bytes_.substr(99'990));
  EXPECT_EQ(GetRange("bytes=0-0,5-6").status, 200);
}

TEST_F(StorageHostTest, RangesBeyondTheEndAre416) {
  const ProbeResult beyond = GetRange("bytes=100003-");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.Header("Content-Range"), "bytes */100003");
  EXPECT_EQ(GetRange("bytes=-0").status, 416);
}

TEST_F(StorageHostTest, IfMatchHoldsTheObjectFast) {
  const std::string etag(session_.probe().Get(url_).Header("ETag"));
  EXPECT_EQ(session_.probe().Get(url_, {{"If-Match", etag}}).status, 200);
  EXPECT_EQ(session_.probe().Get(url_, {{"If-Match", "\"x\""}}).status, 412);
}

TEST_F(StorageHostTest, SignaturesAreReallyChecked) {
  std::string altered = url_;
  altered.back() = altered.back() == '0' ? '1' : '0';
  const ProbeResult refused = session_.probe().Get(altered);
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(
      absl::StrContains(refused.body, "<Code>SignatureDoesNotMatch</Code>"));
  EXPECT_EQ(session_.probe().Get(url_.substr(0, url_.find('?'))).status, 403);
  EXPECT_EQ(session_.probe().Send("HEAD", url_).status, 403)
      << "the method is signed, too";
  session_.emulator().clock().Advance(absl::Seconds(121));
  const ProbeResult expired = session_.probe().Get(url_);
  EXPECT_EQ(expired.status, 403);
  EXPECT_TRUE(absl::StrContains(expired.body, "Request has expired"));
  EXPECT_TRUE(
      absl::StrContains(expired.body, "<X-Amz-Expires>120</X-Amz-Expires>"));
}

TEST_F(StorageHostTest, AnAuthorizationHeaderIsRefused) {
  EXPECT_EQ(session_.Get(url_).status, 400);
}

TEST_F(StorageHostTest, MinutesExpirationIsChecked) {
  const std::string path = session_.SignPath() + "?minutesExpiration=";
  for (const char* bad : {"0", "61", "x"}) {
    EXPECT_EQ(session_.Get(path + bad).status, 400) << bad;
  }
  const Json hour(session_.Get(path + "60").body);
  EXPECT_TRUE(absl::StrContains(hour.Text("/url"), "X-Amz-Expires=3600"));
}

TEST_F(StorageHostTest, UnknownObjectsAre404) {
  EXPECT_EQ(
      session_.Get("/oss/v2/buckets/wip.dm.prod/objects/x/signeds3download")
          .status,
      404);
}

TEST_F(StorageHostTest, ManyMayWaitForOneLargeDigest) {
  Account& account = session_.emulator().account();
  FileSpec spec;
  spec.size = 40 << 20;
  const TreeEntry file = session_.FirstFile();
  ASSERT_TRUE(account.ChangeFile({file.project_name, file.path}, spec).ok());
  const std::string path = session_.SignPath();
  const std::string token =
      session_.emulator().tokens().Issue(absl::Hours(1), "data:read");
  std::vector<std::string> digests(4);
  std::vector<std::thread> threads;
  for (std::string& digest : digests) {
    threads.emplace_back([&] {
      HttpProbe probe(session_.emulator().base_url());
      const ProbeResult answer =
          probe.Get(path, {{"Authorization", absl::StrCat("Bearer ", token)}});
      digest = Json(answer.body).Text("/sha1");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(digests[0].size(), 40);
  for (const std::string& digest : digests) EXPECT_EQ(digest, digests[0]);
}

TEST_F(StorageHostTest, ChunkedUrlsCoverTheWhole) {
  FaultAction action;
  action.type = FaultType::kChunkedUrls;
  action.bytes = 40'000;
  session_.AddFault(Endpoint::kSign, action);
  const Json answer(session_.Get(session_.SignPath()).body);
  EXPECT_EQ(answer.Text("/status"), "chunked");
  EXPECT_FALSE(answer.Has("/sha1"));
  std::string joined;
  for (const char* range : {"0-39999", "40000-79999", "80000-100002"}) {
    const std::string url = answer.Text(absl::StrCat("/urls/", range));
    const ProbeResult part = session_.probe().Get(url);
    EXPECT_EQ(part.status, 200);
    joined += part.body;
    EXPECT_EQ(session_.probe().Get(url, {{"Range", "bytes=1-2"}}).body,
              part.body.substr(1, 2));
  }
  EXPECT_EQ(joined, bytes_);
}

TEST_F(StorageHostTest, AFallbackUrlLeadsToTheBytes) {
  FaultAction action;
  action.type = FaultType::kChunkedUrls;
  session_.AddFault(Endpoint::kSign, action);
  const Json answer(
      session_.Get(session_.SignPath() + "?public-resource-fallback=true")
          .body);
  EXPECT_EQ(answer.Text("/status"), "fallback");
  const std::string url = answer.Text("/url");
  EXPECT_TRUE(absl::StrContains(url, "/oss/v2/signedresources/"));
  EXPECT_EQ(session_.probe().Get(url).body, bytes_);
  session_.emulator().clock().Advance(absl::Minutes(3));
  EXPECT_EQ(session_.probe().Get(url).status, 403);
}

TEST_F(StorageHostTest, BatchSigningIsForOwners) {
  const std::string path =
      "/oss/v2/buckets/wip.dm.prod/objects/batchsigneds3download";
  const std::string sign = session_.SignPath();
  const std::string key = sign.substr(36, sign.rfind('/') - 36);
  const std::string body = absl::StrCat(R"({"requests":[{"objectKey":")", key,
                                        R"("},{"objectKey":"no"}]})");
  const auto ask = [&](EmulatorSession& session) {
    const std::string token =
        session.emulator().tokens().Issue(absl::Hours(1), "data:read");
    return session.probe().Send(
        "POST", path, {{"Authorization", absl::StrCat("Bearer ", token)}},
        body);
  };
  EXPECT_EQ(ask(session_).status, 403);
  EmulatorOptions options = Options();
  options.batch_sign = true;
  EmulatorSession owner(options);
  const ProbeResult answer = ask(owner);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(Json(answer.body).Text("/results/" + key + "/status"), "complete");
  EXPECT_EQ(Json(answer.body).Text("/results/no/status"), "error");
}

TEST_F(StorageHostTest, DetailsTellSizeAndDigest) {
  const std::string sign = session_.SignPath();
  const Json details(
      session_.Get(sign.substr(0, sign.rfind('/')) + "/details").body);
  EXPECT_EQ(details.Number("/size"), 100'003);
  EXPECT_EQ(details.Text("/sha1").size(), 40);
}

TEST_F(StorageHostTest, RangesOfHugeFilesAreServed) {
  Account& account = session_.emulator().account();
  FileSpec spec;
  spec.size = int64_t{5} << 30;
  spec.content = ContentKind::kSparse;
  const TreeEntry file = session_.FirstFile();
  ASSERT_TRUE(account.ChangeFile({file.project_name, file.path}, spec).ok());
  // A digest of 5 GiB takes seconds, so that none is asked for.
  FaultAction chunked;
  chunked.type = FaultType::kFallback;
  session_.AddFault(Endpoint::kSign, chunked);
  const std::string url = session_.SignedUrl();
  const ProbeResult tail =
      session_.probe().Get(url, {{"Range", "bytes=5368709110-"}});
  EXPECT_EQ(tail.Header("Content-Range"),
            "bytes 5368709110-5368709119/5368709120");
  EXPECT_EQ(tail.body, std::string(10, '\0'));
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
