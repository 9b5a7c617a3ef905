#include "clients/http/fake_transport.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/common/secret.h"

namespace bimbackup::http {

FakeTransport::FakeTransport() : thread_([this] { Run(); }) {}

FakeTransport::~FakeTransport() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void FakeTransport::AddRule(Matcher matcher, Answer answer, int times) {
  AddRule(
      std::move(matcher),
      [answer = std::move(answer)](const Request&) { return answer; }, times);
}

void FakeTransport::AddRule(absl::string_view url_part, int status,
                            absl::string_view body, int times) {
  Answer answer;
  answer.response.status = status;
  answer.response.body = std::string(body.data(), body.size());
  AddRule([part = std::string(url_part.data(), url_part.size())](
              const Request& r) { return absl::StrContains(r.url, part); },
          std::move(answer), times);
}

void FakeTransport::AddRule(Matcher matcher,
                            std::function<Answer(const Request&)> compute,
                            int times) {
  MutexLock lock(mutex_);
  rules_.push_back({std::move(matcher), std::move(compute), times});
}

std::vector<Request> FakeTransport::Requests() const {
  MutexLock lock(mutex_);
  return requests_;
}

int FakeTransport::CountRequests(absl::string_view url_part) const {
  MutexLock lock(mutex_);
  return std::count_if(
      requests_.begin(), requests_.end(),
      [&](const Request& r) { return absl::StrContains(r.url, url_part); });
}

TransferId FakeTransport::Start(Request request,
                                std::unique_ptr<ResponseHandler> handler) {
  MutexLock lock(mutex_);
  Transfer transfer;
  transfer.id = ++last_id_;
  requests_.push_back(request);
  transfer.request = std::move(request);
  transfer.handler = std::move(handler);
  transfers_.push_back(std::move(transfer));
  changed_.NotifyAll();
  return last_id_;
}

void FakeTransport::Cancel(TransferId id) {
  MutexLock lock(mutex_);
  cancelled_.push_back(id);
  for (Transfer& transfer : transfers_) {
    if (transfer.id == id) transfer.cancelled = true;
  }
  changed_.NotifyAll();
}

void FakeTransport::Run() {
  for (;;) {
    Transfer transfer;
    {
      MutexLock lock(mutex_);
      auto next = FindReady();
      while (next == transfers_.end()) {
        if (stop_) return;
        changed_.Wait(mutex_);
        next = FindReady();
      }
      transfer = std::move(*next);
      transfers_.erase(next);
      transfer.cancelled = transfer.cancelled || stop_;
    }
    // One that was cancelled meanwhile uses up its rule all the same, so that
    // the next request gets the next one.
    Serve(transfer, transfer.hanging ? Answer{} : FindAnswer(transfer.request));
  }
}

std::deque<FakeTransport::Transfer>::iterator FakeTransport::FindReady() {
  return std::find_if(transfers_.begin(), transfers_.end(),
                      [stop = stop_](const Transfer& t) {
                        return !t.hanging || t.cancelled || stop;
                      });
}

FakeTransport::Answer FakeTransport::FindAnswer(const Request& request) {
  std::function<Answer(const Request&)> compute;
  {
    MutexLock lock(mutex_);
    for (Rule& rule : rules_) {
      if (rule.times == 0 || !rule.matcher(request)) continue;
      if (rule.times > 0) --rule.times;
      compute = rule.compute;
      break;
    }
  }
  if (compute) return compute(request);
  Answer answer;
  answer.error = absl::UnimplementedError(
      absl::StrCat("no rule answers ", WithoutQuery(request.url)));
  return answer;
}

bool FakeTransport::IsCancelled(TransferId id) const {
  MutexLock lock(mutex_);
  return stop_ || std::find(cancelled_.begin(), cancelled_.end(), id) !=
                      cancelled_.end();
}

void FakeTransport::Serve(Transfer& transfer, const Answer& answer) {
  if (answer.hang && !transfer.cancelled) {
    MutexLock lock(mutex_);
    transfer.hanging = true;
    transfer.cancelled = std::find(cancelled_.begin(), cancelled_.end(),
                                   transfer.id) != cancelled_.end();
    transfers_.push_back(std::move(transfer));
    return;
  }
  TransferStats stats;
  absl::Status status;
  const auto cancelled = [&] {
    return transfer.cancelled || IsCancelled(transfer.id)
               ? absl::CancelledError("the transfer was cancelled")
               : absl::OkStatus();
  };
  status = cancelled();
  if (status.ok() && answer.response.status != 0) {
    stats.status = answer.response.status;
    status = transfer.handler->OnHead(
        {answer.response.status, answer.response.headers});
    absl::string_view body = answer.response.body;
    while (status.ok() && !body.empty()) {
      const absl::string_view piece = body.substr(0, body.size() / 2 + 1);
      body.remove_prefix(piece.size());
      stats.body_bytes += piece.size();
      status = transfer.handler->OnBody(piece);
      if (status.ok()) status = cancelled();
    }
  }
  if (status.ok()) status = answer.error;
  transfer.handler->OnDone(status, stats);
}

}  // namespace bimbackup::http
