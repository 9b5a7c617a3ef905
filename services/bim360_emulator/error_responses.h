// Errors in the shapes of Autodesk's gateway, data services, object storage,
// and of S3.

#ifndef SERVICES_BIM360_EMULATOR_ERROR_RESPONSES_H_
#define SERVICES_BIM360_EMULATOR_ERROR_RESPONSES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {

// An answer with a JSON body.
HttpResponse JsonResponse(std::string body, int status = 200);

// {"developerMessage", "userMessage", "errorCode", "more info"}.
HttpResponse GatewayError(int status, absl::string_view code,
                          absl::string_view message);

// {"jsonapi", "errors": [...]}.
HttpResponse DataError(int status, absl::string_view code,
                       absl::string_view detail);

// {"reason"}.
HttpResponse ObjectError(int status, absl::string_view reason);

// <Error><Code/><Message/>...</Error>; `more` is XML put behind the message.
HttpResponse StorageError(int status, absl::string_view code,
                          absl::string_view message,
                          absl::string_view more = "");

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ERROR_RESPONSES_H_
