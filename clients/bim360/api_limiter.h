// Keeps the calls of one client id within Autodesk's published rates.

#ifndef CLIENTS_BIM360_API_LIMITER_H_
#define CLIENTS_BIM360_API_LIMITER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360 {

// Endpoints that share one published rate, in calls a minute
// (https://aps.autodesk.com/en/docs/data/v2/developers_guide/rate-limiting/dm-rate-limits/).
enum class EndpointClass {
  kToken,     // 500
  kProjects,  // 50: hubs, projects
  kFolders,   // 300: topFolders, folder, contents
  kStorage,   // 1000: everything under /oss
};
inline constexpr size_t kEndpointClassCount = 4;

// "token", "projects", "folders", "storage".
absl::string_view EndpointClassName(EndpointClass endpoint_class);

// A sliding window for each class: in no stretch of a minute do more calls
// arrive at Autodesk than its rate allows, and they get their turn in the
// order in which they asked. Thread-safe.
class ApiLimiter {
 public:
  // One call's turn, to be kept until the call is answered: when it arrived is
  // not known, only that it was before then, so its minute begins there. The
  // limiter outlives it.
  class Turn {
   public:
    Turn(Turn&& other) noexcept
        : limiter_(std::exchange(other.limiter_, nullptr)),
          endpoint_class_(other.endpoint_class_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (limiter_ != nullptr) limiter_->End(endpoint_class_);
    }

   private:
    friend class ApiLimiter;
    Turn(ApiLimiter& limiter, EndpointClass endpoint_class)
        : limiter_(&limiter), endpoint_class_(endpoint_class) {}

    ApiLimiter* limiter_;
    EndpointClass endpoint_class_;
  };

  struct Usage {
    int64_t calls = 0;
    // Calls that wait for their turn now.
    int waiting = 0;
    // How long all calls of the class waited, added up.
    absl::Duration waited;
    // The class pauses until then, on the monotonic clock.
    absl::Duration paused_until;
  };

  // `budget` is the share of the published rates to use: at most 1 shrinks
  // the number of calls in a minute, more shrinks the minute (a sped-up
  // emulator's window), infinity limits nothing. `clock` outlives it.
  ApiLimiter(double budget, Clock& clock);

  // Uses another share from now on, also for calls that wait already.
  void SetBudget(double budget);
  double budget() const;

  // Calls a minute of the class that the budget allows; infinity for any
  // number.
  double CallsPerMinute(EndpointClass endpoint_class) const;

  // Waits for the class's turn and takes it. DEADLINE_EXCEEDED when it would
  // not come by `deadline` (monotonic), CANCELLED after Cancel() and as soon
  // as a stop is requested of `cancel`.
  absl::StatusOr<Turn> Acquire(EndpointClass endpoint_class,
                               absl::Duration deadline,
                               const std::stop_token& cancel = {});

  // No call of the class gets its turn for `pause` from now, whoever asks:
  // the answer to a 429.
  void Pause(EndpointClass endpoint_class, absl::Duration pause);

  // Ends every wait, and every later one, with CANCELLED.
  void Cancel();

  Usage GetUsage(EndpointClass endpoint_class) const;

 private:
  // A call that waits for its turn. Only the oldest of a class looks at the
  // clock; the others are not woken for it.
  struct Waiter {
    CondVar changed;
  };
  struct ClassState {
    // Oldest first.
    std::deque<Waiter*> queue;
    // Calls that have their turn and no answer yet.
    size_t running = 0;
    // When the latest others ended, oldest first; at most as many as
    // Autodesk's window allows.
    std::deque<absl::Duration> recent;
    Usage usage;
  };

  // How many calls a window allows; 0 for any number.
  size_t CallsPerWindow(EndpointClass endpoint_class) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // When the class's next call may go; infinity until another one ends.
  absl::Duration NextTurn(EndpointClass endpoint_class) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Has the oldest of the class look again, or everybody.
  void WakeOldest(ClassState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A call that had its turn was answered, or will never be.
  void End(EndpointClass endpoint_class);
  // Waits until `self` is the oldest and its turn has come.
  absl::Status AwaitTurn(EndpointClass endpoint_class, Waiter& self,
                         absl::Duration deadline, const std::stop_token& cancel)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  mutable Mutex mutex_;
  double budget_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::array<ClassState, kEndpointClassCount> classes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_API_LIMITER_H_
