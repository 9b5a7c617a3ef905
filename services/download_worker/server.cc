#include "services/download_worker/server.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/http/curl_transport.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/logging.h"
#include "services/common/process.h"
#include "services/common/random.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/status_macros.h"
#include "services/download_worker/engine/download_engine.h"
#include "services/download_worker/lease/lease_loop.h"
#include "services/download_worker/rpc/coordinator_client.h"
#include "services/download_worker/rpc/download_worker_service.h"

namespace bimbackup::download_worker {
namespace {

// Requests at once before the engine has found out what is best.
constexpr int kFirstSlots = 32;
constexpr absl::Duration kMarkerLook = absl::Milliseconds(250);
constexpr absl::Duration kCallGrace = absl::Seconds(2);
// Temporary files that nobody has touched for so long are nobody's.
constexpr absl::Duration kStaleAge = absl::Hours(7 * 24);

// Whether the storage is merely not set up yet, as opposed to damaged, of a
// newer format, or no folder: its messages say so.
bool MayStillCome(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) &&
         absl::StrContains(status.message(), "is it mounted?");
}

// Opens the storage; one without marker may be about to get it.
absl::StatusOr<std::unique_ptr<storage::Storage>> OpenMarkedStorage(
    const Options& options, Clock& clock, bool (*interrupted)()) {
  storage::OpenOptions open;
  open.url = options.storage;
  open.create = false;
  open.latest = "off";
  const absl::Duration deadline = clock.Monotonic() + options.storage_wait;
  for (bool said = false;; said = true) {
    auto opened = storage::OpenStorage(open);
    if (!MayStillCome(opened.status()) || clock.Monotonic() >= deadline) {
      return opened;
    }
    if (!said) {
      spdlog::info("waiting for the coordinator to set up the storage: {}",
                   opened.status().message());
    }
    if (interrupted == nullptr) {
      clock.Sleep(kMarkerLook);
    } else if (interrupted()) {
      return absl::CancelledError("interrupted");
    }
  }
}

// Each slot has a connection, which every I/O thread may keep for it, a
// temporary file and its journal; the rest is for everything else.
int64_t SlotsByFiles() {
  return std::max<int64_t>(
      1, (FileDescriptorLimit() - 128) / (engine::kIoThreads + 3));
}

// Each slot has a receive buffer, its share of the commits and the state of
// its connection, of TLS too.
int64_t SlotsByMemory() {
  constexpr int64_t kBytesPerSlot = 2 << 20;
  return std::max<int64_t>(1, MemoryLimit() / 2 / kBytesPerSlot);
}

engine::EngineOptions EngineOptionsFor(const Options& options) {
  engine::EngineOptions result;
  result.max_slots = static_cast<int>(std::min<int64_t>(
      options.max_transfers, std::min(SlotsByFiles(), SlotsByMemory())));
  result.slots = std::min(kFirstSlots, result.max_slots);
  result.idle_limit = options.idle_limit;
  result.max_bandwidth = options.max_bandwidth;
  return result;
}

http::CurlTransportOptions TransportOptionsFor(const Options& options) {
  http::CurlTransportOptions result;
  result.io_threads = engine::kIoThreads;
  result.max_kept_connections = EngineOptionsFor(options).max_slots + 8;
  result.max_bytes_per_second = options.max_bandwidth;
  result.user_agent = absl::StrCat("bimbackup-worker/", BIMBACKUP_VERSION);
  return result;
}

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) != 0) return "worker";
  return name;
}

}  // namespace

// In the order in which each is needed by the next; Stop() ends them in the
// order in which they stop needing each other.
struct DownloadWorkerServer::Parts {
  Options options;
  rpc::Security security;
  SystemClock clock;
  SeededRandom random;
  std::unique_ptr<storage::Storage> storage;
  std::unique_ptr<http::CurlTransport> transport;
  std::unique_ptr<worker_rpc::CoordinatorClient> coordinator;
  std::unique_ptr<engine::DownloadEngine> engine;
  std::unique_ptr<worker_lease::LeaseLoop> loop;
  std::unique_ptr<worker_rpc::DownloadWorkerServiceImpl> service;
  std::unique_ptr<rpc::GrpcServer> grpc_server;

  ~Parts() { Stop(); }

  absl::Status StartEngine();
  absl::Status StartServing();
  // The lower of the coordinator's cap and our own counts; 0 is none.
  void SetBandwidth(int64_t cap);
  void Stop();
};

absl::Status DownloadWorkerServer::Parts::StartEngine() {
  ABSL_ASSIGN_OR_RETURN(
      transport, http::CurlTransport::Create(TransportOptionsFor(options)));
  const std::string worker_id = random.NextUuid();
  coordinator = std::make_unique<worker_rpc::CoordinatorClient>(
      rpc::Target(options.coordinator, security.ForClient()),
      worker_rpc::WorkerIdentity{
          .worker_id = worker_id,
          .display_name = absl::StrCat(HostName(), " ", getpid()),
          .storage_id = storage->id()},
      clock);
  engine = std::make_unique<engine::DownloadEngine>(
      engine::EngineDeps{.clock = clock,
                         .random = random,
                         .transport = *transport,
                         .storage = *storage,
                         .hosts = options.allowed_hosts,
                         .resolver = *coordinator},
      EngineOptionsFor(options));
  worker_lease::LeaseOptions lease_options;
  lease_options.drain_grace = options.drain_grace;
  lease_options.on_bandwidth = [this](int64_t cap) { SetBandwidth(cap); };
  loop = std::make_unique<worker_lease::LeaseLoop>(clock, random, *coordinator,
                                                   *engine, lease_options);
  return absl::OkStatus();
}

void DownloadWorkerServer::Parts::SetBandwidth(int64_t cap) {
  const int64_t own = options.max_bandwidth;
  const int64_t effective =
      cap == 0 || own == 0 ? std::max(cap, own) : std::min(cap, own);
  spdlog::info("bandwidth: {} B/s (0: unlimited)", effective);
  transport->SetMaxBytesPerSecond(effective);
  engine->SetBandwidthCap(effective);
}

absl::Status DownloadWorkerServer::Parts::StartServing() {
  service = std::make_unique<worker_rpc::DownloadWorkerServiceImpl>(
      worker_rpc::ServiceDeps{
          .clock = clock,
          .engine = *engine,
          .loop = *loop,
          .hosts = options.allowed_hosts,
          .identity = coordinator->identity(),
          .coordinator = options.coordinator,
          .drain = [this] { loop->Drain(options.drain_grace); }});
  ABSL_ASSIGN_OR_RETURN(
      grpc_server,
      rpc::GrpcServer::Start(options.listen, {service.get()}, security));
  loop->Start();
  return absl::OkStatus();
}

void DownloadWorkerServer::Parts::Stop() {
  if (grpc_server != nullptr) grpc_server->Shutdown(kCallGrace);
  if (loop != nullptr) loop->Stop();
  // Its callbacks go to the loop, so it ends first.
  engine.reset();
  grpc_server.reset();
  service.reset();
  loop.reset();
}

absl::StatusOr<std::unique_ptr<DownloadWorkerServer>>
DownloadWorkerServer::Start(const Options& options, bool (*interrupted)()) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  ABSL_ASSIGN_OR_RETURN(parts->security, rpc::Security::Load(options.security));
  ABSL_RETURN_IF_ERROR(parts->security.CheckListen("--listen", options.listen));
  ABSL_ASSIGN_OR_RETURN(parts->storage,
                        OpenMarkedStorage(options, parts->clock, interrupted));
  const absl::Status swept = parts->storage->SweepTemporary(kStaleAge);
  if (!swept.ok()) {
    spdlog::warn("cannot sweep the temporary files: {}", swept);
  }
  ABSL_RETURN_IF_ERROR(parts->StartEngine());
  ABSL_RETURN_IF_ERROR(parts->StartServing());
  spdlog::info("worker {} serves on {}, storage {}, coordinator {}",
               parts->coordinator->identity().worker_id,
               parts->grpc_server->address(), parts->storage->id(),
               options.coordinator);
  return std::unique_ptr<DownloadWorkerServer>(
      new DownloadWorkerServer(std::move(parts)));
}

DownloadWorkerServer::DownloadWorkerServer(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}

DownloadWorkerServer::~DownloadWorkerServer() = default;

const std::string& DownloadWorkerServer::address() const {
  return parts_->grpc_server->address();
}

const std::string& DownloadWorkerServer::worker_id() const {
  return parts_->coordinator->identity().worker_id;
}

void DownloadWorkerServer::Drain() {
  parts_->grpc_server->SetServing(false);
  parts_->loop->Drain(parts_->options.drain_grace);
}

std::optional<absl::Status> DownloadWorkerServer::Wait(absl::Duration timeout) {
  return parts_->loop->Wait(timeout);
}

}  // namespace bimbackup::download_worker
