// Which hosts a URL that came from outside may point to.

#ifndef CLIENTS_HTTP_HOST_POLICY_H_
#define CLIENTS_HTTP_HOST_POLICY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::http {

struct Request;
struct Url;
enum class Reach;

// The value of --allowed_hosts: patterns such as `*.s3.amazonaws.com`,
// `host`, `host:port`. Thread-safe, immutable.
class HostPolicy {
 public:
  // Autodesk's API, storage and CDN hosts and S3's (in S3's own host forms,
  // not all of amazonaws.com; no cloudfront.net, which anybody can rent),
  // over https only; loopback over either. No other address that is written
  // as a number.
  static HostPolicy Default();

  // `patterns`, separated by commas or spaces, in addition to the default's;
  // plain http is allowed to the hosts named here. INVALID_ARGUMENT for a
  // malformed pattern, such as `*` alone.
  static absl::StatusOr<HostPolicy> Parse(absl::string_view patterns);

  // OK when `url` may be fetched; PERMISSION_DENIED, which names the host and
  // the flag, when not; INVALID_ARGUMENT when it is no URL.
  absl::Status Check(absl::string_view url) const;

  // Check() of the request's URL, and lets the request reach only what its
  // host stands for: a host named by --allowed_hosts any address, loopback
  // this machine, any other host public addresses alone. For every request
  // whose URL came from outside.
  absl::Status Admit(Request& request) const;

  // OK when `url`, to which our secret is sent, is https, loopback, or of a
  // host named by --allowed_hosts. PERMISSION_DENIED otherwise.
  absl::Status CheckApi(absl::string_view url) const;

 private:
  struct Pattern {
    // Lower case; matches the end of a host where `suffix` is set.
    std::string host;
    bool suffix = false;
    // 0 matches every port.
    int port = 0;
    // By plain http, too, and at any address: somebody named it.
    bool named = false;
  };

  static absl::StatusOr<Pattern> ParsePattern(absl::string_view text);
  static bool Matches(const Pattern& pattern, const Url& url);
  absl::StatusOr<Reach> Judge(absl::string_view url) const;

  std::vector<Pattern> patterns_;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_HOST_POLICY_H_
