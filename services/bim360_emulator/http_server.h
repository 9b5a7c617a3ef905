// A small HTTP/1.1 server that is never the bottleneck of a measurement:
// asynchronous, keep-alive without a limit, bodies of any size without
// keeping them, delays and rates per connection to the microsecond.

#ifndef SERVICES_BIM360_EMULATOR_HTTP_SERVER_H_
#define SERVICES_BIM360_EMULATOR_HTTP_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {

// Serves from Start() to Stop(). Thread-safe.
class HttpServer {
 public:
  // `listen` is address:port; port 0 takes a free one. `handler` outlives
  // the server. INVALID_ARGUMENT for an address that is none, UNAVAILABLE
  // when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& listen, int threads, HttpHandler& handler);

  virtual ~HttpServer() = default;

  // "127.0.0.1:8360", with the port that was taken.
  virtual std::string address() const = 0;

  // Closes the listener and all connections, running answers too, and joins
  // the threads. Answers given afterwards are dropped. Idempotent.
  virtual void Stop() = 0;

  // Connections accepted since the start.
  virtual int64_t connections_accepted() const = 0;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_HTTP_SERVER_H_
