// A transport without a network, for tests.

#ifndef CLIENTS_HTTP_FAKE_TRANSPORT_H_
#define CLIENTS_HTTP_FAKE_TRANSPORT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "clients/http/http_transport.h"
#include "services/common/mutex.h"

namespace bimbackup::http {

// Answers by rules. Delivers on a thread of its own, one transfer after the
// other, the body in two pieces. Keeps no time limit. Thread-safe.
class FakeTransport : public HttpTransport {
 public:
  using Matcher = std::function<bool(const Request&)>;

  struct Answer {
    Response response;
    // Not OK: OnDone() gets this, after the head where `response.status` is
    // not 0, and after its body.
    absl::Status error;
    // Never ends by itself; only Cancel() and destruction end it.
    bool hang = false;
  };

  FakeTransport();
  ~FakeTransport() override;

  // Of the rules that match and have uses left, the first answers; without
  // one, the transfer fails with UNIMPLEMENTED. `times` -1: without end.
  void AddRule(Matcher matcher, Answer answer, int times = -1);
  // The same for URLs that contain `url_part`.
  void AddRule(absl::string_view url_part, int status, absl::string_view body,
               int times = -1);
  // A rule that computes its answer, on the transport's thread.
  void AddRule(Matcher matcher, std::function<Answer(const Request&)> compute,
               int times = -1);

  // Every request so far, in order.
  std::vector<Request> Requests() const;
  // How many requests had a URL with `url_part` in it.
  int CountRequests(absl::string_view url_part) const;

  TransferId Start(Request request,
                   std::unique_ptr<ResponseHandler> handler) override;
  void Cancel(TransferId id) override;

 private:
  struct Rule {
    Matcher matcher;
    std::function<Answer(const Request&)> compute;
    int times;
  };
  struct Transfer {
    TransferId id = 0;
    Request request;
    std::unique_ptr<ResponseHandler> handler;
    bool cancelled = false;
    bool hanging = false;
  };

  void Run();
  // The oldest transfer that can be served now.
  std::deque<Transfer>::iterator FindReady()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Answer FindAnswer(const Request& request) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsCancelled(TransferId id) const ABSL_LOCKS_EXCLUDED(mutex_);
  void Serve(Transfer& transfer, const Answer& answer);

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<Rule> rules_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  std::deque<Transfer> transfers_ ABSL_GUARDED_BY(mutex_);
  std::vector<TransferId> cancelled_ ABSL_GUARDED_BY(mutex_);
  TransferId last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_FAKE_TRANSPORT_H_
