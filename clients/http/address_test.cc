#include "clients/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <string>

#include "gtest/gtest.h"

namespace bimbackup::http {
namespace {

AddressKind KindOfText(const std::string& text) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    return KindOf(reinterpret_cast<const sockaddr&>(v4));
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr), 1) << text;
  EXPECT_EQ(AddressText(reinterpret_cast<const sockaddr&>(v6)), text);
  return KindOf(reinterpret_cast<const sockaddr&>(v6));
}

TEST(AddressTest, KnowsTheInternet) {
  for (const char* text :
       {"1.1.1.1",         "9.255.255.255",     "11.0.0.0",
        "52.216.0.1",      "100.63.255.255",    "100.128.0.0",
        "169.253.255.255", "169.255.0.0",       "172.15.255.255",
        "172.32.0.0",      "192.167.255.255",   "192.169.0.0",
        "198.17.255.255",  "198.20.0.0",        "223.255.255.255",
        "2600:1f18::1",    "2a00:1450:4001::1", "::ffff:52.216.0.1",
        "64:ff9b::34d8:1", "2002:34d8:1::1"}) {
    EXPECT_EQ(KindOfText(text), AddressKind::kPublic) << text;
  }
}

TEST(AddressTest, KnowsThisMachine) {
  for (const char* text : {"127.0.0.1", "127.255.255.255", "::1",
                           "::ffff:127.0.0.1", "64:ff9b::7f00:1"}) {
    EXPECT_EQ(KindOfText(text), AddressKind::kLoopback) << text;
  }
}

TEST(AddressTest, TheRestIsPrivate) {
  for (const char* text : {"0.0.0.0",
                           "0.1.2.3",
                           "10.0.0.1",
                           "10.255.255.255",
                           "100.64.0.1",
                           "100.127.255.255",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.0.0.1",
                           "192.0.2.1",
                           "192.168.0.1",
                           "198.18.0.1",
                           "198.19.255.255",
                           "198.51.100.1",
                           "203.0.113.1",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::ffff:10.0.0.1",
                           "::ffff:169.254.169.254",
                           "64:ff9b::a00:1",
                           "64:ff9b:1::1",
                           "2002:a00:1::1",
                           "2001::1",
                           "2001:db8::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "fe80::1",
                           "fec0::1",
                           "ff02::1",
                           "100::1"}) {
    EXPECT_EQ(KindOfText(text), AddressKind::kPrivate) << text;
  }
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  EXPECT_EQ(KindOf(reinterpret_cast<const sockaddr&>(local)),
            AddressKind::kPrivate);
}

TEST(AddressTest, ReachIncludesWhatItSays) {
  EXPECT_TRUE(Includes(Reach::kAnywhere, AddressKind::kPrivate));
  EXPECT_TRUE(Includes(Reach::kPublic, AddressKind::kPublic));
  EXPECT_FALSE(Includes(Reach::kPublic, AddressKind::kPrivate));
  EXPECT_FALSE(Includes(Reach::kPublic, AddressKind::kLoopback));
  EXPECT_TRUE(Includes(Reach::kLoopback, AddressKind::kLoopback));
  EXPECT_FALSE(Includes(Reach::kLoopback, AddressKind::kPrivate));
  EXPECT_FALSE(Includes(Reach::kLoopback, AddressKind::kPublic));
}

}  // namespace
}  // namespace bimbackup::http
