#include "services/coordinator/port_check.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::coordinator {
namespace {

absl::Status Refused(absl::string_view address, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("--listen: cannot listen on ", address, ": ", why));
}

// "[::1]" as "::1".
std::string WithoutBrackets(absl::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return std::string(host.data(), host.size());
}

int TryBind(const addrinfo& address) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const int error =
      bind(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  close(fd);
  return error;
}

}  // namespace

absl::Status CheckListenable(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return absl::OkStatus();
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) {
    return Refused(address, "it is not of the form host:port");
  }
  const std::string host = WithoutBrackets(address.substr(0, colon));
  const std::string port(address.substr(colon + 1).data(),
                         address.size() - colon - 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    return Refused(address, "no such host or port");
  }
  const int error = TryBind(*found);
  freeaddrinfo(found);
  if (error == 0) return absl::OkStatus();
  return Refused(address, error == EADDRINUSE ? "another process has the port"
                                              : std::strerror(error));
}

}  // namespace bimbackup::coordinator
