#include "services/file_scan/reader/mapped_window.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {

// Read by the signal handler, hence nothing but lock-free atomics.
struct WindowSlot {
  // The slot's state in the lowest two bits, and above them how often it has
  // been used: what is read between two equal versions belongs together.
  std::atomic<uint64_t> version{0};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> damaged{false};
};

namespace {

constexpr uint64_t kStateBits = 3;
constexpr uint64_t kFree = 0;
constexpr uint64_t kTaken = 1;
constexpr uint64_t kLive = 2;
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

WindowSlot g_slots[MappedWindow::kMaxWindows];
struct sigaction g_previous_action;
uintptr_t g_page_size = 4096;

WindowSlot* TakeSlot() {
  for (WindowSlot& slot : g_slots) {
    uint64_t version = slot.version.load();
    if ((version & kStateBits) == kFree &&
        slot.version.compare_exchange_strong(version, version + kTaken)) {
      return &slot;
    }
  }
  return nullptr;
}

void Publish(WindowSlot& slot, uintptr_t begin, uintptr_t end) {
  slot.begin.store(begin);
  slot.end.store(end);
  slot.damaged.store(false);
  slot.version.store((slot.version.load() & ~kStateBits) + kLive);
}

void Release(WindowSlot& slot) {
  slot.version.store((slot.version.load() | kStateBits) + 1);
}

bool Holds(const WindowSlot& slot, uintptr_t address) {
  const uint64_t version = slot.version.load();
  return (version & kStateBits) == kLive && address >= slot.begin.load() &&
         address < slot.end.load() && slot.version.load() == version;
}

// Puts zeros in place of the window's bytes from `address` on: what follows a
// missing page is missing as well, and one signal is enough.
bool Patch(WindowSlot& slot, uintptr_t address) {
  const uintptr_t page = address & ~(g_page_size - 1);
  const uintptr_t end = slot.end.load();
  slot.damaged.store(true);
  // Not through the library's function, which sanitizers take for a write to
  // memory that other threads are reading.
  return syscall(SYS_mmap, page, end - page, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1;
}

void PassOn(int signal, siginfo_t* info, void* context) {
  if ((g_previous_action.sa_flags & SA_SIGINFO) != 0) {
    g_previous_action.sa_sigaction(signal, info, context);
  } else if (g_previous_action.sa_handler == SIG_DFL ||
             g_previous_action.sa_handler == SIG_IGN) {
    // The instruction runs again, and ends the process as it would have.
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &action, nullptr);
  } else {
    g_previous_action.sa_handler(signal);
  }
}

void OnSigbus(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  bool handled = false;
  for (WindowSlot& slot : g_slots) {
    if (Holds(slot, address)) {
      handled = Patch(slot, address);
      break;
    }
  }
  errno = saved_errno;
  if (!handled) PassOn(signal, info, context);
}

void InstallHandlerOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_page_size = sysconf(_SC_PAGESIZE);
    struct sigaction action {};
    action.sa_sigaction = OnSigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &g_previous_action);
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<MappedWindow>> MappedWindow::Map(
    std::shared_ptr<const InputFile> file, int64_t offset, size_t size) {
  InstallHandlerOnce();
  WindowSlot* slot = TakeSlot();
  if (slot == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", kMaxWindows, " windows are mapped"));
  }
  const size_t lead = offset % g_page_size;
  const size_t mapping_size = lead + size;
  void* mapping = mmap(nullptr, mapping_size, PROT_READ, MAP_SHARED, file->fd(),
                       offset - lead);
  if (mapping == MAP_FAILED) {
    const int error = errno;
    Release(*slot);
    return absl::ErrnoToStatus(error,
                               absl::StrCat("cannot map ", file->name()));
  }
  const char* begin = static_cast<const char*>(mapping);
  // Up to the last page's end, which Patch() must not go past.
  const uintptr_t end = reinterpret_cast<uintptr_t>(begin) + mapping_size;
  Publish(*slot, reinterpret_cast<uintptr_t>(begin),
          (end + g_page_size - 1) & ~(g_page_size - 1));
  return std::shared_ptr<MappedWindow>(new MappedWindow(
      std::move(file), offset, absl::string_view(begin, mapping_size),
      absl::string_view(begin + lead, size), slot));
}

MappedWindow::MappedWindow(std::shared_ptr<const InputFile> file,
                           int64_t offset, absl::string_view mapping,
                           absl::string_view bytes, WindowSlot* slot)
    : file_(std::move(file)),
      offset_(offset),
      mapping_(mapping),
      bytes_(bytes),
      slot_(slot) {}

MappedWindow::~MappedWindow() {
  // Released first: once the addresses are unmapped, another window may have
  // them, and the handler must not find this slot for it.
  Release(*slot_);
  munmap(const_cast<char*>(mapping_.data()), mapping_.size());
}

absl::Status MappedWindow::Check() const {
  ABSL_RETURN_IF_ERROR(file_->CheckSize(offset_ + bytes_.size()));
  if (!slot_->damaged.load()) return absl::OkStatus();
  // Long enough again, or never too short: reading tells what is wrong.
  std::vector<char> buffer(std::min<size_t>(bytes_.size(), 64 << 10));
  int64_t reads = 0;
  for (size_t at = 0; at < bytes_.size(); at += buffer.size()) {
    const size_t size = std::min(buffer.size(), bytes_.size() - at);
    absl::StatusOr<size_t> got =
        file_->ReadAt(offset_ + at, buffer.data(), size, reads);
    if (!got.ok()) return got.status();
  }
  return absl::AbortedError(
      absl::StrCat(file_->name(), " was cut and written while it was read"));
}

}  // namespace bimbackup::file_scan::reader
