// Measures the line readers and the stream of FileScanService against GNU
// `wc -l` on the same file, interleaved, and prints one JSON object a
// measurement. tests/bench/scan.py makes a table of them.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "bimbackup/v1/file_scan_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/status_macros.h"
#include "services/file_scan/bench/corpus.h"
#include "services/file_scan/bench/measurement.h"
#include "services/file_scan/reader/line_reader.h"
#include "services/file_scan/reader/newline_kernels.h"

extern char** environ;

namespace bimbackup::file_scan::bench {
namespace {

using reader::Strategy;

struct Settings {
  std::string folder;
  std::string server;
  int64_t bytes = int64_t{1} << 30;
  int64_t lesson_bytes = int64_t{100} << 20;
  int64_t line_message_bytes = int64_t{16} << 20;
  int runs = 5;
};

// Something to measure, on one of the corpora.
struct Case {
  std::string group;
  std::string name;
  int64_t bytes = 0;
  std::function<absl::StatusOr<Measurement>()> run;
};

absl::Duration CpuOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return absl::DurationFromTimespec(time);
}

pid_t Spawn(const std::vector<std::string>& command, bool quiet) {
  std::vector<char*> arguments;
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr,
                                 arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

// GNU wc, its start included.
absl::StatusOr<Measurement> RunWc(const std::string& path, int64_t bytes) {
  SystemClock clock;
  const absl::Duration begin = clock.Monotonic();
  const pid_t pid = Spawn({"wc", "-l", path}, /*quiet=*/true);
  int status = -1;
  rusage usage{};
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) {
    return absl::InternalError("wc failed");
  }
  Measurement result;
  result.elapsed = clock.Monotonic() - begin;
  result.cpu = absl::DurationFromTimeval(usage.ru_utime) +
               absl::DurationFromTimeval(usage.ru_stime);
  result.bytes = bytes;
  return result;
}

// A bimbackup-file-scan on a unix socket, and a client of it.
class Server {
 public:
  explicit Server(const Settings& settings) {
    const std::string address =
        absl::StrCat("unix:", settings.folder, "/scan-bench.sock");
    pid_ = Spawn({settings.server, "--listen=" + address,
                  "--root=" + settings.folder, "--log_level=warning"},
                 /*quiet=*/false);
    clock_getcpuclockid(pid_, &cpu_clock_);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::FileScanService::NewStub(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments));
  }
  ~Server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

  // Reads all lines of `file`; the processor time is both ends'.
  absl::StatusOr<Measurement> ReadLines(const std::string& file,
                                        int batch_bytes, bool lengths) {
    v1::ReadLinesRequest request;
    request.set_path(file);
    request.set_batch_bytes(batch_bytes);
    request.set_omit_line_lengths(!lengths);
    SystemClock clock;
    const absl::Duration begin = clock.Monotonic();
    const absl::Duration cpu = Cpu();
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::minutes(5));
    const auto stream = stub_->ReadLines(&context, request);
    Measurement result;
    v1::ReadLinesResponse response;
    while (stream->Read(&response)) {
      const std::string& lines = response.lines();
      result.bytes += lines.size();
      result.lines += lengths ? response.line_lengths_size()
                              : reader::BestNewlineKernels()
                                    .scan(lines.data(), lines.size())
                                    .newlines;
      ++result.reads;
    }
    const grpc::Status status = stream->Finish();
    if (!status.ok()) return absl::InternalError(status.error_message());
    result.elapsed = clock.Monotonic() - begin;
    result.cpu = Cpu() - cpu;
    return result;
  }

 private:
  absl::Duration Cpu() const {
    return CpuOf(CLOCK_PROCESS_CPUTIME_ID) + CpuOf(cpu_clock_);
  }

  pid_t pid_ = -1;
  clockid_t cpu_clock_{};
  std::unique_ptr<v1::FileScanService::Stub> stub_;
};

// All cases, and what they read.
class Bench {
 public:
  explicit Bench(const Settings& settings)
      : settings_(settings), server_(settings) {}

  absl::Status Prepare() {
    ABSL_ASSIGN_OR_RETURN(large_, Corpus("scan-large.txt", settings_.bytes));
    ABSL_ASSIGN_OR_RETURN(lesson_,
                          Corpus("scan-lesson.txt", settings_.lesson_bytes));
    ABSL_ASSIGN_OR_RETURN(
        small_, Corpus("scan-small.txt", settings_.line_message_bytes));
    AddLocalCases();
    AddStreamCases();
    AddLessonCases();
    return absl::OkStatus();
  }

  // Every case once, then again; the first round only warms up.
  absl::Status Run() {
    for (int run = -1; run < settings_.runs; ++run) {
      for (const Case& measured : cases_) {
        if (run < 0 && measured.group == "lesson") continue;
        absl::StatusOr<Measurement> result = measured.run();
        if (absl::IsUnavailable(result.status())) continue;
        if (!result.ok()) {
          return absl::Status(
              result.status().code(),
              absl::StrCat(measured.name, ": ", result.status().message()));
        }
        if (run >= 0) Print(run, measured, *result);
      }
    }
    return absl::OkStatus();
  }

 private:
  using File = std::shared_ptr<const reader::InputFile>;

  std::string Path(const std::string& name) const {
    return absl::StrCat(settings_.folder, "/", name);
  }

  absl::StatusOr<File> Corpus(const std::string& name, int64_t bytes) {
    const std::string path = Path(name);
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || info.st_size != bytes) {
      const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
      CorpusSpec spec;
      spec.bytes = bytes;
      const absl::Status status = WriteCorpus(fd, spec);
      close(fd);
      if (!status.ok()) return status;
    }
    return reader::InputFile::Open(path);
  }

  void Add(const std::string& group, const std::string& name, int64_t bytes,
           std::function<absl::StatusOr<Measurement>()> run) {
    cases_.push_back({group, name, bytes, std::move(run)});
  }

  void AddRead(const std::string& group, const std::string& name,
               const File& file, Strategy strategy, int64_t buffer, Work work) {
    reader::ReaderOptions options;
    options.strategy = strategy;
    options.buffer_bytes = buffer;
    Add(group, name, file->size(), [this, file, options, work] {
      return Measure(file, options, work, clock_);
    });
  }

  void AddLocalCases() {
    Add("wc", "wc -l", settings_.bytes,
        [this] { return RunWc(Path("scan-large.txt"), settings_.bytes); });
    for (const Strategy strategy : {Strategy::kBlocking, Strategy::kIoUring,
                                    Strategy::kMmap, Strategy::kParallel}) {
      for (const Work work :
           {Work::kCount, Work::kView, Work::kKeep, Work::kKeepViews}) {
        AddRead("local",
                absl::StrCat(WorkName(work), ", ", StrategyName(strategy)),
                large_, strategy, 0, work);
      }
    }
  }

  void AddStreamCases() {
    Add("stream", "stream, lengths counted", settings_.bytes, [this] {
      return server_.ReadLines("scan-large.txt", 256 << 10, true);
    });
    Add("stream", "stream, line feeds counted", settings_.bytes, [this] {
      return server_.ReadLines("scan-large.txt", 256 << 10, false);
    });
  }

  void AddLessonCases() {
    AddRead("lesson", "blocking, 1 KB", lesson_, Strategy::kBlocking, 1 << 10,
            Work::kKeep);
    for (const int kib : {1, 4, 16, 64, 256}) {
      AddRead("lesson", absl::StrCat("async, ", kib, " KB"), lesson_,
              Strategy::kAsync, kib << 10, Work::kKeep);
    }
    AddRead("lesson", "async, 10 MB", lesson_, Strategy::kAsync, 10'000'000,
            Work::kKeep);
    AddRead("lesson", "blocking, 10 MB", lesson_, Strategy::kBlocking,
            10'000'000, Work::kKeep);
    Add("lesson", "ReadLines, 256 KB a message", settings_.lesson_bytes,
        [this] {
          return server_.ReadLines("scan-lesson.txt", 256 << 10, true);
        });
    Add("lesson", "ReadLines, one line a message", settings_.line_message_bytes,
        [this] { return server_.ReadLines("scan-small.txt", 1, true); });
  }

  static void Print(int run, const Case& measured, const Measurement& result) {
    std::printf(
        "{\"run\": %d, \"group\": \"%s\", \"name\": \"%s\", \"bytes\": %lld, "
        "\"lines\": %lld, \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
        run, measured.group.c_str(), measured.name.c_str(),
        static_cast<long long>(measured.bytes),
        static_cast<long long>(result.lines),
        absl::ToDoubleSeconds(result.elapsed),
        absl::ToDoubleSeconds(result.cpu));
    std::fflush(stdout);
  }

  const Settings settings_;
  SystemClock clock_;
  Server server_;
  File large_;
  File lesson_;
  File small_;
  std::vector<Case> cases_;
};

absl::Status RunBench(const Settings& settings) {
  Bench bench(settings);
  ABSL_RETURN_IF_ERROR(bench.Prepare());
  return bench.Run();
}

}  // namespace
}  // namespace bimbackup::file_scan::bench

int main(int argc, char** argv) {
  CLI::App app("Measures line readers against wc -l", "bimbackup-scan-bench");
  bimbackup::file_scan::bench::Settings settings;
  app.add_option("--folder", settings.folder, "Where the corpora are kept")
      ->required();
  app.add_option("--server", settings.server, "The bimbackup-file-scan to run")
      ->required();
  app.add_option("--bytes", settings.bytes, "Size of the large corpus");
  app.add_option("--lesson_bytes", settings.lesson_bytes,
                 "Size of the corpus for what is slow");
  app.add_option("--runs", settings.runs, "Measurements of each case");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = bimbackup::file_scan::bench::RunBench(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bimbackup-scan-bench: %s\n", status.ToString().c_str());
  return 1;
}
