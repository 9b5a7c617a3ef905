// What the handlers of the API share, and what they are given per request.

#ifndef SERVICES_BIM360_EMULATOR_API_CONTEXT_H_
#define SERVICES_BIM360_EMULATOR_API_CONTEXT_H_

#include <optional>
#include <string>

#include "services/bim360_emulator/account.h"
#include "services/bim360_emulator/credentials.h"
#include "services/bim360_emulator/emulator_options.h"
#include "services/bim360_emulator/endpoint.h"
#include "services/bim360_emulator/faults.h"
#include "services/bim360_emulator/http_message.h"
#include "services/bim360_emulator/rate_limits.h"
#include "services/bim360_emulator/request_log.h"
#include "services/bim360_emulator/work_queue.h"

namespace bimbackup::bim360_emulator {

class DirectorySource;

// Owned by the Emulator; outlives every handler. Each part is thread-safe.
struct ApiParts {
  const EmulatorOptions& options;
  Account& account;
  ShiftedClock& clock;
  TokenStore& tokens;
  UrlSigner& signer;
  SecretLedger& ledger;
  RateLimits& limits;
  Faults& faults;
  RequestLog& log;
  WorkQueue& work;
  // Null unless the account is a folder on disk.
  DirectorySource* directory = nullptr;
};

// One request on its way.
struct ApiRequest {
  HttpRequest http;
  Route route;
  // Scheme and host for hrefs.
  std::string base;
  std::optional<FaultAction> fault;

  bool HasFault(FaultType type) const {
    return fault.has_value() && fault->type == type;
  }
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_API_CONTEXT_H_
