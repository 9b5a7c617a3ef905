// bimbackup-worker: moves the bytes of a backup.

#include "absl/time/time.h"
#include "services/common/flags.h"
#include "services/common/logging.h"
#include "services/common/process.h"
#include "services/download_worker/options.h"
#include "services/download_worker/server.h"

namespace bimbackup::download_worker {
namespace {

constexpr absl::string_view kProgram = "bimbackup-worker";

bool Terminated() { return WaitForTermination(absl::Milliseconds(250)); }

// Serves until a signal, a drain or the coordinator's refusal ends it.
int Serve(DownloadWorkerServer& server) {
  std::optional<absl::Status> ended;
  while (!ended.has_value()) {
    if (Terminated()) server.Drain();
    ended = server.Wait(absl::ZeroDuration());
  }
  if (!ended->ok()) return ReportUsageError(kProgram, *ended);
  spdlog::info("drained");
  return 0;
}

int Main(int argc, const char* const* argv) {
  PrepareProcess();
  const ParsedOptions parsed = ParseOptions(argc, argv);
  if (parsed.exit_code.has_value()) return *parsed.exit_code;
  const absl::Status logging = StartLogging("worker", parsed.options.log_level);
  if (!logging.ok()) return ReportUsageError(kProgram, logging);
  auto server = DownloadWorkerServer::Start(parsed.options, &Terminated);
  if (absl::IsCancelled(server.status())) return 0;
  if (!server.ok()) return ReportUsageError(kProgram, server.status());
  return Serve(**server);
}

}  // namespace
}  // namespace bimbackup::download_worker

int main(int argc, char** argv) {
  return bimbackup::download_worker::Main(argc, argv);
}
