// A response handler that tests look into.

#ifndef CLIENTS_HTTP_RECORDING_HANDLER_H_
#define CLIENTS_HTTP_RECORDING_HANDLER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/http/http_transport.h"
#include "services/common/mutex.h"

namespace bimbackup::http {

// What a transfer delivered, shared with its handler. Thread-safe.
class Recording {
 public:
  // Answers of the handler; set before the transfer starts.
  absl::Status head_answer;
  absl::Status body_answer;
  // Called at the start of OnHead, and of OnDone; may be empty.
  std::function<void()> on_head;
  std::function<void()> on_done;

  // Waits for OnDone; false when it does not come within a minute.
  bool WaitDone() {
    MutexLock lock(mutex_);
    while (dones_ == 0) {
      if (!changed_.WaitFor(mutex_, absl::Minutes(1))) return dones_ > 0;
    }
    return true;
  }

  int heads() const { return Get(heads_); }
  int dones() const { return Get(dones_); }
  std::string body() const { return Get(body_); }
  absl::Status status() const { return Get(status_); }
  ResponseHead head() const { return Get(head_); }
  TransferStats stats() const { return Get(stats_); }

 private:
  friend class RecordingHandler;

  template <typename T>
  T Get(const T& member) const {
    MutexLock lock(mutex_);
    return member;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  int heads_ = 0;
  int dones_ = 0;
  ResponseHead head_;
  std::string body_;
  absl::Status status_;
  TransferStats stats_;
};

class RecordingHandler : public ResponseHandler {
 public:
  explicit RecordingHandler(std::shared_ptr<Recording> recording)
      : recording_(std::move(recording)) {}

  absl::Status OnHead(const ResponseHead& head) override {
    if (recording_->on_head) recording_->on_head();
    MutexLock lock(recording_->mutex_);
    ++recording_->heads_;
    recording_->head_ = head;
    return recording_->head_answer;
  }

  absl::Status OnBody(absl::string_view bytes) override {
    MutexLock lock(recording_->mutex_);
    recording_->body_.append(bytes.data(), bytes.size());
    return recording_->body_answer;
  }

  void OnDone(const absl::Status& status, const TransferStats& stats) override {
    if (recording_->on_done) recording_->on_done();
    MutexLock lock(recording_->mutex_);
    ++recording_->dones_;
    recording_->status_ = status;
    recording_->stats_ = stats;
    recording_->changed_.NotifyAll();
  }

 private:
  const std::shared_ptr<Recording> recording_;
};

// Starts `request`; what it delivers shows in the result.
inline std::shared_ptr<Recording> Record(
    HttpTransport& transport, Request request,
    std::shared_ptr<Recording> recording = std::make_shared<Recording>(),
    TransferId* id = nullptr) {
  const TransferId started = transport.Start(
      std::move(request), std::make_unique<RecordingHandler>(recording));
  if (id != nullptr) *id = started;
  return recording;
}

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_RECORDING_HANDLER_H_
