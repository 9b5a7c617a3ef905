#include "clients/http/curl_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/memory/memory.h"
#include "services/common/status_macros.h"

namespace bimbackup::http {
namespace {

constexpr int kEventsAtOnce = 64;
// A time limit is noticed at most this late.
constexpr absl::Duration kCheckInterval = absl::Milliseconds(5);

CurlTransportOptions Tuned(CurlTransportOptions options) {
  if (options.max_bytes_per_second > 0) {
    // A full buffer is delivered in one go: keep it below what the cap lets
    // through in an eighth of a second.
    options.buffer_bytes = std::clamp<int64_t>(options.max_bytes_per_second / 8,
                                               1024, options.buffer_bytes);
  }
  return options;
}

absl::Status Cancelled() {
  return absl::CancelledError("the transfer was cancelled");
}

}  // namespace

CurlLoop::CurlLoop(const CurlTransportOptions& options,
                   BandwidthLimit& bandwidth)
    : options_(Tuned(options)), bandwidth_(bandwidth) {}

CurlLoop::~CurlLoop() {
  Stop();
  for (CURL* easy : free_handles_) curl_easy_cleanup(easy);
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
  if (share_ != nullptr) curl_share_cleanup(share_);
  if (wake_ >= 0) close(wake_);
  if (epoll_ >= 0) close(epoll_);
}

absl::StatusOr<std::unique_ptr<CurlLoop>> CurlLoop::Create(
    const CurlTransportOptions& options, BandwidthLimit& bandwidth) {
  auto loop = absl::WrapUnique(new CurlLoop(options, bandwidth));
  ABSL_RETURN_IF_ERROR(loop->Open());
  loop->thread_ = std::thread([raw = loop.get()] { raw->Run(); });
  return loop;
}

absl::Status CurlLoop::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  multi_ = curl_multi_init();
  share_ = curl_share_init();
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (multi_ == nullptr || share_ == nullptr ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    return absl::ResourceExhaustedError(
        "the HTTP transport cannot have its descriptors");
  }
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING,
                    static_cast<long>(CURLPIPE_NOTHING));
  // Pinned, because by default it follows the number of handles down.
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                    static_cast<long>(options_.max_kept_connections));
  // One thread only, so that no lock functions are needed.
  curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return absl::OkStatus();
}

void CurlLoop::Start(TransferId id, Request request,
                     std::unique_ptr<ResponseHandler> handler) {
  auto transfer = std::make_unique<CurlTransfer>(
      id, std::move(request), std::move(handler), clock_, bandwidth_, held_);
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = intake_.started.empty();
    if (!intake_.ended) intake_.started.push_back(std::move(transfer));
  }
  if (transfer != nullptr) {
    transfer->Finish(Cancelled(), CURLE_OK);
  } else if (first) {
    // Whoever put one in before this has woken the thread, which then takes
    // them all.
    Wake();
  }
}

void CurlLoop::Cancel(TransferId id) {
  {
    MutexLock lock(mutex_);
    if (intake_.ended) return;
    intake_.cancelled.push_back(id);
  }
  Wake();
}

void CurlLoop::Stop() {
  {
    MutexLock lock(mutex_);
    intake_.stop = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

void CurlLoop::Wake() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the thread wakes anyway.
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

void CurlLoop::Run() {
  pthread_setname_np(pthread_self(), "http-io");
  while (TakeIntake()) {
    // Before the wait, so that what has just been started is sent.
    ServeTimer();
    FinishCompleted();
    EnforceTimeLimits();
    ResumeHeld();
    WaitAndServe();
  }
}

bool CurlLoop::TakeIntake() {
  Intake taken;
  {
    MutexLock lock(mutex_);
    std::swap(taken.started, intake_.started);
    std::swap(taken.cancelled, intake_.cancelled);
    taken.stop = intake_.stop;
  }
  for (auto& transfer : taken.started) {
    if (taken.stop) {
      transfer->Finish(Cancelled(), CURLE_OK);
    } else {
      StartTransfer(std::move(transfer));
    }
  }
  for (const TransferId id : taken.cancelled) {
    const auto found = active_.find(id);
    if (found != active_.end()) End(found, Cancelled(), CURLE_OK);
  }
  if (!taken.stop) return true;
  CancelAll();
  MutexLock lock(mutex_);
  intake_.ended = intake_.started.empty();
  return !intake_.ended;
}

void CurlLoop::StartTransfer(std::unique_ptr<CurlTransfer> transfer) {
  CURL* easy = nullptr;
  if (free_handles_.empty()) {
    easy = curl_easy_init();
  } else {
    easy = free_handles_.back();
    free_handles_.pop_back();
  }
  absl::Status status = absl::ResourceExhaustedError("no memory");
  if (easy != nullptr) status = transfer->Configure(easy, share_, options_);
  if (status.ok() && curl_multi_add_handle(multi_, easy) != CURLM_OK) {
    status = absl::InternalError("libcurl takes no more transfers");
  }
  if (!status.ok()) {
    transfer->Finish(status, CURLE_OK);
    Release(easy);
    return;
  }
  next_check_ = std::min(next_check_, transfer->Due());
  const TransferId id = transfer->id();
  active_.emplace(id, std::move(transfer));
}

void CurlLoop::CancelAll() {
  while (!active_.empty()) End(active_.begin(), Cancelled(), CURLE_OK);
}

int CurlLoop::WaitMilliseconds() const {
  absl::Duration until = std::min(timer_, next_check_);
  if (!held_.empty()) until = std::min(until, bandwidth_.FreeAt());
  if (until == absl::InfiniteDuration()) return -1;
  const absl::Duration wait =
      absl::Ceil(until - clock_.Monotonic(), absl::Milliseconds(1));
  return static_cast<int>(absl::ToInt64Milliseconds(
      std::clamp(wait, absl::ZeroDuration(), absl::Minutes(1))));
}

void CurlLoop::WaitAndServe() {
  epoll_event events[kEventsAtOnce];
  const int count =
      epoll_wait(epoll_, events, kEventsAtOnce, WaitMilliseconds());
  int running = 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == wake_) {
      uint64_t value = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &value, sizeof(value));
      continue;
    }
    // An error shows in the read that follows it, with its reason.
    int mask = 0;
    if (events[i].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
    if (events[i].events & ~static_cast<uint32_t>(EPOLLOUT)) {
      mask |= CURL_CSELECT_IN;
    }
    curl_multi_socket_action(multi_, events[i].data.fd, mask, &running);
  }
}

void CurlLoop::ServeTimer() {
  if (clock_.Monotonic() < timer_) return;
  int running = 0;
  timer_ = absl::InfiniteDuration();
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
}

void CurlLoop::FinishCompleted() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    CurlTransfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    End(active_.find(transfer->id()), absl::OkStatus(), code);
  }
}

void CurlLoop::EnforceTimeLimits() {
  const absl::Duration now = clock_.Monotonic();
  if (now < next_check_) return;
  std::vector<TransferId> late;
  absl::Duration due = absl::InfiniteDuration();
  for (const auto& [id, transfer] : active_) {
    if (transfer->CheckTime(now).ok()) {
      due = std::min(due, transfer->Due());
    } else {
      late.push_back(id);
    }
  }
  next_check_ = std::max(due, now + kCheckInterval);
  for (const TransferId id : late) {
    const auto found = active_.find(id);
    End(found, found->second->CheckTime(now), CURLE_OK);
  }
}

void CurlLoop::ResumeHeld() {
  const absl::Duration now = clock_.Monotonic();
  for (size_t turns = held_.size(); turns > 0 && bandwidth_.MayDeliver(now);
       --turns) {
    const auto found = active_.find(held_.front());
    held_.pop_front();
    if (found == active_.end()) continue;
    const CURLcode code = found->second->Resume(now);
    if (code != CURLE_OK) {
      End(found, absl::OkStatus(), code);
    } else {
      next_check_ = std::min(next_check_, found->second->Due());
    }
  }
}

void CurlLoop::End(Active::iterator ended, const absl::Status& status,
                   CURLcode code) {
  const std::unique_ptr<CurlTransfer> transfer = std::move(ended->second);
  active_.erase(ended);
  CURL* easy = transfer->easy();
  curl_multi_remove_handle(multi_, easy);
  transfer->Finish(status, code);
  Release(easy);
}

void CurlLoop::Release(CURL* easy) {
  if (easy == nullptr) return;
  if (free_handles_.size() >= options_.max_kept_connections) {
    curl_easy_cleanup(easy);
    return;
  }
  curl_easy_reset(easy);
  free_handles_.push_back(easy);
}

int CurlLoop::OnSocket(CURL*, curl_socket_t socket, int what, void* self,
                       void* known) {
  auto* loop = static_cast<CurlLoop*>(self);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll_, EPOLL_CTL_DEL, socket, nullptr);
    curl_multi_assign(loop->multi_, socket, nullptr);
    return 0;
  }
  epoll_event event = {};
  event.data.fd = socket;
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  const int operation = known != nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(loop->epoll_, operation, socket, &event) != 0 &&
      errno == EEXIST) {
    epoll_ctl(loop->epoll_, EPOLL_CTL_MOD, socket, &event);
  }
  curl_multi_assign(loop->multi_, socket, loop);
  return 0;
}

int CurlLoop::OnTimer(CURLM*, long milliseconds, void* self) {
  auto* loop = static_cast<CurlLoop*>(self);
  loop->timer_ = milliseconds < 0 ? absl::InfiniteDuration()
                                  : loop->clock_.Monotonic() +
                                        absl::Milliseconds(milliseconds);
  return 0;
}

}  // namespace bimbackup::http
