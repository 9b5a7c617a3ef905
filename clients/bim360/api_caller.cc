#include "clients/bim360/api_caller.h"

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/answers.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

// How often one call may be answered 429. Each waits as long as it was told
// to; other applications may share the client id.
constexpr int kMaxThrottled = 20;
// The pause where a 429 does not say how long.
constexpr absl::Duration kDefaultPause = absl::Seconds(10);
// How long a call may wait for its turn: longer than any queue that the
// published rates can need for the calls that run at once.
constexpr absl::Duration kMaxTurnWait = absl::Hours(1);

absl::Status Cancelled() {
  return absl::CancelledError("the call to Autodesk was cancelled");
}

bool IsTransient(const absl::Status& transport_error) {
  return absl::IsUnavailable(transport_error) ||
         absl::IsDeadlineExceeded(transport_error) ||
         absl::IsDataLoss(transport_error);
}

}  // namespace

ApiCaller::ApiCaller(const Backoff& backoff, http::HttpTransport& transport,
                     ApiLimiter& limiter, Clock& clock, Random& random)
    : backoff_(backoff),
      transport_(transport),
      limiter_(limiter),
      clock_(clock),
      random_(random) {}

absl::StatusOr<http::Response> ApiCaller::Send(const ApiCall& call,
                                               BearerSource* bearer) {
  int attempt = 1;
  int throttled = 0;
  bool fresh = false;
  for (;;) {
    Outcome outcome = Attempt(call, bearer, fresh);
    if (!outcome.retry) return std::move(outcome.response);
    const bool last = outcome.throttled ? ++throttled > kMaxThrottled
                                        : attempt >= backoff_.max_attempts;
    if (last) {
      const absl::Status& status = outcome.response.status();
      return absl::UnavailableError(
          absl::StrCat(status.message(), "; given up after ",
                       attempt + throttled, " attempts"));
    }
    if (outcome.throttled) continue;
    fresh = true;
    ABSL_RETURN_IF_ERROR(WaitBeforeRetry(attempt++, call.cancel));
  }
}

ApiCaller::Outcome ApiCaller::Attempt(const ApiCall& call, BearerSource* bearer,
                                      bool fresh) {
  // Twice at most: the second time with a new token after a 401.
  for (bool renewed = false;; renewed = true) {
    Secret token;
    if (bearer != nullptr) {
      absl::StatusOr<Secret> got = bearer->Get(call.cancel);
      if (!got.ok()) return {got.status()};
      token = *std::move(got);
    }
    const absl::StatusOr<ApiLimiter::Turn> turn = limiter_.Acquire(
        call.endpoint_class, clock_.Monotonic() + kMaxTurnWait, call.cancel);
    if (!turn.ok()) return {turn.status()};
    absl::StatusOr<http::Response> response = Fetch(call, token, fresh);
    if (!response.ok()) {
      const absl::Status& status = response.status();
      const absl::Status error(absl::IsResourceExhausted(status)
                                   ? absl::StatusCode::kDataLoss
                                   : status.code(),
                               absl::StrCat(call.what, ": ", status.message()));
      return {error, IsTransient(status)};
    }
    NoteDate(*response);
    if (response->status == 401 && bearer != nullptr && !renewed) {
      bearer->Invalidate(token);
      continue;
    }
    return Classify(call, *std::move(response), token);
  }
}

ApiCaller::Outcome ApiCaller::Classify(const ApiCall& call,
                                       http::Response response,
                                       const Secret& token) {
  const absl::Status status = http::StatusFromHttp(response.status, call.what);
  if (status.ok()) return {std::move(response)};
  std::string detail = ParseErrorBody(response.body);
  // A server that quotes the token must not bring it, or the part of it that
  // fits, into a log.
  if (!token.empty() && absl::StrContains(response.body, token.Reveal())) {
    detail.clear();
  }
  const absl::Status error(
      status.code(),
      absl::StrCat(status.message(), detail.empty() ? "" : " ", detail));
  const bool throttled = response.status == 429;
  // A 503 may say how long to stay away, too.
  if (throttled || (response.status == 503 &&
                    http::FindHeader(response.headers, "Retry-After"))) {
    Throttle(call, response);
  }
  return {error, absl::IsUnavailable(error), throttled};
}

absl::StatusOr<http::Response> ApiCaller::Fetch(const ApiCall& call,
                                                const Secret& token,
                                                bool fresh) {
  http::Request request = call.request;
  request.fresh_connection = fresh;
  if (!token.empty()) {
    request.headers.emplace_back("Authorization",
                                 absl::StrCat("Bearer ", token.Reveal()));
  }
  // Of what is to be logged, if at all.
  std::string line;
  if (spdlog::should_log(spdlog::level::debug)) {
    line = absl::StrCat(request.method, " ", WithoutQuery(request.url));
  }
  const absl::Duration start = clock_.Monotonic();
  http::TransferId running = 0;
  std::optional<std::stop_callback<std::function<void()>>> on_cancel;
  absl::StatusOr<http::Response> response = http::Fetch(
      transport_, std::move(request), call.max_body_bytes,
      [&](http::TransferId id) {
        running = id;
        on_cancel.emplace(call.cancel, [this, id] { transport_.Cancel(id); });
        MutexLock lock(mutex_);
        running_.insert(id);
        if (cancelled_) transport_.Cancel(id);
      });
  on_cancel.reset();
  if (!line.empty()) {
    spdlog::debug("{}: {} in {} ms", line,
                  response.ok() ? absl::StrCat("HTTP ", response->status)
                                : response.status().ToString(),
                  absl::ToInt64Milliseconds(clock_.Monotonic() - start));
  }
  MutexLock lock(mutex_);
  running_.erase(running);
  if (cancelled_ || call.cancel.stop_requested()) return Cancelled();
  return response;
}

void ApiCaller::Throttle(const ApiCall& call, const http::Response& response) {
  const auto header = http::FindHeader(response.headers, "Retry-After");
  std::optional<absl::Duration> pause;
  if (header) pause = http::ParseRetryAfter(*header, clock_.Now());
  const absl::Duration wait = pause.value_or(kDefaultPause);
  spdlog::info("Autodesk's API asks for a pause of {} for {} calls (HTTP {})",
               absl::FormatDuration(wait),
               EndpointClassName(call.endpoint_class), response.status);
  limiter_.Pause(call.endpoint_class, wait);
}

void ApiCaller::NoteDate(const http::Response& response) {
  const auto header = http::FindHeader(response.headers, "Date");
  if (!header) return;
  MutexLock lock(mutex_);
  // All answers of a second bear the same, and reading it takes long.
  if (date_text_.empty() || *header != date_text_) {
    if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", *header, &date_,
                         nullptr)) {
      return;
    }
    date_text_ = std::string(header->data(), header->size());
  }
  clock_skew_ = date_ - clock_.Now();
}

absl::Status ApiCaller::WaitBeforeRetry(int attempt,
                                        const std::stop_token& cancel) {
  const absl::Duration until =
      clock_.Monotonic() + backoff_.Delay(attempt, random_);
  const std::stop_callback wake(cancel, [this] {
    MutexLock lock(mutex_);
    changed_.NotifyAll();
  });
  MutexLock lock(mutex_);
  while (!cancelled_ && !cancel.stop_requested() &&
         clock_.WaitUntil(mutex_, changed_, until)) {
  }
  return cancelled_ || cancel.stop_requested() ? Cancelled() : absl::OkStatus();
}

std::optional<absl::Duration> ApiCaller::ClockSkew() const {
  MutexLock lock(mutex_);
  return clock_skew_;
}

void ApiCaller::Cancel() {
  std::set<http::TransferId> running;
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
    running = running_;
    changed_.NotifyAll();
  }
  for (const http::TransferId id : running) transport_.Cancel(id);
}

}  // namespace bimbackup::bim360
