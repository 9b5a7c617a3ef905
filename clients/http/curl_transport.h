// The HTTP transport over libcurl's multi interface and epoll.

#ifndef CLIENTS_HTTP_CURL_TRANSPORT_H_
#define CLIENTS_HTTP_CURL_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/http/http_transport.h"

namespace bimbackup::http {

class BandwidthLimit;
class CurlLoop;

// A value.
struct CurlTransportOptions {
  // Each has a multi handle and a connection cache of its own.
  int io_threads = 1;
  // Connections kept open for reuse, per I/O thread; the number of transfers
  // that it runs at once and a few more.
  int max_kept_connections = 72;
  // The receive buffer of each running transfer; 1 KiB to 10 MiB. 128 to 512
  // KiB are best for files, 64 KiB is enough for an API.
  int64_t buffer_bytes = 256 * 1024;
  // Ask for gzip and decode it. Not for files, whose bytes must come as they
  // are stored.
  bool accept_gzip = false;
  // A cap on the body bytes of all transfers together; 0 for none.
  int64_t max_bytes_per_second = 0;
  std::string user_agent = "bimbackup";
  // Certificates to trust instead of the system's; a PEM file.
  std::string ca_file;
};

// Certificates are always verified. HTTP and HTTPS both; a caller that takes
// URLs from outside asks a HostPolicy first. Uses the proxy that the
// environment names (https_proxy, no_proxy), but for loopback. Thread-safe.
class CurlTransport : public HttpTransport {
 public:
  // INVALID_ARGUMENT for options out of range, RESOURCE_EXHAUSTED when no
  // descriptor or handle can be had.
  static absl::StatusOr<std::unique_ptr<CurlTransport>> Create(
      const CurlTransportOptions& options);
  ~CurlTransport() override;

  TransferId Start(Request request,
                   std::unique_ptr<ResponseHandler> handler) override;
  void Cancel(TransferId id) override;

  // Another cap on the body bytes of all transfers together, from now on; 0
  // for none.
  void SetMaxBytesPerSecond(int64_t bytes_per_second);

 private:
  CurlTransport();

  CurlLoop& LoopOf(TransferId id) { return *loops_[id % loops_.size()]; }

  std::unique_ptr<BandwidthLimit> bandwidth_;
  std::vector<std::unique_ptr<CurlLoop>> loops_;
  std::atomic<uint64_t> last_number_ = 0;
  // Set before the first loop is told to stop: the others start nothing more.
  std::atomic<bool> stopping_ = false;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_CURL_TRANSPORT_H_
