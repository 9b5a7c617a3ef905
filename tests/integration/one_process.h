// Emulator, coordinator and workers in the test's own process.

#ifndef TESTS_INTEGRATION_ONE_PROCESS_H_
#define TESTS_INTEGRATION_ONE_PROCESS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "clients/storage/temp_folder.h"
#include "services/bim360_emulator/emulator.h"
#include "services/coordinator/options.h"
#include "services/coordinator/server.h"
#include "services/download_worker/server.h"

namespace bimbackup::integration {

// What a test may change before anything starts.
struct ProcessOptions {
  bim360_emulator::EmulatorOptions emulator;
  coordinator::Options coordinator;

  // No limits, no latencies, no recheck.
  ProcessOptions();
};

// Everything real but the processes and the network beyond loopback. Dies
// (fails the test and aborts) where something does not start.
class OneProcess {
 public:
  explicit OneProcess(ProcessOptions options = ProcessOptions());
  ~OneProcess();

  void AddWorker();
  // As SIGTERM does; the next start takes the same folders.
  void StopCoordinator();
  void StartCoordinator();

  // Starts a backup and waits for its end; its last state.
  v1::Backup RunBackup(const v1::StartBackupRequest& request = {});
  v1::Backup Start(const v1::StartBackupRequest& request = {});
  // Watches "backups/-" to its end.
  v1::Backup WaitForEnd();
  // Watches until `done` holds of a state; that state.
  template <typename Condition>
  v1::Backup WatchUntil(const std::string& name, Condition done);

  // Every entry of a snapshot, by "<project>/<path>", over all pages.
  std::map<std::string, v1::FileEntry> ListFiles(
      const std::string& snapshot = "snapshots/-", int page_size = 0);
  std::vector<v1::TransferRecord> ListFailures();

  // Fails the test unless the newest snapshot and the latest view are what
  // the account holds, byte for byte.
  void ExpectWhole();

  // Files of the account by "<project>/<path>".
  std::map<std::string, bim360_emulator::TreeEntry> AccountFiles();
  bim360_emulator::NodePath NodeOf(const bim360_emulator::TreeEntry& entry);
  int64_t Calls(bim360_emulator::Endpoint endpoint);

  bim360_emulator::Emulator& emulator() { return *emulator_; }
  v1::CoordinatorService::Stub& stub() { return *stub_; }
  const std::string& storage() const { return storage_; }
  coordinator::CoordinatorServer& coordinator() { return *coordinator_; }

 private:
  storage::TempFolder folder_;
  const std::string storage_;
  std::unique_ptr<bim360_emulator::Emulator> emulator_;
  coordinator::Options coordinator_options_;
  std::unique_ptr<coordinator::CoordinatorServer> coordinator_;
  std::unique_ptr<v1::CoordinatorService::Stub> stub_;
  std::vector<std::unique_ptr<download_worker::DownloadWorkerServer>> workers_;
};

// A context whose call ends within the test's patience.
std::unique_ptr<grpc::ClientContext> Context();

template <typename Condition>
v1::Backup OneProcess::WatchUntil(const std::string& name, Condition done) {
  const auto context = Context();
  v1::WatchBackupRequest request;
  request.set_name(name);
  const auto reader = stub_->WatchBackup(context.get(), request);
  v1::WatchBackupResponse response;
  while (reader->Read(&response)) {
    if (!done(response.backup())) continue;
    context->TryCancel();
    break;
  }
  reader->Finish();
  return response.backup();
}

}  // namespace bimbackup::integration

#endif  // TESTS_INTEGRATION_ONE_PROCESS_H_
