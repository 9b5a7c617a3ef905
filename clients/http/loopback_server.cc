#include "clients/http/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace bimbackup::http {
namespace {

size_t ContentLength(const std::string& head) {
  const std::string lower = absl::AsciiStrToLower(head);
  const size_t at = lower.find("\r\ncontent-length:");
  if (at == std::string::npos) return 0;
  size_t length = 0;
  const size_t begin = at + 17;
  (void)absl::SimpleAtoi(absl::StripAsciiWhitespace(lower.substr(
                             begin, lower.find("\r\n", begin) - begin)),
                         &length);
  return length;
}

}  // namespace

bool LoopbackConnection::Send(absl::string_view bytes) {
  while (!closed_ && !bytes.empty()) {
    const ssize_t sent =
        send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) closed_ = true;
    if (sent > 0) bytes.remove_prefix(sent);
  }
  return !closed_;
}

void LoopbackConnection::WaitUntilClosed() {
  char byte;
  while (!closed_) closed_ = recv(socket_, &byte, 1, 0) <= 0;
}

void LoopbackConnection::Close(bool reset) {
  closed_ = true;
  if (reset) {
    const linger abort = {1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
  } else {
    shutdown(socket_, SHUT_WR);
  }
}

bool LoopbackConnection::ReadRequest(std::string& head, std::string& body) {
  size_t end = std::string::npos;
  size_t needed = std::string::npos;
  char buffer[16384];
  for (;;) {
    if (end == std::string::npos) {
      end = unread_.find("\r\n\r\n");
      if (end != std::string::npos) {
        needed = end + 4 + ContentLength(unread_.substr(0, end));
      }
    }
    if (unread_.size() >= needed && needed != std::string::npos) break;
    const ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
    if (got <= 0) return false;
    unread_.append(buffer, got);
  }
  head = unread_.substr(0, end + 2);
  body = unread_.substr(end + 4, needed - end - 4);
  unread_.erase(0, needed);
  return true;
}

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, length) == 0 && listen(listener_, 1024) == 0 &&
      getsockname(listener_, generic, &length) == 0) {
    port_ = ntohs(address.sin_port);
  }
  acceptor_ = std::thread([this] { Accept(); });
}

LoopbackServer::~LoopbackServer() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    threads = std::move(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  close(listener_);
}

std::string LoopbackServer::Url(absl::string_view target) const {
  return absl::StrCat("http://127.0.0.1:", port_, target);
}

std::string LoopbackServer::Answer(int status, absl::string_view body,
                                   absl::string_view headers) {
  return absl::StrCat("HTTP/1.1 ", status,
                      " Text\r\nContent-Length: ", body.size(), "\r\n", headers,
                      "\r\n", body);
}

void LoopbackServer::Accept() {
  for (;;) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    MutexLock lock(mutex_);
    if (stop_ || socket < 0) {
      if (socket >= 0) close(socket);
      return;
    }
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ++connections_;
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { Serve(socket); });
  }
}

void LoopbackServer::Serve(int socket) {
  LoopbackConnection connection(socket);
  Call call;
  while (!connection.closed() && connection.ReadRequest(call.head, call.body)) {
    const std::vector<std::string> line =
        absl::StrSplit(call.head.substr(0, call.head.find("\r\n")), ' ');
    call.method = line[0];
    call.target = line.size() > 1 ? line[1] : "";
    handler_(call, connection);
  }
  MutexLock lock(mutex_);
  std::erase(sockets_, socket);
  close(socket);
}

}  // namespace bimbackup::http
