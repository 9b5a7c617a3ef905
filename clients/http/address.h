// Which machines an address leads to.

#ifndef CLIENTS_HTTP_ADDRESS_H_
#define CLIENTS_HTTP_ADDRESS_H_

#include <sys/socket.h>

#include <string>

#include "clients/http/http_transport.h"

namespace bimbackup::http {

enum class AddressKind {
  // Of the internet.
  kPublic,
  // This machine.
  kLoopback,
  // Everything else: private, link-local, shared, multicast, reserved.
  kPrivate,
};

// What an IPv4 or IPv6 address is. An IPv4 address that is wrapped into an
// IPv6 one (mapped, 6to4, NAT64) is judged by itself; other families are
// kPrivate.
AddressKind KindOf(const sockaddr& address);

// Whether `reach` includes an address of `kind`.
bool Includes(Reach reach, AddressKind kind);

// As people write it, without port.
std::string AddressText(const sockaddr& address);

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_ADDRESS_H_
