// The token endpoint, and the check of what it gave out.

#ifndef SERVICES_BIM360_EMULATOR_AUTHENTICATION_H_
#define SERVICES_BIM360_EMULATOR_AUTHENTICATION_H_

#include <optional>

#include "services/bim360_emulator/api_context.h"

namespace bimbackup::bim360_emulator {

// POST /authentication/v2/token, for client_credentials only.
HttpResponse HandleToken(ApiParts& parts, const ApiRequest& request);

// The refusal of a request whose bearer token is missing, unknown, expired
// or without the scope data:read; nothing when it is good.
std::optional<HttpResponse> RefuseUnauthorized(const ApiParts& parts,
                                               const ApiRequest& request);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_AUTHENTICATION_H_
