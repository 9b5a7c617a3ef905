// Sends single calls to Autodesk's API. Internal to this folder.

#ifndef CLIENTS_BIM360_API_CALLER_H_
#define CLIENTS_BIM360_API_CALLER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/api_limiter.h"
#include "clients/http/http_transport.h"
#include "services/common/backoff.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"
#include "services/common/secret.h"

namespace bimbackup::bim360 {

// One call. A value.
struct ApiCall {
  // What an error or log line calls it: "list folder contents".
  std::string what;
  EndpointClass endpoint_class = EndpointClass::kFolders;
  http::Request request;
  // The longest answer, decompressed. A page of 200 entries takes 600 KB.
  int64_t max_body_bytes = 16 << 20;
  // Ends it, wherever it waits, with CANCELLED.
  std::stop_token cancel;
};

// Where a call's bearer token comes from. Thread-safe.
class BearerSource {
 public:
  virtual ~BearerSource() = default;
  // CANCELLED as soon as a stop is requested of `cancel`.
  virtual absl::StatusOr<Secret> Get(const std::stop_token& cancel) = 0;
  // The server refused this token with 401: the next Get() brings another.
  virtual void Invalidate(const Secret& token) = 0;
};

// Takes the limiter's turn, sends, classes the answer, retries within bounds:
// 408, 5xx and transport errors with full jitter on a fresh connection, 429
// after pausing its class for everybody, 401 once with a new token.
// Thread-safe; everything passed in outlives it.
class ApiCaller {
 public:
  ApiCaller(const Backoff& backoff, http::HttpTransport& transport,
            ApiLimiter& limiter, Clock& clock, Random& random);

  // The 2xx answer, or an error as Bim360Client describes them. `bearer` may
  // be null, for the call that fetches a token.
  absl::StatusOr<http::Response> Send(const ApiCall& call,
                                      BearerSource* bearer);

  // See Bim360Client. Leaves the limiter alone.
  std::optional<absl::Duration> ClockSkew() const;
  void Cancel();

 private:
  // What one attempt came to.
  struct Outcome {
    absl::StatusOr<http::Response> response;
    bool retry = false;
    // Answered 429: its class pauses, and the attempt does not count.
    bool throttled = false;
  };

  Outcome Attempt(const ApiCall& call, BearerSource* bearer, bool fresh);
  Outcome Classify(const ApiCall& call, http::Response response,
                   const Secret& token);
  // One attempt with one token.
  absl::StatusOr<http::Response> Fetch(const ApiCall& call, const Secret& token,
                                       bool fresh);
  void Throttle(const ApiCall& call, const http::Response& response);
  void NoteDate(const http::Response& response);
  absl::Status WaitBeforeRetry(int attempt, const std::stop_token& cancel);

  const Backoff backoff_;
  http::HttpTransport& transport_;
  ApiLimiter& limiter_;
  Clock& clock_;
  Random& random_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<http::TransferId> running_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Duration> clock_skew_ ABSL_GUARDED_BY(mutex_);
  // The latest Date header that could be read, and what it says.
  std::string date_text_ ABSL_GUARDED_BY(mutex_);
  absl::Time date_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_API_CALLER_H_
