#include "clients/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <cstring>

namespace bimbackup::http {
namespace {

struct Net4 {
  uint32_t first;
  int bits;
};

// IANA's special-purpose addresses that are not of the internet.
constexpr Net4 kPrivate4[] = {
    {0x00000000, 8},   // this network
    {0x0a000000, 8},   // private
    {0x64400000, 10},  // shared, behind a carrier's NAT
    {0xa9fe0000, 16},  // link-local, with the clouds' metadata
    {0xac100000, 12},  // private
    {0xc0000000, 24},  // protocol assignments
    {0xc0000200, 24},  // documentation
    {0xc0586300, 24},  // 6to4 relays
    {0xc0a80000, 16},  // private
    {0xc6120000, 15},  // benchmarks
    {0xc6336400, 24},  // documentation
    {0xcb007100, 24},  // documentation
    {0xe0000000, 3},   // multicast, reserved, broadcast
};

AddressKind KindOf4(uint32_t address) {
  if (address >> 24 == 127) return AddressKind::kLoopback;
  for (const Net4& net : kPrivate4) {
    const uint32_t mask = ~uint32_t{0} << (32 - net.bits);
    if ((address & mask) == net.first) return AddressKind::kPrivate;
  }
  return AddressKind::kPublic;
}

uint32_t Word(const uint8_t* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return ntohl(word);
}

AddressKind KindOf6(const in6_addr& address) {
  const uint8_t* bytes = address.s6_addr;
  if (IN6_IS_ADDR_LOOPBACK(&address)) return AddressKind::kLoopback;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return KindOf4(Word(bytes + 12));
  // 64:ff9b::/96, NAT64: how a network without IPv4 reaches it.
  const bool middle_is_zero = Word(bytes + 4) == 0 && Word(bytes + 8) == 0;
  if (Word(bytes) == 0x0064ff9b && middle_is_zero) {
    return KindOf4(Word(bytes + 12));
  }
  const uint32_t first = Word(bytes);
  // 2002::/16, 6to4.
  if (first >> 16 == 0x2002) return KindOf4(Word(bytes + 2));
  // 2000::/3 is the internet, but for protocol assignments (with Teredo) and
  // documentation.
  const bool global = first >> 29 == 1 && first >> 9 != 0x20010000 >> 9 &&
                      first != 0x20010db8 && first >> 12 != 0x3fff0000 >> 12;
  return global ? AddressKind::kPublic : AddressKind::kPrivate;
}

}  // namespace

AddressKind KindOf(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return KindOf4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    return KindOf6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return AddressKind::kPrivate;
}

bool Includes(Reach reach, AddressKind kind) {
  switch (reach) {
    case Reach::kAnywhere:
      return true;
    case Reach::kPublic:
      return kind == AddressKind::kPublic;
    case Reach::kLoopback:
      return kind == AddressKind::kLoopback;
  }
  return false;
}

std::string AddressText(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr,
              text, sizeof(text));
  } else if (address.sa_family == AF_INET6) {
    inet_ntop(AF_INET6,
              &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text,
              sizeof(text));
  }
  return text;
}

}  // namespace bimbackup::http
