// The coordinator's small HTTP side: health, metrics, a status page.

#ifndef SERVICES_COORDINATOR_HTTP_SIDE_H_
#define SERVICES_COORDINATOR_HTTP_SIDE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/common/rpc/security.h"

namespace httplib {
class Server;
}  // namespace httplib

namespace bimbackup::coordinator {

// What is served, made anew for each request. Thread-safe functions.
struct HttpPages {
  std::function<bool()> healthy;
  // What the running backup waits for; empty where it does not.
  std::function<std::string()> pause;
  // Prometheus' text format.
  std::function<std::string()> metrics;
  // HTML.
  std::function<std::string()> status;
};

// Runs on threads of its own. Thread-compatible.
class HttpSide {
 public:
  // Takes the port, and serves nothing yet. INVALID_ARGUMENT when `address`
  // (host:port, port 0 takes a free one) is malformed or taken, or `security`
  // does not let us listen on it. With TLS it serves https, and asks for no
  // certificate.
  static absl::StatusOr<std::unique_ptr<HttpSide>> Bind(
      absl::string_view address, const rpc::Security& security = {});
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

  static std::unique_ptr<httplib::Server> MakeServer(
      const rpc::Security& security, Parts& parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_HTTP_SIDE_H_
