#include "services/download_worker/fake_coordinator.h"

#include <set>
#include <utility>

#include "grpcpp/grpcpp.h"

namespace bimbackup::download_worker {
namespace {

constexpr absl::Duration kHold = absl::Seconds(20);
constexpr int kBatch = 32;

}  // namespace

FakeCoordinator::FakeCoordinator(const std::string& address) {
  auto server = rpc::GrpcServer::Start(address, {this});
  if (server.ok()) server_ = *std::move(server);
}

FakeCoordinator::~FakeCoordinator() {
  if (server_ != nullptr) server_->Shutdown(absl::ZeroDuration());
}

void FakeCoordinator::Add(v1::Transfer transfer) {
  MutexLock lock(mutex_);
  waiting_.push_back(std::move(transfer));
  changed_.NotifyAll();
}

void FakeCoordinator::SetFresh(int64_t transfer_id, v1::DownloadSource source) {
  MutexLock lock(mutex_);
  fresh_[transfer_id] = std::move(source);
}

void FakeCoordinator::Revoke(int64_t transfer_id) {
  MutexLock lock(mutex_);
  leased_.erase(transfer_id);
  revoked_.push_back(transfer_id);
  changed_.NotifyAll();
}

void FakeCoordinator::DrainWorkers() {
  MutexLock lock(mutex_);
  drain_ = true;
  changed_.NotifyAll();
}

void FakeCoordinator::Refuse(std::string message) {
  MutexLock lock(mutex_);
  refusal_ = std::move(message);
}

v1::TransferResult FakeCoordinator::WaitForResult(int64_t transfer_id) {
  const absl::Duration deadline = clock_.Monotonic() + absl::Seconds(30);
  MutexLock lock(mutex_);
  do {
    for (const v1::TransferResult& result : results_) {
      if (result.transfer_id() == transfer_id) return result;
    }
  } while (clock_.WaitUntil(mutex_, changed_, deadline));
  return {};
}

std::vector<v1::TransferResult> FakeCoordinator::Results() {
  MutexLock lock(mutex_);
  return results_;
}

v1::SynchronizeRequest FakeCoordinator::LastRequest() {
  MutexLock lock(mutex_);
  return last_request_;
}

int FakeCoordinator::calls() {
  MutexLock lock(mutex_);
  return calls_;
}

int FakeCoordinator::resolves() {
  MutexLock lock(mutex_);
  return resolves_;
}

void FakeCoordinator::Take(const v1::SynchronizeRequest& request,
                           v1::SynchronizeResponse& response) {
  std::set<int64_t> named;
  for (const v1::HeldLease& held : request.held()) {
    named.insert(held.transfer_id());
  }
  for (const v1::TransferResult& result : request.results()) {
    results_.push_back(result);
    response.add_acknowledged_transfer_ids(result.transfer_id());
    leased_.erase(result.transfer_id());
  }
  for (auto it = leased_.begin(); it != leased_.end();) {
    if (named.count(it->first) > 0) {
      ++it;
      continue;
    }
    waiting_.push_back(it->second.transfer());
    it = leased_.erase(it);
  }
}

void FakeCoordinator::Grant(const v1::SynchronizeRequest& request,
                            v1::SynchronizeResponse& response) {
  for (int i = 0; i < std::min(kBatch, request.free_slots()); ++i) {
    if (waiting_.empty()) return;
    v1::GrantedLease& lease = *response.add_granted();
    *lease.mutable_transfer() = std::move(waiting_.front());
    waiting_.pop_front();
    lease.set_epoch(++last_epoch_);
    leased_[lease.transfer().transfer_id()] = lease;
  }
}

grpc::Status FakeCoordinator::Synchronize(grpc::ServerContext* context,
                                          const v1::SynchronizeRequest* request,
                                          v1::SynchronizeResponse* response) {
  MutexLock lock(mutex_);
  ++calls_;
  last_request_ = *request;
  if (!refusal_.empty()) {
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, refusal_);
  }
  Take(*request, *response);
  changed_.NotifyAll();
  const absl::Duration deadline =
      clock_.Monotonic() + (request->may_hold() ? kHold : absl::ZeroDuration());
  for (;;) {
    Grant(*request, *response);
    const bool told_to_drain = drain_ && !request->draining();
    if (response->granted_size() > 0 || !revoked_.empty() || told_to_drain) {
      break;
    }
    if (context->IsCancelled() || clock_.Monotonic() >= deadline) break;
    clock_.WaitUntil(
        mutex_, changed_,
        std::min(deadline, clock_.Monotonic() + absl::Milliseconds(20)));
  }
  for (const int64_t id : revoked_) response->add_revoked_transfer_ids(id);
  revoked_.clear();
  response->set_drain(drain_);
  response->set_lease_seconds(60);
  return grpc::Status::OK;
}

grpc::Status FakeCoordinator::ResolveDownload(
    grpc::ServerContext*, const v1::ResolveDownloadRequest* request,
    v1::ResolveDownloadResponse* response) {
  MutexLock lock(mutex_);
  ++resolves_;
  const auto it = fresh_.find(request->transfer_id());
  if (it == fresh_.end()) {
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "lost");
  }
  *response->mutable_source() = it->second;
  return grpc::Status::OK;
}

}  // namespace bimbackup::download_worker
