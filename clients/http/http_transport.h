// The HTTP seam: what the rest of the product knows about HTTP. The libcurl
// engine behind it is CurlTransport; tests use FakeTransport.

#ifndef CLIENTS_HTTP_HTTP_TRANSPORT_H_
#define CLIENTS_HTTP_HTTP_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace bimbackup::http {

// Name and value; names are compared without regard to case.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The value of the first header called `name`, or nothing.
std::optional<absl::string_view> FindHeader(const Headers& headers,
                                            absl::string_view name);

// Which machines a request may end up at, whatever its host's name resolves
// to. Where a proxy of the environment is used, the proxy resolves the name,
// and its own rules hold.
enum class Reach { kAnywhere, kPublic, kLoopback };

// What a transfer asks for. A value.
struct Request {
  std::string method = "GET";
  // Sent byte for byte. May hold a signature: log WithoutQuery(url) only.
  std::string url;
  Headers headers;
  std::string body;
  // Of a URL that came from outside: see HostPolicy::Admit.
  Reach reach = Reach::kAnywhere;

  // From start to connected, name resolution and TLS included.
  absl::Duration connect_timeout = absl::Seconds(15);
  // From start to end of the whole transfer; time in which a bandwidth cap
  // of ours holds it back is not counted.
  absl::Duration deadline = absl::Minutes(2);
  // The longest time in which fewer than `idle_bytes` bytes arrive, time to
  // the first byte included; held back by us does not count either.
  absl::Duration idle_limit = absl::Seconds(30);
  int64_t idle_bytes = 1;
  // Use no kept connection: after an error on one.
  bool fresh_connection = false;
  // Requests of one group run on one thread, those of the next on another
  // where there are several. 0 for a request by itself.
  uint64_t group = 0;
};

// Status line and headers of an answer.
struct ResponseHead {
  int status = 0;
  Headers headers;
};

// What a transfer was like, for metrics and for the record of attempts.
struct TransferStats {
  // HTTP status; 0 where no answer came.
  int status = 0;
  // Body bytes received.
  int64_t body_bytes = 0;
  absl::Duration time_to_first_byte;
  absl::Duration total_time;
  bool reused_connection = false;
};

// Receives one transfer. Its methods are called one at a time, on a thread of
// the transport's, and must not block for long (a write to the page cache is
// fine, a wait for another transfer is not). Owned by the transport from
// Start() until OnDone() has returned.
class ResponseHandler {
 public:
  virtual ~ResponseHandler() = default;

  // The final answer's head (not 1xx). A status that is not OK ends the
  // transfer with it; no body byte is then delivered.
  virtual absl::Status OnHead(const ResponseHead& head) = 0;

  // The next bytes of the body, in order, valid during the call. A status
  // that is not OK ends the transfer with it.
  virtual absl::Status OnBody(absl::string_view bytes) = 0;

  // Called exactly once, last. OK when the whole answer arrived (whatever
  // its HTTP status) and its length agrees with Content-Length. Else
  // UNAVAILABLE (cannot resolve or connect, reset, server gone),
  // DEADLINE_EXCEEDED (deadline, idle limit; the message says which),
  // DATA_LOSS (the body is shorter than announced), CANCELLED, the status of
  // OnHead or OnBody, INVALID_ARGUMENT (malformed URL, forbidden scheme), or
  // PERMISSION_DENIED (the host is beyond the request's reach).
  virtual void OnDone(const absl::Status& status,
                      const TransferStats& stats) = 0;
};

// Names a started transfer, for Cancel(). Never reused.
using TransferId = uint64_t;

// Moves bytes over HTTP. Thread-safe. Follows no redirect, decodes no
// content encoding it did not ask for, speaks HTTP/1.1. Limits nothing: the
// caller starts no more than it wants to run at once. Destruction cancels
// what runs and returns after every OnDone().
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Starts a transfer; returns at once.
  virtual TransferId Start(Request request,
                           std::unique_ptr<ResponseHandler> handler) = 0;

  // Ends a transfer with CANCELLED, soon. No effect once it has ended.
  virtual void Cancel(TransferId id) = 0;
};

// A whole answer in memory.
struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

// Starts `request` and waits for its whole answer, of any HTTP status.
// RESOURCE_EXHAUSTED when the body is longer than `max_body_bytes`, else as
// ResponseHandler::OnDone. Not to be called on a transport's own thread.
// `on_started`, where given, is called with the transfer's id before the
// wait, for a caller that may want to cancel it from another thread.
absl::StatusOr<Response> Fetch(
    HttpTransport& transport, Request request, int64_t max_body_bytes,
    const std::function<void(TransferId)>& on_started = nullptr);

// The status that stands for an HTTP status: OK for 2xx, else by the table
// of ARCHITECTURE.md (401 UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 and 410
// NOT_FOUND, 412 and 304 FAILED_PRECONDITION, 416 OUT_OF_RANGE, 408, 429 and
// 5xx UNAVAILABLE, other 4xx INVALID_ARGUMENT). `what` starts the message.
absl::Status StatusFromHttp(int http_status, absl::string_view what);

// How long a Retry-After header asks to wait: seconds or an HTTP date
// relative to `now`, kept within 1 and 600 seconds. Nothing when it is
// neither.
std::optional<absl::Duration> ParseRetryAfter(absl::string_view value,
                                              absl::Time now);

// A parsed Content-Range of a 206: the inclusive range and, unless it was
// `*`, the total.
struct ContentRange {
  int64_t first = 0;
  int64_t last = 0;
  std::optional<int64_t> total;
};

// Parses "bytes 0-99/1000"; nothing when malformed or contradictory.
std::optional<ContentRange> ParseContentRange(absl::string_view value);

// An absolute http or https URL, taken apart without decoding.
struct Url {
  // "http" or "https".
  std::string scheme;
  // Lower case, without port; an IPv6 address without its brackets.
  std::string host;
  // The scheme's default where none is given.
  int port = 0;
  // From the first slash on, query included; at least "/".
  std::string target;
};

// INVALID_ARGUMENT for anything but an absolute http or https URL, for user
// information in it, and for control characters. The message holds no query.
absl::StatusOr<Url> ParseUrl(absl::string_view url);

// Resolves an absolute URL, "/path" or "path" against `base` (an absolute
// URL): the three forms in which Autodesk writes links. "path" counts from
// the host's root, not from the base's folder. INVALID_ARGUMENT when the
// result is no URL.
absl::StatusOr<std::string> ResolveUrl(absl::string_view base,
                                       absl::string_view reference);

// Percent-encodes everything but unreserved characters, so that the result
// is one path segment or query value.
std::string PercentEncode(absl::string_view text);

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_HTTP_TRANSPORT_H_
