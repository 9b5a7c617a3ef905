// A blocking HTTP client for tests, which shows exactly what arrived: half a
// body, a reset, nothing at all. For tests only.

#ifndef SERVICES_BIM360_EMULATOR_HTTP_PROBE_H_
#define SERVICES_BIM360_EMULATOR_HTTP_PROBE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {

struct ProbeResult {
  enum class Ending {
    kComplete,  // As much as Content-Length or the coding promised.
    kClosed,    // The server closed before.
    kReset,
    kTimeout,
  };
  Ending ending = Ending::kClosed;
  int status = 0;
  HttpHeaders headers;
  std::string body;
  absl::Duration first_byte;
  absl::Duration total;

  absl::string_view Header(absl::string_view name) const;
};

// One connection, kept open between requests. Not thread-safe.
class HttpProbe {
 public:
  // `base_url` is http://address:port. Operations end after `timeout`.
  explicit HttpProbe(absl::string_view base_url,
                     absl::Duration timeout = absl::Seconds(20));
  ~HttpProbe();
  HttpProbe(const HttpProbe&) = delete;
  HttpProbe& operator=(const HttpProbe&) = delete;

  // `target` is a path or a URL below the base. Connects again when the
  // connection has ended.
  ProbeResult Send(absl::string_view method, absl::string_view target,
                   const HttpHeaders& headers = {},
                   absl::string_view body = "");
  ProbeResult Get(absl::string_view target, const HttpHeaders& headers = {}) {
    return Send("GET", target, headers);
  }

  // How often it connected.
  int connects() const { return connects_; }

 private:
  bool Connect();
  void Close();
  // Appends what arrives next; false at an end, which `result` then tells.
  bool Receive(std::string& into, ProbeResult& result);
  void ReadBody(std::string rest, bool no_body, ProbeResult& result);

  std::string host_;
  const absl::Duration timeout_;
  absl::Time deadline_;
  int socket_ = -1;
  int connects_ = 0;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_HTTP_PROBE_H_
