#include "services/bim360_emulator/http_message.h"

#include "gtest/gtest.h"
#include "services/bim360_emulator/endpoint.h"

namespace bimbackup::bim360_emulator {
namespace {

TEST(HttpMessageTest, ParametersAreDecoded) {
  HttpRequest request;
  request.target = "/x?page%5Bnumber%5D=3&page[limit]=50&empty&a=b+c%2Bd";
  EXPECT_EQ(request.Path(), "/x");
  EXPECT_EQ(request.Parameter("page[number]"), "3");
  EXPECT_EQ(request.Parameter("page[limit]"), "50");
  EXPECT_EQ(request.Parameter("empty"), "");
  EXPECT_EQ(request.Parameter("a"), "b c+d");
  EXPECT_EQ(request.Parameter("absent"), "");
}

TEST(HttpMessageTest, UrlCodingIsReversible) {
  const std::string odd = "urn:adsk.wipprod:fs.file:vf.x?version=1 é%/";
  EXPECT_EQ(UrlDecode(UrlEncode(odd)), odd);
  EXPECT_EQ(UrlEncode("a?b=c"), "a%3Fb%3Dc");
  EXPECT_EQ(UrlDecode("50%"), "50%");
  EXPECT_EQ(UrlDecode("a+b"), "a+b");
}

TEST(HttpMessageTest, DatesAreThoseOfHttp) {
  EXPECT_EQ(HttpDate(absl::FromUnixSeconds(784111777)),
            "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(EndpointTest, RoutesByMethodAndPath) {
  const Route contents =
      FindRoute("GET", "/data/v1/projects/b.1/folders/urn%3Ax/contents");
  EXPECT_EQ(contents.endpoint, Endpoint::kContents);
  EXPECT_EQ(contents.ids, (std::vector<std::string>{"b.1", "urn:x"}));
  EXPECT_EQ(FindRoute("POST", "/authentication/v2/token").endpoint,
            Endpoint::kToken);
  EXPECT_EQ(FindRoute("GET", "/authentication/v2/token").endpoint,
            Endpoint::kUnknown);
  EXPECT_EQ(FindRoute("GET", "/project/v1/hubs/b.1/projects").endpoint,
            Endpoint::kProjects);
  EXPECT_EQ(FindRoute("GET", "/nothing").endpoint, Endpoint::kUnknown);
  // A version's question mark that was not encoded cuts the path.
  EXPECT_EQ(FindRoute("GET", "/data/v1/projects/b.1/versions/vf.x").endpoint,
            Endpoint::kVersion);
}

TEST(EndpointTest, ObjectStorageSharesOneLimit) {
  EXPECT_EQ(LimitClass(Endpoint::kBatchSign), Endpoint::kSign);
  EXPECT_EQ(LimitClass(Endpoint::kDetails), Endpoint::kSign);
  EXPECT_EQ(LimitClass(Endpoint::kContents), Endpoint::kContents);
  EXPECT_EQ(EndpointRate(Endpoint::kContents), 300);
  EXPECT_EQ(EndpointRate(Endpoint::kProjects), 50);
  EXPECT_EQ(EndpointRate(Endpoint::kSign), 1000);
  EXPECT_EQ(EndpointRate(Endpoint::kStorage), 0);
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
