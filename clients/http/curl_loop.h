// One I/O thread of CurlTransport. Internal to this folder.

#ifndef CLIENTS_HTTP_CURL_LOOP_H_
#define CLIENTS_HTTP_CURL_LOOP_H_

#include <curl/curl.h>

#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/http/bandwidth_limit.h"
#include "clients/http/curl_transfer.h"
#include "clients/http/curl_transport.h"
#include "clients/http/http_transport.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::http {

// A multi handle, its epoll set and its thread. What other threads ask for
// goes through an intake that the thread empties, so that libcurl is only
// ever called on that thread, and a handler may call Start() and Cancel().
class CurlLoop {
 public:
  // `bandwidth` outlives the loop. RESOURCE_EXHAUSTED without descriptors.
  static absl::StatusOr<std::unique_ptr<CurlLoop>> Create(
      const CurlTransportOptions& options, BandwidthLimit& bandwidth);
  ~CurlLoop();

  // Thread-safe; see HttpTransport.
  void Start(TransferId id, Request request,
             std::unique_ptr<ResponseHandler> handler);
  void Cancel(TransferId id);

  // Makes the loop look at its waits again. Thread-safe.
  void Wake();

  // Cancels everything, what is started meanwhile included, and ends the
  // thread. Idempotent; not on the loop's own thread.
  void Stop();

 private:
  struct Intake {
    std::vector<std::unique_ptr<CurlTransfer>> started;
    std::vector<TransferId> cancelled;
    bool stop = false;
    // The thread takes nothing any more.
    bool ended = false;
  };
  using Active = std::unordered_map<TransferId, std::unique_ptr<CurlTransfer>>;

  CurlLoop(const CurlTransportOptions& options, BandwidthLimit& bandwidth);

  absl::Status Open();
  void Run();
  // Returns false once the loop is to stop and nothing is left.
  bool TakeIntake();
  void StartTransfer(std::unique_ptr<CurlTransfer> transfer);
  void CancelAll();
  int WaitMilliseconds() const;
  void ServeTimer();
  void WaitAndServe();
  void FinishCompleted();
  void EnforceTimeLimits();
  void ResumeHeld();
  void End(Active::iterator transfer, const absl::Status& status,
           CURLcode code);
  void Release(CURL* easy);

  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self,
                      void* known);
  static int OnTimer(CURLM* multi, long milliseconds, void* self);

  const CurlTransportOptions options_;
  BandwidthLimit& bandwidth_;
  SystemClock clock_;
  CURLM* multi_ = nullptr;
  CURLSH* share_ = nullptr;
  int epoll_ = -1;
  int wake_ = -1;

  // The loop thread's own.
  Active active_;
  std::vector<CURL*> free_handles_;
  // When libcurl wants to be called; when a time limit can next be broken.
  absl::Duration timer_ = absl::InfiniteDuration();
  absl::Duration next_check_ = absl::InfiniteDuration();
  // Transfers that wait for bandwidth, in the order of their turns.
  std::deque<TransferId> held_;

  Mutex mutex_;
  Intake intake_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_CURL_LOOP_H_
