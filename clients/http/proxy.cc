#include "clients/http/proxy.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/common/flags.h"

namespace bimbackup::http {
namespace {

std::string FirstSet(std::initializer_list<absl::string_view> names) {
  for (const absl::string_view name : names) {
    std::string value = ReadEnvironment(name);
    if (!value.empty()) return value;
  }
  return "";
}

bool IsExempt(absl::string_view host) {
  const std::string exempt = FirstSet({"no_proxy", "NO_PROXY"});
  for (absl::string_view name :
       absl::StrSplit(exempt, absl::ByAnyChar(", "), absl::SkipEmpty())) {
    if (name == "*") return true;
    absl::ConsumePrefix(&name, ".");
    absl::ConsumeSuffix(&name, ".");
    absl::string_view domain = host;
    if (!absl::EndsWithIgnoreCase(domain, name)) continue;
    domain.remove_suffix(name.size());
    if (domain.empty() || absl::EndsWith(domain, ".")) return true;
  }
  return false;
}

}  // namespace

std::string ProxyFor(const Url& url) {
  // HTTP_PROXY could come from a request's header, in a CGI program.
  std::string proxy = url.scheme == "https"
                          ? FirstSet({"https_proxy", "HTTPS_PROXY"})
                          : FirstSet({"http_proxy"});
  if (proxy.empty()) proxy = FirstSet({"all_proxy", "ALL_PROXY"});
  return proxy.empty() || IsExempt(url.host) ? "" : proxy;
}

}  // namespace bimbackup::http
