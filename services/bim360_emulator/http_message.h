// An HTTP request and answer as the emulator's handlers see them.

#ifndef SERVICES_BIM360_EMULATOR_HTTP_MESSAGE_H_
#define SERVICES_BIM360_EMULATOR_HTTP_MESSAGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/bim360_emulator/content.h"

namespace bimbackup::bim360_emulator {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  // As sent: path and query, still encoded.
  std::string target;
  HttpHeaders headers;
  std::string body;

  // The first header of this name, whatever its case; empty without one.
  absl::string_view Header(absl::string_view name) const;
  absl::string_view Path() const;
  // Without the question mark; empty without a query.
  absl::string_view Query() const;
  // The decoded value of a query parameter, empty when absent. Its name is
  // given decoded, too.
  std::string Parameter(absl::string_view name) const;
};

// How an answer travels. The default: at once, whole, as fast as it goes.
struct Delivery {
  enum class End {
    kComplete,
    kStall,  // Nothing more, until the client closes.
    kReset,  // The connection is reset.
    kClose,  // The connection is closed in order.
  };

  // Before the first byte of the head.
  absl::Duration delay = absl::ZeroDuration();
  // Of the body; 0 for as fast as it goes.
  int64_t bytes_per_second = 0;
  // Other ends than kComplete come after so many bytes of the body; below
  // zero they come before the head.
  End end = End::kComplete;
  int64_t end_after = -1;
  // The byte of the body to alter; none below zero.
  int64_t corrupt_at = -1;
  // Sends the body with chunked transfer coding instead of a length.
  bool chunked_coding = false;
};

struct HttpResponse {
  int status = 200;
  // Without Content-Length and Date, which the server adds.
  HttpHeaders headers;
  // The body is `body`, or, where `content` is set, `length` bytes of that
  // from `offset` on.
  std::string body;
  std::shared_ptr<const Content> content;
  int64_t offset = 0;
  int64_t length = 0;
  Delivery delivery;

  int64_t BodySize() const { return content == nullptr ? body.size() : length; }
};

// Takes the answer; called once, from any thread.
using Responder = std::function<void(HttpResponse)>;

// What a server asks for its answers. Called from several threads at once;
// must not block.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual void Handle(HttpRequest request, Responder respond) = 0;
};

// Percent-decodes; a stray percent sign stays as it is.
std::string UrlDecode(absl::string_view text);
// Percent-encodes everything but unreserved characters.
std::string UrlEncode(absl::string_view text);
// The decoded value of `name` in a query or form body; empty when absent.
std::string FormValue(absl::string_view form, absl::string_view name);

// "Tue, 01 Dec 2026 01:07:08 GMT".
std::string HttpDate(absl::Time time);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_HTTP_MESSAGE_H_
