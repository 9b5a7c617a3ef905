#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/http/http_transport.h"
#include "services/common/excerpt.h"
#include "services/common/secret.h"
#include "services/common/status_macros.h"

namespace bimbackup::http {
namespace {

absl::Status BadUrl(absl::string_view url, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "not a usable URL: ", Excerpt(absl::CHexEscape(WithoutQuery(url))), ": ",
      why));
}

bool IsPlain(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > 0x20 && c != 0x7f; });
}

// As long as a name in DNS can be.
constexpr size_t kMaxHostBytes = 253;

bool IsHostName(absl::string_view host) {
  return host.size() <= kMaxHostBytes &&
         std::all_of(host.begin(), host.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
         });
}

bool IsIpv6(absl::string_view host) {
  return host.size() <= kMaxHostBytes && absl::StrContains(host, ':') &&
         std::all_of(host.begin(), host.end(), [](unsigned char c) {
           return absl::ascii_isxdigit(c) || c == ':' || c == '.';
         });
}

// Takes "host", "host:port", "[address]" or "[address]:port" apart.
bool ParseAuthority(absl::string_view authority, Url& url) {
  absl::string_view port;
  bool valid = false;
  if (absl::ConsumePrefix(&authority, "[")) {
    const size_t end = authority.find(']');
    if (end == absl::string_view::npos) return false;
    port = authority.substr(end + 1);
    authority = authority.substr(0, end);
    valid = IsIpv6(authority);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    port = authority.substr(colon);
    authority = authority.substr(0, colon);
    valid = !authority.empty() && IsHostName(authority);
  }
  if (!valid) return false;
  url.host = absl::AsciiStrToLower(authority);
  if (port.empty()) return true;
  const bool digits =
      port.size() > 1 &&
      std::all_of(port.begin() + 1, port.end(), absl::ascii_isdigit);
  return digits && absl::SimpleAtoi(port.substr(1), &url.port) &&
         url.port >= 1 && url.port <= 65535;
}

// "scheme://host:port" of an absolute URL, as it is written.
absl::string_view OriginOf(absl::string_view url) {
  const size_t host = url.find("://") + 3;
  return url.substr(0, url.find_first_of("/?#", host));
}

}  // namespace

absl::StatusOr<Url> ParseUrl(absl::string_view text) {
  Url url;
  absl::string_view rest = text;
  if (!IsPlain(text)) return BadUrl(text, "it holds spaces or controls");
  if (absl::StartsWithIgnoreCase(rest, "https://")) {
    url.scheme = "https";
    url.port = 443;
  } else if (absl::StartsWithIgnoreCase(rest, "http://")) {
    url.scheme = "http";
    url.port = 80;
  } else {
    return BadUrl(text, "it begins with neither https:// nor http://");
  }
  rest.remove_prefix(url.scheme.size() + 3);
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const absl::string_view authority = rest.substr(0, end);
  if (absl::StrContains(authority, '@')) {
    return absl::InvalidArgumentError(
        "not a usable URL: it holds user information");
  }
  if (!ParseAuthority(authority, url)) {
    return BadUrl(text, "its host or port is malformed");
  }
  rest.remove_prefix(end);
  rest = rest.substr(0, rest.find('#'));
  url.target = absl::StrCat(absl::StartsWith(rest, "/") ? "" : "/", rest);
  return url;
}

absl::StatusOr<std::string> ResolveUrl(absl::string_view base,
                                       absl::string_view reference) {
  ABSL_ASSIGN_OR_RETURN(const Url base_url, ParseUrl(base));
  if (reference.empty()) {
    return absl::InvalidArgumentError("an empty link leads nowhere");
  }
  std::string resolved;
  const size_t scheme = reference.find("://");
  if (scheme != absl::string_view::npos &&
      scheme < reference.find_first_of("/?#")) {
    resolved = std::string(reference.data(), reference.size());
  } else if (absl::StartsWith(reference, "//")) {
    resolved = absl::StrCat(base_url.scheme, ":", reference);
  } else if (absl::StartsWith(reference, "?")) {
    resolved = absl::StrCat(WithoutQuery(base), reference);
  } else {
    resolved = absl::StrCat(
        OriginOf(base), absl::StartsWith(reference, "/") ? "" : "/", reference);
  }
  ABSL_RETURN_IF_ERROR(ParseUrl(resolved).status());
  return resolved;
}

std::string PercentEncode(absl::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const unsigned char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' ||
        c == '~') {
      encoded.push_back(static_cast<char>(c));
    } else {
      encoded.append({'%', kHex[c >> 4], kHex[c & 15]});
    }
  }
  return encoded;
}

}  // namespace bimbackup::http
