// The coordinator's process.

#include <memory>

#include "services/common/flags.h"
#include "services/common/logging.h"
#include "services/common/process.h"
#include "services/coordinator/options.h"
#include "services/coordinator/server.h"

int main(int argc, char** argv) {
  using bimbackup::coordinator::CoordinatorServer;
  bimbackup::PrepareProcess();
  const bimbackup::coordinator::ParsedOptions parsed =
      bimbackup::coordinator::ParseOptions(argc, argv);
  if (parsed.exit_code.has_value()) return *parsed.exit_code;
  if (absl::Status status =
          bimbackup::StartLogging("coordinator", parsed.options.log_level);
      !status.ok()) {
    return bimbackup::ReportUsageError("bimbackup-coordinator", status);
  }
  const absl::StatusOr<std::unique_ptr<CoordinatorServer>> server =
      CoordinatorServer::Start(parsed.options);
  if (!server.ok()) {
    return bimbackup::ReportUsageError("bimbackup-coordinator",
                                       server.status());
  }
  bimbackup::WaitForTermination();
  spdlog::info("stopping");
  (*server)->Stop();
  return 0;
}
