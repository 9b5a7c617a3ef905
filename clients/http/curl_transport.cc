#include "clients/http/curl_transport.h"

#include <curl/curl.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/http/bandwidth_limit.h"
#include "clients/http/curl_loop.h"
#include "services/common/status_macros.h"

namespace bimbackup::http {
namespace {

absl::Status CheckOptions(const CurlTransportOptions& options) {
  if (options.io_threads < 1 || options.io_threads > 256 ||
      options.max_kept_connections < 1) {
    return absl::InvalidArgumentError(
        "the HTTP transport needs 1 to 256 I/O threads and a connection");
  }
  if (options.buffer_bytes < 1024 || options.buffer_bytes > 10 << 20) {
    return absl::InvalidArgumentError(
        absl::StrCat("HTTP buffer size ", options.buffer_bytes,
                     " is outside of 1 KiB to 10 MiB"));
  }
  if (options.max_bytes_per_second < 0) {
    return absl::InvalidArgumentError("the bandwidth cap is negative");
  }
  return absl::OkStatus();
}

bool InitCurlOnce() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  return code == CURLE_OK;
}

}  // namespace

CurlTransport::CurlTransport() = default;

CurlTransport::~CurlTransport() {
  stopping_ = true;
  // All loops end before any goes away, so that a handler may still reach the
  // transport from its OnDone().
  for (const auto& loop : loops_) loop->Stop();
}

absl::StatusOr<std::unique_ptr<CurlTransport>> CurlTransport::Create(
    const CurlTransportOptions& options) {
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  if (!InitCurlOnce()) {
    return absl::ResourceExhaustedError("libcurl cannot be initialised");
  }
  auto transport = absl::WrapUnique(new CurlTransport());
  transport->bandwidth_ =
      std::make_unique<BandwidthLimit>(options.max_bytes_per_second);
  for (int i = 0; i < options.io_threads; ++i) {
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<CurlLoop> loop,
                          CurlLoop::Create(options, *transport->bandwidth_));
    transport->loops_.push_back(std::move(loop));
  }
  return transport;
}

TransferId CurlTransport::Start(Request request,
                                std::unique_ptr<ResponseHandler> handler) {
  const uint64_t number = ++last_number_;
  const uint64_t group = request.group != 0 ? request.group : number;
  const TransferId id = number * loops_.size() + group % loops_.size();
  if (stopping_) {
    handler->OnDone(absl::CancelledError("the transport is being destroyed"),
                    TransferStats());
    return id;
  }
  LoopOf(id).Start(id, std::move(request), std::move(handler));
  return id;
}

void CurlTransport::SetMaxBytesPerSecond(int64_t bytes_per_second) {
  bandwidth_->SetRate(bytes_per_second, SystemClock().Monotonic());
  // A loop that sleeps until the old cap lets it go on looks again.
  for (const auto& loop : loops_) loop->Wake();
}

void CurlTransport::Cancel(TransferId id) { LoopOf(id).Cancel(id); }

}  // namespace bimbackup::http
