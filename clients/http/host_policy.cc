#include "clients/http/host_policy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "clients/http/http_transport.h"
#include "services/common/status_macros.h"

namespace bimbackup::http {
namespace {

bool IsLoopback(const std::string& host) {
  in_addr address;
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) {
    return (ntohl(address.s_addr) >> 24) == 127;
  }
  return host == "localhost" || host == "::1";
}

// "us-east-1", "us-gov-west-1".
bool IsRegion(absl::string_view label) {
  return label.size() > 5 && absl::StrContains(label, '-') &&
         absl::ascii_isdigit(label.back()) && label[label.size() - 2] == '-';
}

// Whether what stands between the "s3" label and ".amazonaws.com" is S3's:
// nothing, a region, or "dualstack" and a region. Rented machines have names
// under amazonaws.com as well.
bool IsS3Tail(const std::vector<absl::string_view>& labels, size_t from) {
  const size_t count = labels.size() - from;
  if (count == 0) return true;
  if (count == 1) {
    return IsRegion(labels[from]) || labels[from] == "dualstack";
  }
  return count == 2 && labels[from] == "dualstack" &&
         IsRegion(labels[from + 1]);
}

bool IsS3Host(absl::string_view host) {
  if (!absl::ConsumeSuffix(&host, ".amazonaws.com")) return false;
  const std::vector<absl::string_view> labels = absl::StrSplit(host, '.');
  for (size_t i = labels.size(); i-- > 0;) {
    absl::string_view label = labels[i];
    if (label == "s3" || label == "s3-accelerate") {
      return IsS3Tail(labels, i + 1);
    }
    if (i + 1 == labels.size() && absl::ConsumePrefix(&label, "s3-") &&
        IsRegion(label)) {
      return true;
    }
  }
  return false;
}

bool IsPatternText(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_' ||
           c == ':' || c == '[' || c == ']';
  });
}

}  // namespace

HostPolicy HostPolicy::Default() {
  HostPolicy policy;
  policy.patterns_ = {
      {"developer.api.autodesk.com", /*suffix=*/false, 443, false},
      {".oss.api.autodesk.com", /*suffix=*/true, 443, false},
  };
  return policy;
}

absl::StatusOr<HostPolicy> HostPolicy::Parse(absl::string_view patterns) {
  HostPolicy policy = Default();
  for (const absl::string_view text :
       absl::StrSplit(patterns, absl::ByAnyChar(", \t\n"), absl::SkipEmpty())) {
    ABSL_ASSIGN_OR_RETURN(Pattern pattern, ParsePattern(text));
    policy.patterns_.push_back(std::move(pattern));
  }
  return policy;
}

absl::StatusOr<HostPolicy::Pattern> HostPolicy::ParsePattern(
    absl::string_view text) {
  Pattern pattern;
  pattern.named = true;
  absl::string_view host = text;
  pattern.suffix = absl::ConsumePrefix(&host, "*.");
  absl::StatusOr<Url> url = absl::InvalidArgumentError("");
  if (IsPatternText(host)) url = ParseUrl(absl::StrCat("http://", host));
  if (!url.ok() || absl::StartsWith(url->host, ".")) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed host pattern '", text,
                     "': want host, host:port or *.suffix"));
  }
  pattern.host = absl::StrCat(pattern.suffix ? "." : "", url->host);
  // ParseUrl fills in 80 where no port stands; no port means any.
  const size_t after_host =
      host.rfind(']') == absl::string_view::npos ? 0 : host.rfind(']');
  const bool has_port = host.find(':', after_host) != absl::string_view::npos;
  pattern.port = has_port ? url->port : 0;
  return pattern;
}

absl::StatusOr<Reach> HostPolicy::Judge(absl::string_view text) const {
  ABSL_ASSIGN_OR_RETURN(const Url url, ParseUrl(text));
  // A name of the flag first, for it may lead anywhere.
  for (const Pattern& pattern : patterns_) {
    if (pattern.named && Matches(pattern, url)) return Reach::kAnywhere;
  }
  if (IsLoopback(url.host)) return Reach::kLoopback;
  if (url.scheme == "https" && url.port == 443 && IsS3Host(url.host)) {
    return Reach::kPublic;
  }
  for (const Pattern& pattern : patterns_) {
    if (Matches(pattern, url)) return Reach::kPublic;
  }
  return absl::PermissionDeniedError(
      absl::StrCat("downloads from ", url.scheme, "://", url.host, ":",
                   url.port, " are not allowed; --allowed_hosts can allow it"));
}

absl::Status HostPolicy::Check(absl::string_view url) const {
  return Judge(url).status();
}

absl::Status HostPolicy::Admit(Request& request) const {
  ABSL_ASSIGN_OR_RETURN(request.reach, Judge(request.url));
  return absl::OkStatus();
}

absl::Status HostPolicy::CheckApi(absl::string_view text) const {
  ABSL_ASSIGN_OR_RETURN(const Url url, ParseUrl(text));
  if (url.scheme == "https" || IsLoopback(url.host)) return absl::OkStatus();
  for (const Pattern& pattern : patterns_) {
    if (Matches(pattern, url)) return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "plain http to ", url.host, " would show our secret to the network; ",
      "--allowed_hosts=", url.host, " allows it"));
}

bool HostPolicy::Matches(const Pattern& pattern, const Url& url) {
  if (url.scheme == "http" && !pattern.named) return false;
  if (pattern.port != 0 && pattern.port != url.port) return false;
  if (!pattern.suffix) return url.host == pattern.host;
  return url.host.size() > pattern.host.size() &&
         absl::EndsWith(url.host, pattern.host);
}

}  // namespace bimbackup::http
