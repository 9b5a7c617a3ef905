// The worker's engine with its storage, fed a list of URLs.
//
//   bimbackup-dataplane-bench LIST STORAGE DIGESTS SLOTS
//   bimbackup-dataplane-bench COUNT SIZE
//
// LIST holds a line "URL SIZE SHA1" for each file ("-" for no SHA-1); STORAGE
// is a folder, which is made into a storage; DIGESTS is "digests" or "sizes".
// The transfers go as leases do at full pace: at most twice as many as there
// are slots are in the engine. Prints the files and bytes stored and the
// seconds from the first request to the last commit.
//
// With COUNT and SIZE: prints the CPU seconds that SHA-256 and SHA-1 of so
// many files of so many bytes take by themselves, on one core. Each file's
// digests are begun and ended, as the engine must, and the bytes come in
// pieces as large as the transport's buffer.

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "clients/http/curl_transport.h"
#include "clients/http/host_policy.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/digest.h"
#include "services/common/mutex.h"
#include "services/common/process.h"
#include "services/common/random.h"
#include "services/download_worker/engine/download_engine.h"

namespace bimbackup {
namespace {

// Nothing here expires.
class NoResolver : public engine::SourceResolver {
 public:
  void Resolve(const engine::TransferTask&,
               std::function<void(absl::StatusOr<engine::Source>)>) override {
    std::fprintf(stderr, "a URL was refused\n");
    std::abort();
  }
};

std::vector<engine::TransferTask> ReadList(const std::string& path) {
  std::vector<engine::TransferTask> tasks;
  std::ifstream list(path);
  std::string url;
  int64_t size = 0;
  std::string sha1;
  while (list >> url >> size >> sha1) {
    engine::TransferTask task;
    task.transfer_id = static_cast<int64_t>(tasks.size()) + 1;
    task.storage_urn = absl::StrCat("urn:bench:", url);
    task.source.ranges.push_back({.first = 0, .last = size - 1, .url = url});
    task.source.size = size;
    if (sha1 != "-") task.source.sha1 = sha1;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// Keeps the engine's queue filled, as a lease loop at full pace does.
class Feeder {
 public:
  Feeder(engine::DownloadEngine& engine,
         std::vector<engine::TransferTask> tasks)
      : engine_(engine), tasks_(std::move(tasks)) {}

  // Returns how many transfers were not stored.
  int Run() {
    for (engine::TransferTask& task : tasks_) {
      AwaitAtMost(2 * engine_.slots() - 1);
      Submit(std::move(task));
    }
    AwaitAtMost(0);
    MutexLock lock(mutex_);
    return failed_;
  }

  int64_t bytes() {
    MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  // Waits until no more than so many are in the engine.
  void AwaitAtMost(int running) {
    MutexLock lock(mutex_);
    while (running_ > running) changed_.Wait(mutex_);
  }

  void Submit(engine::TransferTask task) {
    {
      MutexLock lock(mutex_);
      ++running_;
    }
    engine_.Submit(std::move(task),
                   [this](uint64_t, const engine::TransferReport& report) {
                     OnEnded(report);
                   });
  }

  void OnEnded(const engine::TransferReport& report) {
    MutexLock lock(mutex_);
    --running_;
    if (report.outcome == engine::Outcome::kStored) {
      bytes_ += report.size;
    } else if (failed_++ == 0) {
      std::fprintf(stderr, "not stored: %s\n", report.message.c_str());
    }
    changed_.NotifyAll();
  }

  engine::DownloadEngine& engine_;
  std::vector<engine::TransferTask> tasks_;
  Mutex mutex_;
  CondVar changed_;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  int failed_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

int Fail(absl::string_view what, const absl::Status& status) {
  std::cerr << what << ": " << status << "\n";
  return 1;
}

double ProcessCpuSeconds() {
  timespec spent = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + spent.tv_nsec * 1e-9;
}

int PrintDigestCost(int64_t count, int64_t size) {
  const std::string piece(http::CurlTransportOptions().buffer_bytes, 'x');
  const double started = ProcessCpuSeconds();
  for (int64_t file = 0; file < count; ++file) {
    Digest sha256(DigestKind::kSha256);
    Digest sha1(DigestKind::kSha1);
    for (int64_t left = size; left > 0;) {
      const absl::string_view bytes =
          absl::string_view(piece).substr(0, static_cast<size_t>(left));
      sha256.Update(bytes);
      sha1.Update(bytes);
      left -= static_cast<int64_t>(bytes.size());
    }
    if (sha256.FinishHex().empty() || sha1.FinishHex().empty()) return 1;
  }
  std::printf("{\"cpu_seconds\": %.4f}\n", ProcessCpuSeconds() - started);
  return 0;
}

int Main(int argc, char** argv) {
  int64_t count = 0;
  int64_t size = 0;
  if (argc == 3 && absl::SimpleAtoi(argv[1], &count) &&
      absl::SimpleAtoi(argv[2], &size)) {
    return PrintDigestCost(count, size);
  }
  int slots = 0;
  if (argc != 5 || !absl::SimpleAtoi(argv[4], &slots) || slots < 1) {
    std::fprintf(stderr,
                 "usage: bimbackup-dataplane-bench LIST STORAGE "
                 "digests|sizes SLOTS\n"
                 "       bimbackup-dataplane-bench COUNT SIZE\n");
    return 2;
  }
  PrepareProcess();
  SystemClock clock;
  SeededRandom random;
  storage::OpenOptions open;
  open.url = argv[2];
  open.create = true;
  open.latest = "off";
  const auto storage = storage::OpenStorage(open);
  if (!storage.ok()) return Fail("storage", storage.status());
  http::CurlTransportOptions transport_options;
  transport_options.max_kept_connections = 2 * slots + 8;
  transport_options.io_threads = engine::kIoThreads;
  const auto transport = http::CurlTransport::Create(transport_options);
  if (!transport.ok()) return Fail("transport", transport.status());
  const http::HostPolicy hosts = http::HostPolicy::Default();
  NoResolver resolver;
  engine::EngineOptions options;
  options.slots = slots;
  options.max_slots = 2 * slots;
  options.digests = argv[3] == std::string("digests");
  engine::DownloadEngine engine({.clock = clock,
                                 .random = random,
                                 .transport = **transport,
                                 .storage = **storage,
                                 .hosts = hosts,
                                 .resolver = resolver},
                                options);
  std::vector<engine::TransferTask> tasks = ReadList(argv[1]);
  const size_t files = tasks.size();
  Feeder feeder(engine, std::move(tasks));
  const absl::Duration started = clock.Monotonic();
  const int failed = feeder.Run();
  const absl::Duration took = clock.Monotonic() - started;
  std::printf("{\"files\": %zu, \"bytes\": %lld, \"seconds\": %.3f}\n",
              files - failed, static_cast<long long>(feeder.bytes()),
              absl::ToDoubleSeconds(took));
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bimbackup

int main(int argc, char** argv) { return bimbackup::Main(argc, argv); }
