// bim360-emulator: see --help.

#include <iostream>

#include "services/bim360_emulator/emulator.h"
#include "services/common/flags.h"
#include "services/common/logging.h"
#include "services/common/process.h"

int main(int argc, char** argv) {
  using bimbackup::ReportUsageError;
  bimbackup::PrepareProcess();
  bimbackup::bim360_emulator::EmulatorOptions options;
  if (const std::optional<int> exit_code =
          bimbackup::bim360_emulator::ParseEmulatorFlags(argc, argv, options)) {
    return *exit_code;
  }
  const absl::Status logging = bimbackup::StartLogging("emulator", "info");
  if (!logging.ok()) return ReportUsageError("bim360-emulator", logging);
  auto emulator =
      bimbackup::bim360_emulator::Emulator::Start(std::move(options));
  if (!emulator.ok()) {
    return ReportUsageError("bim360-emulator", emulator.status());
  }
  spdlog::info("serving {} at {}", (*emulator)->options().account,
               (*emulator)->base_url());
  std::cout << (*emulator)->base_url() << std::endl;
  bimbackup::WaitForTermination();
  spdlog::info("stopping");
  (*emulator)->Stop();
  return 0;
}
