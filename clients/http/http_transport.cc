#include "clients/http/http_transport.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::http {
namespace {

// What is made ready for a body that is announced, but may never come.
constexpr int64_t kMaxReservedBytes = 1 << 20;

std::optional<int64_t> ParseDigits(absl::string_view text) {
  int64_t value = 0;
  if (text.empty() ||
      !std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &value)) {
    return std::nullopt;
  }
  return value;
}

// What a fetch and its handler share; the handler may outlive the fetch.
struct FetchState {
  Mutex mutex;
  CondVar changed;
  bool done ABSL_GUARDED_BY(mutex) = false;
  absl::Status status ABSL_GUARDED_BY(mutex);
  Response response ABSL_GUARDED_BY(mutex);
};

class FetchHandler : public ResponseHandler {
 public:
  FetchHandler(std::shared_ptr<FetchState> state, int64_t max_body_bytes)
      : state_(std::move(state)), max_body_bytes_(max_body_bytes) {}

  absl::Status OnHead(const ResponseHead& head) override {
    response_.status = head.status;
    response_.headers = head.headers;
    const auto length = FindHeader(head.headers, "Content-Length");
    response_.body.reserve(
        std::min(ParseDigits(length.value_or("")).value_or(0),
                 std::min(max_body_bytes_, kMaxReservedBytes)));
    return absl::OkStatus();
  }

  absl::Status OnBody(absl::string_view bytes) override {
    if (response_.body.size() + bytes.size() > max_body_bytes_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the answer is longer than ", max_body_bytes_, " bytes"));
    }
    response_.body.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }

  void OnDone(const absl::Status& status, const TransferStats&) override {
    {
      MutexLock lock(state_->mutex);
      state_->done = true;
      state_->status = status;
      state_->response = std::move(response_);
    }
    // Whoever wakes finds the mutex free.
    state_->changed.NotifyAll();
  }

 private:
  const std::shared_ptr<FetchState> state_;
  const int64_t max_body_bytes_;
  Response response_;
};

absl::StatusCode CodeFromHttp(int http_status) {
  switch (http_status) {
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
    case 410:
      return absl::StatusCode::kNotFound;
    case 304:
    case 412:
      return absl::StatusCode::kFailedPrecondition;
    case 416:
      return absl::StatusCode::kOutOfRange;
    case 408:
    case 429:
      return absl::StatusCode::kUnavailable;
    default:
      return http_status >= 500 ? absl::StatusCode::kUnavailable
                                : absl::StatusCode::kInvalidArgument;
  }
}

}  // namespace

std::optional<absl::string_view> FindHeader(const Headers& headers,
                                            absl::string_view name) {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return absl::string_view(value);
  }
  return std::nullopt;
}

absl::StatusOr<Response> Fetch(
    HttpTransport& transport, Request request, int64_t max_body_bytes,
    const std::function<void(TransferId)>& on_started) {
  // The transport keeps the request's deadline itself; this one only keeps a
  // caller from waiting for ever on a transport that is broken or throttled.
  SystemClock clock;
  const absl::Duration give_up =
      clock.Monotonic() + 2 * request.deadline + absl::Minutes(1);
  auto state = std::make_shared<FetchState>();
  const TransferId id =
      transport.Start(std::move(request),
                      std::make_unique<FetchHandler>(state, max_body_bytes));
  if (on_started) on_started(id);
  MutexLock lock(state->mutex);
  while (!state->done) {
    if (!clock.WaitUntil(state->mutex, state->changed, give_up)) {
      transport.Cancel(id);
      return absl::DeadlineExceededError("the transport did not answer");
    }
  }
  if (!state->status.ok()) return state->status;
  return std::move(state->response);
}

absl::Status StatusFromHttp(int http_status, absl::string_view what) {
  if (http_status >= 200 && http_status < 300) return absl::OkStatus();
  const bool redirect =
      http_status >= 300 && http_status < 400 && http_status != 304;
  return absl::Status(
      CodeFromHttp(http_status),
      absl::StrCat(what, ": HTTP ", http_status,
                   redirect ? ", a redirect, which we do not follow" : ""));
}

std::optional<absl::Duration> ParseRetryAfter(absl::string_view value,
                                              absl::Time now) {
  value = absl::StripAsciiWhitespace(value);
  absl::Duration wait;
  if (!value.empty() &&
      std::all_of(value.begin(), value.end(), absl::ascii_isdigit)) {
    // More digits than fit are a long wait, too.
    wait = absl::Seconds(ParseDigits(value).value_or(600));
  } else {
    absl::Time date;
    if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", value, &date, nullptr)) {
      return std::nullopt;
    }
    wait = date - now;
  }
  return std::clamp(wait, absl::Seconds(1), absl::Seconds(600));
}

std::optional<ContentRange> ParseContentRange(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (!absl::StartsWithIgnoreCase(value, "bytes ")) return std::nullopt;
  value.remove_prefix(6);
  const size_t dash = value.find('-');
  const size_t slash = value.find('/');
  if (dash == absl::string_view::npos || slash == absl::string_view::npos ||
      dash > slash) {
    return std::nullopt;
  }
  const auto first = ParseDigits(value.substr(0, dash));
  const auto last = ParseDigits(value.substr(dash + 1, slash - dash - 1));
  if (!first || !last || *first > *last) return std::nullopt;
  ContentRange range{*first, *last, std::nullopt};
  if (value.substr(slash + 1) != "*") {
    range.total = ParseDigits(value.substr(slash + 1));
    if (!range.total || *last >= *range.total) return std::nullopt;
  }
  return range;
}

}  // namespace bimbackup::http
