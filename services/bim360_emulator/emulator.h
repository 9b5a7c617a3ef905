// Autodesk's API on one port: Data Management, OSS, and the storage host
// that signed URLs point to, for tests, the demo and benchmarks.

#ifndef SERVICES_BIM360_EMULATOR_EMULATOR_H_
#define SERVICES_BIM360_EMULATOR_EMULATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/bim360_emulator/account.h"
#include "services/bim360_emulator/credentials.h"
#include "services/bim360_emulator/emulator_options.h"
#include "services/bim360_emulator/faults.h"
#include "services/bim360_emulator/rate_limits.h"
#include "services/bim360_emulator/request_log.h"

namespace bimbackup::bim360_emulator {

// Serves from Start() to Stop() or destruction. In-process tests reach what
// the admin API reaches through the parts below, each of which is
// thread-safe and owned by the emulator.
class Emulator {
 public:
  // INVALID_ARGUMENT for a bad option, NOT_FOUND for a folder that is not
  // there, UNAVAILABLE when the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<Emulator>> Start(
      EmulatorOptions options);
  virtual ~Emulator() = default;

  // "http://127.0.0.1:8360": what clients take instead of Autodesk's host.
  virtual std::string base_url() const = 0;
  virtual const EmulatorOptions& options() const = 0;

  virtual Account& account() = 0;
  virtual Faults& faults() = 0;
  virtual RateLimits& limits() = 0;
  virtual RequestLog& log() = 0;
  virtual SecretLedger& secrets() = 0;
  virtual TokenStore& tokens() = 0;
  virtual ShiftedClock& clock() = 0;
  // Brings a dir: account up to what is on disk; nothing for shapes.
  virtual void Rescan() = 0;

  virtual void Stop() = 0;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_EMULATOR_H_
