// The coordinator, whole: the one place that names concrete classes.

#ifndef SERVICES_COORDINATOR_SERVER_H_
#define SERVICES_COORDINATOR_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/coordinator/options.h"

namespace bimbackup::coordinator {

// Thread-compatible.
class CoordinatorServer {
 public:
  // Opens storage and catalog, takes up a backup that was running, listens.
  // Everything is checked before anything is written. Errors say, in one
  // line, what is wrong with the configuration.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Start(
      const Options& options);

  // Stops.
  ~CoordinatorServer();

  // Reports NOT_SERVING, grants no more leases, ends within seconds. A
  // running backup goes on when the next process starts. Idempotent.
  void Stop();

  // host:port with the ports really taken; the latter is empty where there
  // is no HTTP side.
  const std::string& address() const;
  const std::string& http_address() const;

 private:
  struct Parts;
  explicit CoordinatorServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_SERVER_H_
