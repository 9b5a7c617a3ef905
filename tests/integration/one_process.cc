#include "tests/integration/one_process.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/content.h"
#include "services/common/digest.h"

namespace bimbackup::integration {
namespace {

using bim360_emulator::TreeEntry;

constexpr absl::Duration kPatience = absl::Seconds(100);

std::string Key(const std::string& project,
                const std::vector<std::string>& path) {
  return absl::StrCat(project, "/", absl::StrJoin(path, "/"));
}

std::string BytesOf(bim360_emulator::Account& account, const TreeEntry& entry) {
  const auto content = account.OpenObject(entry.tip.storage_key);
  if (!content.ok()) return "";
  std::string bytes((*content)->size(), '\0');
  (*content)->Read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

ProcessOptions::ProcessOptions() {
  emulator.limits = false;
  coordinator.listen = "127.0.0.1:0";
  coordinator.http_listen = "127.0.0.1:0";
  coordinator.client_id = emulator.client_id;
  coordinator.client_secret = Secret(emulator.client_secret);
  coordinator.account_id = emulator.account_id;
  coordinator.api_budget = std::numeric_limits<double>::infinity();
  coordinator.recheck_budget = absl::ZeroDuration();
}

OneProcess::OneProcess(ProcessOptions options)
    : storage_(folder_ / "storage"), coordinator_options_(options.coordinator) {
  std::filesystem::create_directory(storage_);
  auto emulator = bim360_emulator::Emulator::Start(options.emulator);
  if (!emulator.ok()) ADD_FAILURE() << emulator.status();
  emulator_ = *std::move(emulator);
  coordinator_options_.bim360_base_url = emulator_->base_url();
  coordinator_options_.storage = "file://" + storage_;
  coordinator_options_.state_dir = folder_ / "state";
  StartCoordinator();
}

OneProcess::~OneProcess() {
  for (auto& worker : workers_) worker->Drain();
  for (auto& worker : workers_) worker->Wait(absl::Seconds(10));
  workers_.clear();
  coordinator_.reset();
}

void OneProcess::StartCoordinator() {
  auto server = coordinator::CoordinatorServer::Start(coordinator_options_);
  if (!server.ok()) ADD_FAILURE() << server.status();
  coordinator_ = *std::move(server);
  // Where workers look for it again after a restart.
  coordinator_options_.listen = coordinator_->address();
  stub_ = v1::CoordinatorService::NewStub(grpc::CreateChannel(
      coordinator_->address(), grpc::InsecureChannelCredentials()));
}

void OneProcess::StopCoordinator() { coordinator_.reset(); }

void OneProcess::AddWorker() {
  download_worker::Options options;
  options.listen = "127.0.0.1:0";
  options.coordinator = coordinator_->address();
  options.storage = "file://" + storage_;
  auto worker = download_worker::DownloadWorkerServer::Start(options);
  if (!worker.ok()) ADD_FAILURE() << worker.status();
  workers_.push_back(*std::move(worker));
}

std::unique_ptr<grpc::ClientContext> Context() {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  context->set_wait_for_ready(true);
  return context;
}

v1::Backup OneProcess::Start(const v1::StartBackupRequest& request) {
  const auto context = Context();
  v1::StartBackupResponse response;
  const grpc::Status status =
      stub_->StartBackup(context.get(), request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.backup();
}

v1::Backup OneProcess::WaitForEnd() {
  return WatchUntil("backups/-", [](const v1::Backup&) { return false; });
}

v1::Backup OneProcess::RunBackup(const v1::StartBackupRequest& request) {
  const v1::Backup started = Start(request);
  const v1::Backup ended =
      WatchUntil(started.name(), [](const v1::Backup&) { return false; });
  EXPECT_EQ(ended.name(), started.name());
  EXPECT_GE(ended.state(), v1::BACKUP_STATE_SUCCEEDED) << "cut off";
  return ended;
}

std::map<std::string, v1::FileEntry> OneProcess::ListFiles(
    const std::string& snapshot, int page_size) {
  std::map<std::string, v1::FileEntry> entries;
  v1::ListFilesRequest request;
  request.set_parent(snapshot);
  request.set_page_size(page_size);
  do {
    const auto context = Context();
    v1::ListFilesResponse response;
    const grpc::Status status =
        stub_->ListFiles(context.get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    for (const v1::FileEntry& entry : response.files()) {
      const std::string key =
          Key(entry.project_name(), {entry.path().begin(), entry.path().end()});
      EXPECT_TRUE(entries.emplace(key, entry).second) << key << " twice";
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return entries;
}

std::vector<v1::TransferRecord> OneProcess::ListFailures() {
  const auto context = Context();
  v1::ListTransfersRequest request;
  request.set_parent("backups/-");
  request.set_filter("failed");
  v1::ListTransfersResponse response;
  const grpc::Status status =
      stub_->ListTransfers(context.get(), request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return {response.transfers().begin(), response.transfers().end()};
}

std::map<std::string, TreeEntry> OneProcess::AccountFiles() {
  std::map<std::string, TreeEntry> files;
  emulator_->account().VisitTree([&files](const TreeEntry& entry) {
    if (!entry.is_folder) files[Key(entry.project_name, entry.path)] = entry;
  });
  return files;
}

bim360_emulator::NodePath OneProcess::NodeOf(const TreeEntry& entry) {
  return {entry.project_guid, entry.path};
}

int64_t OneProcess::Calls(bim360_emulator::Endpoint endpoint) {
  return emulator_->log().Of(endpoint).requests;
}

void OneProcess::ExpectWhole() {
  const auto account = AccountFiles();
  size_t files = 0;
  for (const auto& [key, entry] : ListFiles()) {
    if (entry.kind() != "file") continue;
    ++files;
    const auto it = account.find(key);
    if (it == account.end()) {
      ADD_FAILURE() << key << " is not in the account";
      continue;
    }
    const std::string bytes = BytesOf(emulator_->account(), it->second);
    EXPECT_EQ(entry.status(), "stored") << key << ": " << entry.reason();
    EXPECT_EQ(entry.sha256(), Sha256Hex(bytes)) << key;
    EXPECT_TRUE(bytes == storage::ReadWholeFile(storage_ + "/latest/" +
                                                entry.stored_path()))
        << key;
  }
  EXPECT_EQ(files, account.size());
}

}  // namespace bimbackup::integration
