#include "services/bim360_emulator/error_responses.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/json_writer.h"

namespace bimbackup::bim360_emulator {

HttpResponse JsonResponse(std::string body, int status) {
  HttpResponse response;
  response.status = status;
  response.headers.emplace_back("Content-Type", "application/json");
  response.body = std::move(body);
  return response;
}

HttpResponse GatewayError(int status, absl::string_view code,
                          absl::string_view message) {
  JsonWriter json;
  json.BeginObject().Field("developerMessage", message);
  json.Field("userMessage", "").Field("errorCode", code);
  json.Field("more info",
             "https://aps.autodesk.com/en/docs/oauth/v2/developers_guide/"
             "error_handling/");
  return JsonResponse(json.EndObject().Take(), status);
}

HttpResponse DataError(int status, absl::string_view code,
                       absl::string_view detail) {
  JsonWriter json;
  json.BeginObject().Key("jsonapi").BeginObject();
  json.Field("version", "1.0").EndObject();
  json.Key("errors").BeginArray().BeginObject();
  json.Field("id", "3c6d0f4a-7f5e-4c0b-9b5c-2f1f0c9f8a11");
  json.Field("status", absl::StrCat(status)).Field("code", code);
  json.Field("detail", detail);
  json.EndObject().EndArray().EndObject();
  return JsonResponse(json.Take(), status);
}

HttpResponse ObjectError(int status, absl::string_view reason) {
  JsonWriter json;
  json.BeginObject().Field("reason", reason).EndObject();
  return JsonResponse(json.Take(), status);
}

HttpResponse StorageError(int status, absl::string_view code,
                          absl::string_view message, absl::string_view more) {
  HttpResponse response;
  response.status = status;
  response.headers.emplace_back("Content-Type", "application/xml");
  response.body = absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>", code,
      "</Code><Message>", message, "</Message>", more,
      "<RequestId>EMULATOR</RequestId><HostId>emulator</HostId></Error>");
  return response;
}

}  // namespace bimbackup::bim360_emulator
