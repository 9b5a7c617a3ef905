#include "clients/http/host_policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;
using testing::Not;

TEST(HostPolicyTest, AllowsStorageHostsOverHttpsByDefault) {
  const HostPolicy policy = HostPolicy::Default();
  for (const char* url :
       {"https://developer.api.autodesk.com/oss/v2/signedresources/x",
        "https://cdn.us.oss.api.autodesk.com/x",
        "https://bucket.s3.amazonaws.com/x?X-Amz-Date=1",
        "https://my.bucket.s3.us-east-1.amazonaws.com/x",
        "https://bucket.s3.dualstack.eu-west-1.amazonaws.com/x",
        "https://bucket.s3-eu-west-1.amazonaws.com/x",
        "https://bucket.s3-accelerate.amazonaws.com/x",
        "https://s3.us-gov-west-1.amazonaws.com/bucket/x",
        "http://127.0.0.1:8360/x", "http://localhost:1/x", "http://[::1]/x",
        "https://127.1.2.3/x"}) {
    EXPECT_OK(policy.Check(url)) << url;
  }
}

TEST(HostPolicyTest, RefusesEverythingElse) {
  const HostPolicy policy = HostPolicy::Default();
  for (const char* url :
       {"https://evil.example/x", "http://bucket.s3.amazonaws.com/x",
        "https://bucket.s3.amazonaws.com:8443/x",
        "https://ec2-1-2-3-4.compute.amazonaws.com/x",
        "https://s3.ec2-1-2-3-4.compute.amazonaws.com/x",
        "https://s3.amazonaws.com.evil.example/x",
        "https://evils3.amazonaws.com/x", "https://amazonaws.com/x",
        "https://oss.api.autodesk.com.evil/x", "https://d111.cloudfront.net/x",
        "http://169.254.169.254/latest", "https://10.0.0.1/x",
        "http://192.168.1.1/", "http://0x7f.1/", "https://127.evil.example/",
        "http://localhost.evil.example/", "http://developer.api.autodesk.com/x",
        "https://[fe80::1]/x"}) {
    EXPECT_THAT(policy.Check(url), StatusIs(absl::StatusCode::kPermissionDenied,
                                            HasSubstr("--allowed_hosts")))
        << url;
  }
}

TEST(HostPolicyTest, NamedHostsMayBePlain) {
  ASSERT_OK_AND_ASSIGN(
      const HostPolicy policy,
      HostPolicy::Parse("emulator, minio:9000 *.Lab.Example [fd00::1]:80"));
  EXPECT_OK(policy.Check("http://emulator:8360/x"));
  EXPECT_OK(policy.Check("https://emulator/x"));
  EXPECT_OK(policy.Check("http://minio:9000/x"));
  EXPECT_FALSE(policy.Check("http://minio:9001/x").ok());
  EXPECT_OK(policy.Check("http://a.b.lab.example/x"));
  EXPECT_FALSE(policy.Check("http://lab.example/x").ok());
  EXPECT_FALSE(policy.Check("http://evillab.example/x").ok());
  EXPECT_OK(policy.Check("http://[fd00::1]/x"));
  EXPECT_OK(policy.Check("https://bucket.s3.amazonaws.com/x"));
}

TEST(HostPolicyTest, RefusesMalformedPatterns) {
  for (const char* text : {"*", "*.", "a.*", "http://host", "host/path",
                           "host:port", "host:", "*.*.com", "*..com"}) {
    EXPECT_THAT(HostPolicy::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)))
        << text;
  }
}

TEST(HostPolicyTest, NamesNoQuery) {
  EXPECT_THAT(
      HostPolicy::Default().Check("https://evil/?sig=secret"),
      StatusIs(absl::StatusCode::kPermissionDenied, Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace bimbackup::http
