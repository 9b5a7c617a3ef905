#include "services/bim360_emulator/authentication.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/error_responses.h"
#include "services/bim360_emulator/json_writer.h"

namespace bimbackup::bim360_emulator {
namespace {

struct ClientCredentials {
  std::string id;
  std::string secret;
};

// Nothing for a header that is no Basic one.
std::optional<ClientCredentials> FromHeader(absl::string_view header) {
  std::string decoded;
  if (!absl::ConsumePrefix(&header, "Basic ") ||
      !absl::Base64Unescape(header, &decoded)) {
    return std::nullopt;
  }
  const size_t colon = decoded.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return ClientCredentials{decoded.substr(0, colon), decoded.substr(colon + 1)};
}

}  // namespace

HttpResponse HandleToken(ApiParts& parts, const ApiRequest& request) {
  const HttpRequest& http = request.http;
  if (!absl::StartsWithIgnoreCase(http.Header("Content-Type"),
                                  "application/x-www-form-urlencoded")) {
    return GatewayError(400, "AUTH-400",
                        "The content type is not form-urlencoded.");
  }
  const absl::string_view header = http.Header("Authorization");
  ClientCredentials given{FormValue(http.body, "client_id"),
                          FormValue(http.body, "client_secret")};
  if (!header.empty()) {
    if (!given.id.empty() || !given.secret.empty()) {
      return GatewayError(400, "AUTH-008",
                          "The 'client_id' is not supported in the request "
                          "body when Authorization headers are present");
    }
    const std::optional<ClientCredentials> basic = FromHeader(header);
    if (!basic.has_value()) {
      return GatewayError(401, "AUTH-003", "The header is not Basic.");
    }
    given = *basic;
  }
  if (FormValue(http.body, "grant_type") != "client_credentials") {
    return GatewayError(400, "AUTH-002", "The 'grant_type' is not supported.");
  }
  if (given.id != parts.options.client_id ||
      given.secret != parts.options.client_secret) {
    return GatewayError(401, "AUTH-003",
                        "The client_id or client_secret is not valid.");
  }
  const std::string scope = FormValue(http.body, "scope");
  if (!absl::StrContains(scope, ":")) {
    return GatewayError(400, "AUTH-010", "The 'scope' is invalid.");
  }
  JsonWriter json;
  json.BeginObject().Field(
      "access_token", parts.tokens.Issue(parts.options.token_lifetime, scope));
  json.Field("token_type", "Bearer");
  json.IntField("expires_in",
                absl::ToInt64Seconds(parts.options.token_lifetime));
  return JsonResponse(json.EndObject().Take());
}

std::optional<HttpResponse> RefuseUnauthorized(const ApiParts& parts,
                                               const ApiRequest& request) {
  absl::string_view token = request.http.Header("Authorization");
  if (!absl::ConsumePrefix(&token, "Bearer ")) {
    return GatewayError(401, "ID-AUTH-004", "The request has no access token.");
  }
  switch (parts.tokens.Check(token, "data:read")) {
    case TokenStore::Verdict::kGood:
      return std::nullopt;
    case TokenStore::Verdict::kUnknownOrExpired:
      return GatewayError(401, "ID-AUTH-005",
                          "Access token provided is invalid or expired.");
    case TokenStore::Verdict::kLacksScope:
      break;
  }
  return GatewayError(403, "ID-AUTH-010",
                      "Token does not have the privilege for this request.");
}

}  // namespace bimbackup::bim360_emulator
