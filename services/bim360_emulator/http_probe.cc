#include "services/bim360_emulator/http_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"

namespace bimbackup::bim360_emulator {
namespace {

// Takes one complete chunked body off `text`; false when more must come.
bool DecodeChunks(absl::string_view text, std::string& body) {
  body.clear();
  while (true) {
    const size_t line = text.find("\r\n");
    if (line == absl::string_view::npos) return false;
    uint32_t size = 0;
    if (!absl::SimpleHexAtoi(text.substr(0, line), &size)) return false;
    text.remove_prefix(line + 2);
    if (text.size() < size + 2) return false;
    absl::StrAppend(&body, text.substr(0, size));
    text.remove_prefix(size + 2);
    if (size == 0) return true;
  }
}

void ParseHead(absl::string_view head, ProbeResult& result) {
  bool first = true;
  for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
    if (first) {
      (void)absl::SimpleAtoi(line.substr(9, 3), &result.status);
      first = false;
      continue;
    }
    const std::pair<std::string, std::string> field =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    result.headers.push_back(field);
  }
}

}  // namespace

absl::string_view ProbeResult::Header(absl::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

HttpProbe::HttpProbe(absl::string_view base_url, absl::Duration timeout)
    : timeout_(timeout) {
  absl::ConsumePrefix(&base_url, "http://");
  host_ = std::string(base_url.data(), base_url.size());
}

HttpProbe::~HttpProbe() { Close(); }

void HttpProbe::Close() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool HttpProbe::Connect() {
  const size_t colon = host_.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  int port = 0;
  (void)absl::SimpleAtoi(host_.substr(colon + 1), &port);
  address.sin_port = htons(port);
  inet_pton(AF_INET, host_.substr(0, colon).c_str(), &address.sin_addr);
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ++connects_;
  return connect(socket_, reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)) == 0;
}

bool HttpProbe::Receive(std::string& into, ProbeResult& result) {
  pollfd waiting{socket_, POLLIN, 0};
  const int64_t left = absl::ToInt64Milliseconds(deadline_ - absl::Now());
  if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) {
    result.ending = ProbeResult::Ending::kTimeout;
    return false;
  }
  char buffer[64 << 10];
  const ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
  if (got > 0) {
    into.append(buffer, got);
    return true;
  }
  result.ending = got < 0 && errno == ECONNRESET ? ProbeResult::Ending::kReset
                                                 : ProbeResult::Ending::kClosed;
  return false;
}

void HttpProbe::ReadBody(std::string rest, bool no_body, ProbeResult& result) {
  result.ending = ProbeResult::Ending::kComplete;
  if (no_body) return;
  if (result.Header("Transfer-Encoding") == "chunked") {
    while (!DecodeChunks(rest, result.body)) {
      if (!Receive(rest, result)) return Close();
    }
    return;
  }
  int64_t length = 0;
  (void)absl::SimpleAtoi(result.Header("Content-Length"), &length);
  result.body = std::move(rest);
  while (static_cast<int64_t>(result.body.size()) < length) {
    if (!Receive(result.body, result)) return Close();
  }
}

ProbeResult HttpProbe::Send(absl::string_view method, absl::string_view target,
                            const HttpHeaders& headers,
                            absl::string_view body) {
  const absl::Time begin = absl::Now();
  deadline_ = begin + timeout_;
  ProbeResult result;
  if (socket_ < 0 && !Connect()) return result;
  if (absl::ConsumePrefix(&target, "http://")) {
    target.remove_prefix(std::min(target.size(), target.find('/')));
  }
  std::string request =
      absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: ", host_, "\r\n");
  for (const auto& [name, value] : headers) {
    absl::StrAppend(&request, name, ": ", value, "\r\n");
  }
  if (!body.empty()) {
    absl::StrAppend(&request, "Content-Length: ", body.size(), "\r\n");
  }
  absl::StrAppend(&request, "\r\n", body);
  send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
  std::string received;
  size_t end = std::string::npos;
  while ((end = received.find("\r\n\r\n")) == std::string::npos) {
    if (!Receive(received, result)) {
      Close();
      result.total = absl::Now() - begin;
      return result;
    }
  }
  result.first_byte = absl::Now() - begin;
  ParseHead(absl::string_view(received).substr(0, end), result);
  ReadBody(received.substr(end + 4), method == "HEAD", result);
  if (result.Header("Connection") == "close") Close();
  result.total = absl::Now() - begin;
  return result;
}

}  // namespace bimbackup::bim360_emulator
