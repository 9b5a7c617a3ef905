#include "clients/http/curl_transfer.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/http/address.h"
#include "clients/http/proxy.h"
#include "services/common/secret.h"
#include "services/common/status_macros.h"

namespace bimbackup::http {
namespace {

// libcurl bounds one line only.
constexpr size_t kMaxHeadBytes = 256 * 1024;

bool IsLoopbackHost(absl::string_view host) {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

template <typename T>
absl::Status Set(CURL* easy, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_OK) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("libcurl refuses option ", option,
                                          ": ", curl_easy_strerror(code)));
}

absl::StatusCode CodeFromCurl(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return absl::StatusCode::kInvalidArgument;
    case CURLE_PARTIAL_FILE:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WEIRD_SERVER_REPLY:
      return absl::StatusCode::kDataLoss;
    case CURLE_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

CurlTransfer::CurlTransfer(TransferId id, Request request,
                           std::unique_ptr<ResponseHandler> handler,
                           Clock& clock, BandwidthLimit& bandwidth,
                           std::deque<TransferId>& held)
    : id_(id),
      request_(std::move(request)),
      handler_(std::move(handler)),
      clock_(clock),
      bandwidth_(bandwidth),
      held_(held),
      started_(clock.Monotonic()),
      deadline_(started_ + request_.deadline),
      idle_since_(started_) {}

CurlTransfer::~CurlTransfer() { curl_slist_free_all(header_list_); }

absl::Status CurlTransfer::Configure(CURL* easy, CURLSH* share,
                                     const CurlTransportOptions& options) {
  easy_ = easy;
  ABSL_ASSIGN_OR_RETURN(const Url url, ParseUrl(request_.url));
  const auto set = [&](CURLoption option, auto value) {
    const absl::Status status = Set(easy_, option, value);
    if (refused_.ok()) refused_ = status;
  };
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  // Else removing a handle would wait, with its loop, for a name server.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_MAXLIFETIME_CONN, 600L);
  set(CURLOPT_FRESH_CONNECT, request_.fresh_connection ? 1L : 0L);
  set(CURLOPT_CONNECTTIMEOUT_MS,
      std::max<long>(absl::ToInt64Milliseconds(request_.connect_timeout), 1));
  set(CURLOPT_BUFFERSIZE, static_cast<long>(options.buffer_bytes));
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  if (options.accept_gzip) set(CURLOPT_ACCEPT_ENCODING, "gzip");
  set(CURLOPT_SHARE, share);
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::OnHeaderLine);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::OnBodyBytes);
  set(CURLOPT_WRITEDATA, this);
  ABSL_RETURN_IF_ERROR(refused_);
  ABSL_RETURN_IF_ERROR(SetRoute(url));
  ABSL_RETURN_IF_ERROR(SetMethod());
  return SetHeaders(options);
}

absl::Status CurlTransfer::SetRoute(const Url& url) {
  const bool loopback =
      IsLoopbackHost(url.host) || request_.reach == Reach::kLoopback;
  if (request_.reach == Reach::kAnywhere) {
    return loopback ? Set(easy_, CURLOPT_PROXY, "") : absl::OkStatus();
  }
  const std::string proxy = loopback ? "" : ProxyFor(url);
  ABSL_RETURN_IF_ERROR(Set(easy_, CURLOPT_PROXY, proxy.c_str()));
  // ProxyFor has looked at no_proxy.
  if (!proxy.empty()) return Set(easy_, CURLOPT_NOPROXY, "");
  ABSL_RETURN_IF_ERROR(
      Set(easy_, CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::OnOpenSocket));
  return Set(easy_, CURLOPT_OPENSOCKETDATA, this);
}

curl_socket_t CurlTransfer::OnOpenSocket(void* self, curlsocktype,
                                         curl_sockaddr* address) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  if (!Includes(transfer->request_.reach, KindOf(address->addr))) {
    transfer->out_of_reach_ =
        absl::PermissionDeniedError(transfer->Describe(absl::StrCat(
            "its host leads to ", AddressText(address->addr),
            ", which is no public address; --allowed_hosts can allow the "
            "host")));
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC,
                address->protocol);
}

absl::Status CurlTransfer::SetMethod() {
  if (request_.method == "HEAD") return Set(easy_, CURLOPT_NOBODY, 1L);
  if (request_.method == "GET") return Set(easy_, CURLOPT_HTTPGET, 1L);
  ABSL_RETURN_IF_ERROR(Set(easy_, CURLOPT_POST, 1L));
  ABSL_RETURN_IF_ERROR(Set(easy_, CURLOPT_POSTFIELDS, request_.body.c_str()));
  ABSL_RETURN_IF_ERROR(Set(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                           static_cast<curl_off_t>(request_.body.size())));
  return Set(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

absl::Status CurlTransfer::SetHeaders(const CurlTransportOptions& options) {
  Headers headers = request_.headers;
  if (!options.accept_gzip) {
    headers.emplace_back("Accept-Encoding", "identity");
  }
  // An empty value keeps libcurl from waiting for a 100 before a body.
  headers.emplace_back("Expect", "");
  for (const auto& [name, value] : headers) {
    if (absl::StrContains(name + value, '\n') ||
        absl::StrContains(name + value, '\r')) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header ", name, " holds a line break"));
    }
    curl_slist* longer = curl_slist_append(
        header_list_, absl::StrCat(name, ": ", value).c_str());
    if (longer == nullptr) return absl::ResourceExhaustedError("no memory");
    header_list_ = longer;
  }
  return Set(easy_, CURLOPT_HTTPHEADER, header_list_);
}

absl::Duration CurlTransfer::Due() const {
  if (held()) return absl::InfiniteDuration();
  return std::min(deadline_, idle_since_ + request_.idle_limit);
}

absl::Status CurlTransfer::CheckTime(absl::Duration now) const {
  if (held()) return absl::OkStatus();
  if (now >= deadline_) {
    return absl::DeadlineExceededError(
        Describe(absl::StrCat("not finished within its deadline of ",
                              absl::FormatDuration(request_.deadline),
                              " after ", stats_.body_bytes, " bytes")));
  }
  if (now >= idle_since_ + request_.idle_limit) {
    return absl::DeadlineExceededError(Describe(absl::StrCat(
        "idle limit: fewer than ", request_.idle_bytes, " bytes within ",
        absl::FormatDuration(request_.idle_limit), " after ", stats_.body_bytes,
        " bytes")));
  }
  return absl::OkStatus();
}

void CurlTransfer::CountArrived(int64_t bytes, absl::Duration now) {
  idle_arrived_ += bytes;
  if (idle_arrived_ < request_.idle_bytes) return;
  idle_arrived_ = 0;
  idle_since_ = now;
}

CURLcode CurlTransfer::Resume(absl::Duration now) {
  const absl::Duration held_for = now - held_since_.value_or(now);
  deadline_ += held_for;
  idle_since_ += held_for;
  held_since_.reset();
  return curl_easy_pause(easy_, CURLPAUSE_CONT);
}

size_t CurlTransfer::OnHeaderLine(char* data, size_t size, size_t count,
                                  void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  const absl::string_view line(data, size * count);
  return transfer->TakeHeaderLine(line) ? line.size() : 0;
}

bool CurlTransfer::TakeHeaderLine(absl::string_view line) {
  CountArrived(line.size(), clock_.Monotonic());
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHeadBytes) {
    refused_ = absl::DataLossError(Describe(absl::StrCat(
        "the answer's headers are longer than ", kMaxHeadBytes, " bytes")));
    return false;
  }
  // What comes after the head are the trailers of a chunked body.
  if (head_delivered_) return true;
  line = absl::StripTrailingAsciiWhitespace(line);
  if (line.empty()) {
    refused_ = FinishHead();
    return refused_.ok();
  }
  if (absl::StartsWithIgnoreCase(line, "HTTP/")) {
    head_ = {};
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos) return true;
  const absl::string_view value =
      absl::StripLeadingAsciiWhitespace(line.substr(colon + 1));
  head_.headers.emplace_back(std::string(line.data(), colon),
                             std::string(value.data(), value.size()));
  return true;
}

absl::Status CurlTransfer::FinishHead() {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return absl::OkStatus();
  head_.status = static_cast<int>(status);
  stats_.status = head_.status;
  stats_.time_to_first_byte = clock_.Monotonic() - started_;
  head_delivered_ = true;
  const bool bodiless =
      request_.method == "HEAD" || status == 204 || status == 304;
  int64_t length = 0;
  const auto text = FindHeader(head_.headers, "Content-Length");
  // Lengths of what is chunked or was decoded say nothing.
  if (!bodiless && text && absl::SimpleAtoi(*text, &length) &&
      !FindHeader(head_.headers, "Transfer-Encoding") &&
      !FindHeader(head_.headers, "Content-Encoding")) {
    expected_bytes_ = length;
  }
  return handler_->OnHead(head_);
}

size_t CurlTransfer::OnBodyBytes(char* data, size_t size, size_t count,
                                 void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  const absl::string_view bytes(data, size * count);
  const absl::Duration now = transfer->clock_.Monotonic();
  if (!transfer->bandwidth_.MayDeliver(now)) {
    transfer->held_since_ = now;
    transfer->held_.push_back(transfer->id_);
    return CURL_WRITEFUNC_PAUSE;
  }
  transfer->bandwidth_.Deliver(bytes.size(), now);
  transfer->CountArrived(bytes.size(), now);
  transfer->stats_.body_bytes += bytes.size();
  transfer->refused_ = transfer->handler_->OnBody(bytes);
  return transfer->refused_.ok() ? bytes.size() : 0;
}

void CurlTransfer::Finish(const absl::Status& status, CURLcode code) {
  stats_.total_time = clock_.Monotonic() - started_;
  if (easy_ != nullptr) {
    long connects = 0;
    curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connects);
    stats_.reused_connection = stats_.status != 0 && connects == 0;
  }
  handler_->OnDone(status.ok() ? Verdict(code) : status, stats_);
}

absl::Status CurlTransfer::Verdict(CURLcode code) const {
  if (!refused_.ok()) return refused_;
  if (code == CURLE_OK) return CheckLength();
  if (code == CURLE_COULDNT_CONNECT && !out_of_reach_.ok()) {
    return out_of_reach_;
  }
  const absl::string_view detail =
      error_[0] != '\0' ? error_ : curl_easy_strerror(code);
  return absl::Status(CodeFromCurl(code), Describe(detail));
}

absl::Status CurlTransfer::CheckLength() const {
  if (!head_delivered_) {
    return absl::UnavailableError(Describe("the answer has no head"));
  }
  if (expected_bytes_ && *expected_bytes_ != stats_.body_bytes) {
    return absl::DataLossError(Describe(
        absl::StrCat("got ", stats_.body_bytes, " bytes of the ",
                     *expected_bytes_, " that Content-Length announced")));
  }
  return absl::OkStatus();
}

std::string CurlTransfer::Describe(absl::string_view problem) const {
  return absl::StrCat(request_.method, " ", WithoutQuery(request_.url), ": ",
                      problem);
}

}  // namespace bimbackup::http
