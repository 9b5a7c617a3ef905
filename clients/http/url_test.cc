#include "clients/http/http_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using testing::HasSubstr;
using testing::Not;

TEST(ParseUrlTest, TakesUrlsApart) {
  ASSERT_OK_AND_ASSIGN(Url url, ParseUrl("HTTPS://Host.Example/a%2Fb?c=d#e"));
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.host, "host.example");
  EXPECT_EQ(url.port, 443);
  EXPECT_EQ(url.target, "/a%2Fb?c=d");
  ASSERT_OK_AND_ASSIGN(url, ParseUrl("http://[::1]:8360?x"));
  EXPECT_EQ(url.host, "::1");
  EXPECT_EQ(url.port, 8360);
  EXPECT_EQ(url.target, "/?x");
}

TEST(ParseUrlTest, RefusesWhatCouldMislead) {
  for (const char* text :
       {"", "host/path", "ftp://host/", "https://", "https:///path",
        "https://user@host/", "https://host:0/", "https://host:65536/",
        "https://host:/", "https://ho st/", "https://host\\@evil/",
        "https://host/a b", "https://host/\n", "https://h\xC3\xB6st/",
        "https://[::1", "https://[host]/", "https://host:8a/"}) {
    EXPECT_THAT(ParseUrl(text), StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

TEST(ParseUrlTest, RefusesAHostThatIsTooLongInAShortLine) {
  EXPECT_OK(ParseUrl("https://" + std::string(253, 'h') + "/"));
  const absl::Status status =
      ParseUrl("https://" + std::string(1 << 20, 'h') + "/").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("its host or port is malformed")));
  EXPECT_LT(status.message().size(), 400);
}

TEST(ParseUrlTest, KeepsSecretsOutOfItsErrors) {
  EXPECT_THAT(
      ParseUrl("https://host:x/?X-Amz-Signature=secret").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("secret"))));
}

TEST(ResolveUrlTest, ResolvesTheThreeFormsOfALink) {
  constexpr char kBase[] = "https://api.example:8443/data/v1/x?page=1";
  EXPECT_THAT(ResolveUrl(kBase, "https://other/a?b"),
              IsOkAndHolds("https://other/a?b"));
  EXPECT_THAT(
      ResolveUrl(kBase, "/data/v1/y?page%5Bnumber%5D=2"),
      IsOkAndHolds("https://api.example:8443/data/v1/y?page%5Bnumber%5D=2"));
  EXPECT_THAT(ResolveUrl(kBase, "project/v1/hubs"),
              IsOkAndHolds("https://api.example:8443/project/v1/hubs"));
  EXPECT_THAT(ResolveUrl(kBase, "?page=2"),
              IsOkAndHolds("https://api.example:8443/data/v1/x?page=2"));
  EXPECT_THAT(ResolveUrl(kBase, "//other/a"), IsOkAndHolds("https://other/a"));
  EXPECT_THAT(ResolveUrl(kBase, "/a?next=http://x"),
              IsOkAndHolds("https://api.example:8443/a?next=http://x"));
}

TEST(ResolveUrlTest, RefusesWhatLeadsNowhere) {
  EXPECT_THAT(ResolveUrl("https://host/", ""),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ResolveUrl("https://host/", "file:///etc/passwd"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PercentEncodeTest, MakesOneSegment) {
  EXPECT_EQ(PercentEncode("urn:adsk.wipprod:fs.file:vf.a-b_c?version=1"),
            "urn%3Aadsk.wipprod%3Afs.file%3Avf.a-b_c%3Fversion%3D1");
  EXPECT_EQ(PercentEncode("a/b \xC3\xA4~"), "a%2Fb%20%C3%A4~");
}

}  // namespace
}  // namespace bimbackup::http
