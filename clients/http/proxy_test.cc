#include "clients/http/proxy.h"

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace bimbackup::http {
namespace {

class ProxyTest : public testing::Test {
 protected:
  ProxyTest() { Clear(); }
  ~ProxyTest() override { Clear(); }

  static void Clear() {
    for (const char* name :
         {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY",
          "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}) {
      unsetenv(name);
    }
  }
  static std::string Of(const std::string& url) {
    return ProxyFor(*ParseUrl(url));
  }
};

TEST_F(ProxyTest, IsTheOneOfTheScheme) {
  EXPECT_EQ(Of("https://a.example/"), "");
  setenv("https_proxy", "http://secure:1", 1);
  EXPECT_EQ(Of("https://a.example/"), "http://secure:1");
  EXPECT_EQ(Of("http://a.example/"), "");
  setenv("HTTP_PROXY", "http://never:1", 1);
  EXPECT_EQ(Of("http://a.example/"), "");
  setenv("ALL_PROXY", "http://all:1", 1);
  EXPECT_EQ(Of("http://a.example/"), "http://all:1");
  setenv("http_proxy", "http://plain:1", 1);
  EXPECT_EQ(Of("http://a.example/"), "http://plain:1");
}

TEST_F(ProxyTest, NoProxyExemptsHostsAndDomains) {
  setenv("https_proxy", "http://proxy:1", 1);
  setenv("no_proxy", "local.example, .lab.example,END.example.", 1);
  EXPECT_EQ(Of("https://local.example/"), "");
  EXPECT_EQ(Of("https://a.local.example/"), "");
  EXPECT_EQ(Of("https://a.lab.example/"), "");
  EXPECT_EQ(Of("https://end.example/"), "");
  EXPECT_EQ(Of("https://notlocal.example/"), "http://proxy:1");
  EXPECT_EQ(Of("https://example/"), "http://proxy:1");
  setenv("no_proxy", "*", 1);
  EXPECT_EQ(Of("https://any.example/"), "");
}

}  // namespace
}  // namespace bimbackup::http
