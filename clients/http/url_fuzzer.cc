// Fuzzes URLs and the hosts they may lead to. An input is a URL, then, after
// a line feed, a reference to resolve against it.

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/http/host_policy.h"
#include "clients/http/http_transport.h"
#include "services/common/fuzzing.h"

namespace bimbackup::http {
namespace {

std::string OriginOf(const Url& url) {
  const bool is_ipv6 = absl::StrContains(url.host, ':');
  return absl::StrCat(url.scheme, "://", is_ipv6 ? "[" : "", url.host,
                      is_ipv6 ? "]" : "", ":", url.port);
}

void CheckUrl(absl::string_view text) {
  const auto url = ParseUrl(text);
  if (!url.ok()) {
    FUZZ_REQUIRE(IsOneLine(url.status().message()));
    return;
  }
  FUZZ_REQUIRE(url->scheme == "http" || url->scheme == "https");
  FUZZ_REQUIRE(!url->host.empty());
  FUZZ_REQUIRE(!absl::StrContains(url->host, '@'));
  FUZZ_REQUIRE(url->port >= 1 && url->port <= 65535);
  FUZZ_REQUIRE(absl::StartsWith(url->target, "/"));
  FUZZ_REQUIRE(!absl::StrContains(url->target, '#'));
  const auto again = ParseUrl(OriginOf(*url) + url->target);
  FUZZ_REQUIRE(again.ok());
  FUZZ_REQUIRE(again->host == url->host);
  FUZZ_REQUIRE(again->port == url->port);
  FUZZ_REQUIRE(again->target == url->target);
}

// A signature is in no message.
void CheckSecrecy(absl::string_view text) {
  const absl::string_view kSignature = "deadbeef00c0ffee";
  if (absl::StrContains(absl::AsciiStrToLower(text), kSignature)) return;
  const std::string url = absl::StrCat(text, "?X-Signature=", kSignature);
  for (const absl::Status& status :
       {ParseUrl(url).status(), HostPolicy::Default().Check(url),
        ResolveUrl(url, "x y").status(),
        ResolveUrl("https://h", url).status()}) {
    FUZZ_REQUIRE(!absl::StrContains(status.message(), kSignature));
  }
}

void CheckReference(absl::string_view base, absl::string_view reference) {
  const auto resolved = ResolveUrl(base, reference);
  if (!resolved.ok()) return;
  const auto url = ParseUrl(*resolved);
  FUZZ_REQUIRE(url.ok());
  const auto base_url = ParseUrl(base);
  FUZZ_REQUIRE(base_url.ok());
  // A path stays with its host.
  if (absl::StartsWith(reference, "/") && !absl::StartsWith(reference, "//")) {
    FUZZ_REQUIRE(OriginOf(*url) == OriginOf(*base_url));
  }
}

bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

// Without a flag, what is fetched comes from Autodesk, Amazon or this host.
void CheckPolicy(absl::string_view text) {
  if (!HostPolicy::Default().Check(text).ok()) return;
  const auto url = ParseUrl(text);
  FUZZ_REQUIRE(url.ok());
  if (IsLoopback(url->host)) return;
  FUZZ_REQUIRE(url->scheme == "https" && url->port == 443);
  FUZZ_REQUIRE(absl::EndsWith(url->host, ".api.autodesk.com") ||
               absl::EndsWith(url->host, ".amazonaws.com"));
}

void CheckPatterns(absl::string_view text) {
  const auto policy = HostPolicy::Parse(text);
  if (!policy.ok()) FUZZ_REQUIRE(absl::IsInvalidArgument(policy.status()));
}

int Digit(char c) { return c <= '9' ? c - '0' : c - 'A' + 10; }

void CheckEncoding(absl::string_view text) {
  const std::string encoded = PercentEncode(text);
  std::string decoded;
  for (size_t i = 0; i < encoded.size(); ++i) {
    const char c = encoded[i];
    FUZZ_REQUIRE(!absl::StrContains("/?#& +", c));
    if (c != '%') {
      decoded += c;
      continue;
    }
    FUZZ_REQUIRE(i + 2 < encoded.size());
    decoded +=
        static_cast<char>(Digit(encoded[i + 1]) * 16 + Digit(encoded[i + 2]));
    i += 2;
  }
  FUZZ_REQUIRE(decoded == text);
}

}  // namespace

void FuzzOne(absl::string_view input) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(input, absl::MaxSplits('\n', 1));
  CheckUrl(parts.first);
  CheckSecrecy(parts.first);
  CheckReference(parts.first, parts.second);
  CheckPolicy(parts.first);
  CheckPatterns(input);
  CheckEncoding(input);
}

}  // namespace bimbackup::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::http::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
