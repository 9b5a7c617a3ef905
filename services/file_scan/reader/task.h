// A coroutine that a coroutine awaits.

#ifndef SERVICES_FILE_SCAN_READER_TASK_H_
#define SERVICES_FILE_SCAN_READER_TASK_H_

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace bimbackup::file_scan::reader {

// Runs when it is awaited, or started; gives one value. Owns the coroutine.
// Not thread-safe.
template <typename T>
class Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // For the outermost task: runs it until it first waits for something.
  void Start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  T TakeValue() { return *std::move(handle_.promise().value); }

  bool await_ready() const noexcept { return false; }
  // Not by symmetric transfer: unoptimised code does not make it a jump, and
  // a loop over tasks that never wait would grow the stack.
  bool await_suspend(std::coroutine_handle<> awaiting) {
    handle_.resume();
    if (handle_.done()) return false;
    handle_.promise().continuation = awaiting;
    return true;
  }
  T await_resume() { return TakeValue(); }

 private:
  Handle handle_;
};

template <typename T>
struct Task<T>::promise_type {
  // Goes on with whoever waits for this task, which may destroy it.
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    void await_suspend(Handle handle) noexcept {
      const std::coroutine_handle<> next = handle.promise().continuation;
      if (next) next.resume();
    }
    void await_resume() noexcept {}
  };

  Task get_return_object() { return Task(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return {}; }
  void return_value(T result) { value.emplace(std::move(result)); }
  void unhandled_exception() { std::terminate(); }

  std::optional<T> value;
  // Empty while nobody waits.
  std::coroutine_handle<> continuation;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_TASK_H_
