// bimbackup-file-scan: reads files under one root, line by line, as RPCs.

#include "CLI/CLI.hpp"
#include "services/common/flags.h"
#include "services/common/logging.h"
#include "services/common/process.h"
#include "services/file_scan/options.h"
#include "services/file_scan/server.h"

int main(int argc, char** argv) {
  constexpr char kName[] = "bimbackup-file-scan";
  constexpr absl::Duration kGrace = absl::Seconds(5);
  bimbackup::PrepareProcess();
  CLI::App app("Reads files under one root, line by line", kName);
  bimbackup::file_scan::Options options;
  bimbackup::file_scan::AddFlags(app, options);
  if (const auto exit_code = bimbackup::ParseFlags(app, argc, argv)) {
    return *exit_code;
  }
  const absl::Status logging =
      bimbackup::StartLogging("file-scan", options.log_level);
  if (!logging.ok()) return bimbackup::ReportUsageError(kName, logging);
  auto server = bimbackup::file_scan::Server::Start(options);
  if (!server.ok()) {
    return bimbackup::ReportUsageError(kName, server.status());
  }
  spdlog::info("listening on {}, reading under {}", (*server)->address(),
               options.root);
  bimbackup::WaitForTermination();
  spdlog::info("draining");
  (*server)->Shutdown(kGrace);
  spdlog::info("stopped");
  return 0;
}
