// The file-scan server: the one place that puts its parts together.

#ifndef SERVICES_FILE_SCAN_SERVER_H_
#define SERVICES_FILE_SCAN_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/file_scan/options.h"

namespace bimbackup::file_scan {

// Serves from Start() until it is destroyed. Thread-safe.
class Server {
 public:
  // INVALID_ARGUMENT or NOT_FOUND for an option that cannot be used.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options);

  virtual ~Server() = default;

  // host:port with the port really taken, or the unix address.
  virtual const std::string& address() const = 0;

  // Takes no more calls, cancels those that still run after `grace`, returns
  // when all have ended. Idempotent.
  virtual void Shutdown(absl::Duration grace) = 0;
};

}  // namespace bimbackup::file_scan

#endif  // SERVICES_FILE_SCAN_SERVER_H_
