// One transfer of a CurlLoop. Internal to this folder.

#ifndef CLIENTS_HTTP_CURL_TRANSFER_H_
#define CLIENTS_HTTP_CURL_TRANSFER_H_

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/http/bandwidth_limit.h"
#include "clients/http/curl_transport.h"
#include "clients/http/http_transport.h"
#include "services/common/clock.h"

namespace bimbackup::http {

// From Start() to OnDone(): sets up an easy handle, takes libcurl's callbacks
// and keeps the time limits. Lives on one thread, its loop's.
class CurlTransfer {
 public:
  // Puts its id at the end of `held` whenever the cap begins to hold it back.
  // All references outlive it.
  CurlTransfer(TransferId id, Request request,
               std::unique_ptr<ResponseHandler> handler, Clock& clock,
               BandwidthLimit& bandwidth, std::deque<TransferId>& held);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  ~CurlTransfer();

  TransferId id() const { return id_; }
  CURL* easy() const { return easy_; }

  // Takes the handle, which the caller owns, and sets all its options.
  absl::Status Configure(CURL* easy, CURLSH* share,
                         const CurlTransportOptions& options);

  // The earliest instant at which a time limit can be broken.
  absl::Duration Due() const;
  // DEADLINE_EXCEEDED when a time limit is broken at `now`.
  absl::Status CheckTime(absl::Duration now) const;

  // Whether the bandwidth cap holds it back.
  bool held() const { return held_since_.has_value(); }
  // Lets it go on; may call the handler, and may be held again at once. When
  // the result is an error, the transfer has ended with it.
  CURLcode Resume(absl::Duration now);

  // Calls the handler's OnDone(): the last use of the handle and of this.
  // `status` is the loop's verdict (cancelled, too late); where it is OK,
  // `code` is libcurl's.
  void Finish(const absl::Status& status, CURLcode code);

 private:
  static size_t OnHeaderLine(char* data, size_t size, size_t count, void* self);
  static size_t OnBodyBytes(char* data, size_t size, size_t count, void* self);
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose,
                                    curl_sockaddr* address);

  bool TakeHeaderLine(absl::string_view line);
  absl::Status FinishHead();
  absl::Status SetRoute(const Url& url);
  absl::Status SetMethod();
  absl::Status SetHeaders(const CurlTransportOptions& options);
  void CountArrived(int64_t bytes, absl::Duration now);
  absl::Status Verdict(CURLcode code) const;
  absl::Status CheckLength() const;
  std::string Describe(absl::string_view problem) const;

  const TransferId id_;
  const Request request_;
  const std::unique_ptr<ResponseHandler> handler_;
  Clock& clock_;
  BandwidthLimit& bandwidth_;
  std::deque<TransferId>& held_;

  CURL* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};

  ResponseHead head_;
  size_t head_bytes_ = 0;
  bool head_delivered_ = false;
  // From Content-Length, where the body has to have that length.
  std::optional<int64_t> expected_bytes_;
  // Why a callback ended the transfer.
  absl::Status refused_;
  // Why the last address that was out of reach was not connected to.
  absl::Status out_of_reach_;
  TransferStats stats_;

  const absl::Duration started_;
  absl::Duration deadline_;
  // The current stretch of the idle limit: since when, and what arrived.
  absl::Duration idle_since_;
  int64_t idle_arrived_ = 0;
  std::optional<absl::Duration> held_since_;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_CURL_TRANSFER_H_
