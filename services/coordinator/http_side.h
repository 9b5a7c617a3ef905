// The coordinator's small HTTP side: health, metrics, a status page.

#ifndef SERVICES_COORDINATOR_HTTP_SIDE_H_
#define SERVICES_COORDINATOR_HTTP_SIDE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::coordinator {

// What is served, made anew for each request. Thread-safe functions.
struct HttpPages {
  std::function<bool()> healthy;
  // Prometheus' text format.
  std::function<std::string()> metrics;
  // HTML.
  std::function<std::string()> status;
};

// Runs on threads of its own. Thread-compatible.
class HttpSide {
 public:
  // Takes the port, and serves nothing yet. INVALID_ARGUMENT when `address`
  // (host:port, port 0 takes a free one) is malformed or taken.
  static absl::StatusOr<std::unique_ptr<HttpSide>> Bind(
      absl::string_view address);
  // Stops.
  ~HttpSide();

  // Once.
  void Serve(HttpPages pages);
  // Idempotent.
  void Stop();

  // host:port with the port really taken.
  const std::string& address() const;

 private:
  struct Parts;
  explicit HttpSide(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_HTTP_SIDE_H_
