// A coordinator that says what a test tells it to.

#ifndef CLIENTS_CLI_FAKE_COORDINATOR_H_
#define CLIENTS_CLI_FAKE_COORDINATOR_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "services/common/mutex.h"
#include "services/common/rpc/grpc_server.h"

namespace bimbackup::cli {

// Serves on a free port of loopback. Thread-safe.
class FakeCoordinator : public v1::CoordinatorService::Service {
 public:
  // One stream of WatchBackup: what it tells, then how it ends.
  struct WatchScript {
    std::vector<v1::BackupState> states;
    grpc::Status end;
  };

  FakeCoordinator() : server_(*rpc::GrpcServer::Start("127.0.0.1:0", {this})) {}

  const std::string& address() const { return server_->address(); }

  void AddWatch(WatchScript script) {
    MutexLock lock(mutex_);
    scripts_.push_back(std::move(script));
  }
  // The next call of StartBackup counts, but its answer is lost.
  void LoseNextStart() {
    MutexLock lock(mutex_);
    lose_start_ = true;
  }
  std::vector<v1::StartBackupRequest> starts() const {
    MutexLock lock(mutex_);
    return starts_;
  }
  std::vector<std::string> watched() const {
    MutexLock lock(mutex_);
    return watched_;
  }

  v1::UpdateLimitsRequest limits_request() const {
    MutexLock lock(mutex_);
    return limits_request_;
  }

  grpc::Status GetLimits(grpc::ServerContext*, const v1::GetLimitsRequest*,
                         v1::GetLimitsResponse* response) override {
    response->mutable_limits()->set_api_budget("90%");
    return grpc::Status::OK;
  }

  grpc::Status UpdateLimits(grpc::ServerContext*,
                            const v1::UpdateLimitsRequest* request,
                            v1::UpdateLimitsResponse*) override {
    MutexLock lock(mutex_);
    limits_request_ = *request;
    return grpc::Status::OK;
  }

  v1::AcceptChangesRequest accept_request() const {
    MutexLock lock(mutex_);
    return accept_request_;
  }

  grpc::Status AcceptChanges(grpc::ServerContext*,
                             const v1::AcceptChangesRequest* request,
                             v1::AcceptChangesResponse* response) override {
    MutexLock lock(mutex_);
    accept_request_ = *request;
    response->set_files(150);
    response->set_folders(2);
    response->set_projects(1);
    return grpc::Status::OK;
  }

  grpc::Status ListTransfers(grpc::ServerContext*,
                             const v1::ListTransfersRequest*,
                             v1::ListTransfersResponse* response) override {
    v1::TransferRecord& folder = *response->add_transfers();
    folder.set_kind(v1::TRANSFER_RECORD_KIND_FOLDER);
    folder.set_project_name("Tower");
    folder.add_path("Plans");
    folder.set_reason("HTTP 403; guarded");
    folder.add_acceptable(v1::ACCEPT_KIND_DENIED);
    folder.add_acceptable(v1::ACCEPT_KIND_DELETIONS);
    v1::TransferRecord& file = *response->add_transfers();
    file.set_kind(v1::TRANSFER_RECORD_KIND_FILE);
    file.set_project_name("Tower");
    file.add_path("a.pdf");
    file.set_reason("HTTP 404");
    v1::TransferAttempt& attempt = *file.add_attempts();
    attempt.set_worker_id("w1");
    attempt.set_outcome(v1::TRANSFER_OUTCOME_NOT_FOUND);
    attempt.set_http_status(404);
    attempt.set_bytes_received(17);
    attempt.set_late(true);
    return grpc::Status::OK;
  }

  grpc::Status RebuildLatestView(
      grpc::ServerContext*, const v1::RebuildLatestViewRequest*,
      grpc::ServerWriter<v1::RebuildLatestViewResponse>* writer) override {
    v1::RebuildLatestViewResponse response;
    response.set_snapshot("snapshots/7");
    response.set_entries(9);
    writer->Write(response);
    response.set_entries_done(9);
    response.set_done(true);
    writer->Write(response);
    return grpc::Status::OK;
  }

  grpc::Status StartBackup(grpc::ServerContext*,
                           const v1::StartBackupRequest* request,
                           v1::StartBackupResponse* response) override {
    MutexLock lock(mutex_);
    starts_.push_back(*request);
    if (std::exchange(lose_start_, false)) {
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "restarting");
    }
    response->mutable_backup()->set_name("backups/7");
    return grpc::Status::OK;
  }

  grpc::Status WatchBackup(
      grpc::ServerContext*, const v1::WatchBackupRequest* request,
      grpc::ServerWriter<v1::WatchBackupResponse>* writer) override {
    WatchScript script;
    {
      MutexLock lock(mutex_);
      watched_.push_back(request->name());
      if (scripts_.empty()) {
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
      }
      script = std::move(scripts_.front());
      scripts_.pop_front();
    }
    for (const v1::BackupState state : script.states) {
      v1::WatchBackupResponse response;
      response.mutable_backup()->set_name("backups/7");
      response.mutable_backup()->set_state(state);
      writer->Write(response);
    }
    return script.end;
  }

  // Three pages of one worker each; the last token leads nowhere new.
  grpc::Status ListWorkers(grpc::ServerContext*,
                           const v1::ListWorkersRequest* request,
                           v1::ListWorkersResponse* response) override {
    const std::string& token = request->page_token();
    response->add_workers()->set_worker_id("worker" + token);
    response->set_next_page_token(token.empty()  ? "2"
                                  : token == "2" ? "3"
                                                 : "");
    return grpc::Status::OK;
  }

  grpc::Status DrainWorker(grpc::ServerContext*,
                           const v1::DrainWorkerRequest* request,
                           v1::DrainWorkerResponse* response) override {
    response->mutable_worker()->set_worker_id(request->worker_id());
    response->mutable_worker()->set_leases(5);
    return grpc::Status::OK;
  }

  // A list that never ends.
  grpc::Status ListSnapshots(grpc::ServerContext*,
                             const v1::ListSnapshotsRequest*,
                             v1::ListSnapshotsResponse* response) override {
    response->set_next_page_token("again");
    return grpc::Status::OK;
  }

 private:
  mutable Mutex mutex_;
  std::deque<WatchScript> scripts_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::StartBackupRequest> starts_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> watched_ ABSL_GUARDED_BY(mutex_);
  v1::UpdateLimitsRequest limits_request_ ABSL_GUARDED_BY(mutex_);
  v1::AcceptChangesRequest accept_request_ ABSL_GUARDED_BY(mutex_);
  bool lose_start_ ABSL_GUARDED_BY(mutex_) = false;
  // Last, so that no call runs once the rest is gone.
  const std::unique_ptr<rpc::GrpcServer> server_;
};

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_FAKE_COORDINATOR_H_
