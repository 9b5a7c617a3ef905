#include "services/coordinator/server.h"

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/bim360/api_limiter.h"
#include "clients/bim360/aps_client.h"
#include "clients/http/curl_transport.h"
#include "clients/http/host_policy.h"
#include "services/common/clock.h"
#include "services/common/logging.h"
#include "services/common/random.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/status_macros.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/catalog/sweep_gate.h"
#include "services/coordinator/http_side.h"
#include "services/coordinator/lease/lease_pool.h"
#include "services/coordinator/pages.h"
#include "services/coordinator/port_check.h"
#include "services/coordinator/retention/forgetter.h"
#include "services/coordinator/rpc/coordinator_service.h"
#include "services/coordinator/rpc/worker_pool_service.h"
#include "services/coordinator/snapshot/damage_keeper.h"
#include "services/coordinator/snapshot/storage_snapshot_step.h"
#include "services/coordinator/state.h"

namespace bimbackup::coordinator {
namespace {

// How long running calls may take to end at a stop.
constexpr absl::Duration kCallGrace = absl::Seconds(3);
// Temporary files that nobody touched for so long are swept at the start.
constexpr absl::Duration kStaleAge = absl::Hours(7 * 24);

http::CurlTransportOptions TransportOptions() {
  http::CurlTransportOptions options;
  options.max_kept_connections = 128;
  options.buffer_bytes = 64 * 1024;
  options.accept_gzip = true;
  options.user_agent =
      absl::StrCat("bimbackup-coordinator/", BIMBACKUP_VERSION);
  return options;
}

bim360::ApsClientOptions ClientOptions(const Options& options) {
  bim360::ApsClientOptions client;
  client.base_url = options.bim360_base_url;
  client.client_id = options.client_id;
  client.client_secret = options.client_secret;
  client.include_hidden = options.include_hidden;
  client.include_service_folders = options.include_service_folders;
  return client;
}

backup::BackupOptions RunnerOptions(const Options& options) {
  backup::BackupOptions runner;
  runner.hub_id = options.hub();
  runner.client_id = options.client_id;
  runner.viewer = absl::StrCat(options.client_id, "|", options.include_hidden,
                               "|", options.include_service_folders);
  runner.recheck_budget = options.recheck_budget;
  runner.max_duration = options.max_duration;
  return runner;
}

storage::format::NameOptions NameOptionsOf(const Options& options) {
  storage::format::NameOptions names;
  names.max_name_bytes = options.max_name_bytes;
  names.windows_safe = options.windows_names;
  return names;
}

}  // namespace

// In the order in which each is needed by the next; Stop() ends them in the
// order in which they stop needing each other.
struct CoordinatorServer::Parts {
  explicit Parts(const Options& given)
      : options(given), limiter(given.api_budget, clock) {}
  ~Parts() { Stop(); }

  absl::Status CheckAndBind();
  absl::Status StartDomain();
  absl::Status StartServing();
  void Stop();

  const Options options;
  rpc::Security security;
  SystemClock clock;
  SeededRandom random;
  bim360::ApiLimiter limiter;
  std::optional<http::HostPolicy> hosts;
  std::unique_ptr<http::CurlTransport> transport;
  std::unique_ptr<bim360::ApsClient> client;
  std::unique_ptr<HttpSide> http_side;
  std::string address;
  std::string http_address;
  State state;
  catalog::SweepGates gates;
  std::unique_ptr<snapshot::StorageSnapshotStep> snapshot_step;
  std::unique_ptr<snapshot::DamageKeeper> damage_keeper;
  std::unique_ptr<lease::LeasePool> pool;
  std::unique_ptr<backup::BackupRunner> runner;
  std::unique_ptr<retention::Forgetter> forgetter;
  std::unique_ptr<coordinator_rpc::CoordinatorServiceImpl> service;
  std::unique_ptr<coordinator_rpc::WorkerPoolServiceImpl> worker_service;
  std::unique_ptr<rpc::GrpcServer> grpc_server;
  std::atomic<bool> serving = false;
};

// Whatever can be refused is refused here, before anything is written.
absl::Status CoordinatorServer::Parts::CheckAndBind() {
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  ABSL_ASSIGN_OR_RETURN(security, rpc::Security::Load(options.security));
  ABSL_RETURN_IF_ERROR(security.CheckListen("--listen", options.listen));
  auto policy = http::HostPolicy::Parse(options.allowed_hosts);
  if (!policy.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--allowed_hosts: ", policy.status().message()));
  }
  hosts = *std::move(policy);
  if (absl::Status api = hosts->CheckApi(options.bim360_base_url); !api.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bim360_base_url: ", api.message()));
  }
  ABSL_ASSIGN_OR_RETURN(transport,
                        http::CurlTransport::Create(TransportOptions()));
  ABSL_ASSIGN_OR_RETURN(
      client, bim360::ApsClient::Create(ClientOptions(options), *transport,
                                        limiter, clock, random));
  ABSL_RETURN_IF_ERROR(CheckListenable(options.listen));
  if (options.http_listen.empty()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(http_side,
                        HttpSide::Bind(options.http_listen, security));
  http_address = http_side->address();
  return absl::OkStatus();
}

absl::Status CoordinatorServer::Parts::StartDomain() {
  ABSL_ASSIGN_OR_RETURN(state, OpenState(options, clock, random));
  if (absl::Status swept = state.storage->SweepTemporary(kStaleAge);
      !swept.ok()) {
    spdlog::warn("cannot sweep the temporary files: {}", swept);
  }
  snapshot_step = std::make_unique<snapshot::StorageSnapshotStep>(
      *state.catalog, *state.catalog, *state.storage, clock, options.account_id,
      NameOptionsOf(options), gates);
  damage_keeper = std::make_unique<snapshot::DamageKeeper>(
      *state.catalog, *state.storage, gates);
  lease::LeasePool::Options pool_options;
  pool_options.lease_life = options.lease_duration;
  pool_options.results_gate = &gates.results;
  pool = std::make_unique<lease::LeasePool>(*state.catalog, *state.storage,
                                            *client, *hosts, clock, random,
                                            pool_options);
  runner = std::make_unique<backup::BackupRunner>(
      *state.catalog, *client, limiter, *state.storage, *pool, *snapshot_step,
      clock, RunnerOptions(options));
  ABSL_RETURN_IF_ERROR(pool->Start());
  // Leases of an earlier process are known before any worker can ask.
  return runner->Start();
}

absl::Status CoordinatorServer::Parts::StartServing() {
  forgetter = std::make_unique<retention::Forgetter>(
      *state.storage, *state.catalog, gates, clock, options.state_dir);
  service = std::make_unique<coordinator_rpc::CoordinatorServiceImpl>(
      coordinator_rpc::ServiceDeps{.runner = *runner,
                                   .catalog = *state.catalog,
                                   .pool = *pool,
                                   .storage = *state.storage,
                                   .limiter = limiter,
                                   .clock = clock,
                                   .random = random,
                                   .damage = *damage_keeper,
                                   .forgetter = *forgetter,
                                   .snapshot = *snapshot_step,
                                   .scratch_folder = options.state_dir});
  worker_service = std::make_unique<coordinator_rpc::WorkerPoolServiceImpl>(
      *pool, state.storage->id(), clock);
  ABSL_ASSIGN_OR_RETURN(
      grpc_server,
      rpc::GrpcServer::Start(options.listen,
                             {service.get(), worker_service.get()}, security));
  address = grpc_server->address();
  serving = true;
  if (http_side == nullptr) return absl::OkStatus();
  HttpPages pages;
  pages.healthy = [this] { return serving.load(); };
  pages.pause = [this] { return runner->GetPause().message; };
  pages.metrics = [this] { return MakeMetrics(*runner, *pool, limiter); };
  pages.status = [this] { return MakeStatusPage(*runner, *pool); };
  http_side->Serve(std::move(pages));
  return absl::OkStatus();
}

void CoordinatorServer::Parts::Stop() {
  serving = false;
  if (grpc_server != nullptr) grpc_server->SetServing(false);
  if (runner != nullptr) runner->Stop();
  if (pool != nullptr) pool->Stop();
  if (grpc_server != nullptr) grpc_server->Shutdown(kCallGrace);
  if (http_side != nullptr) http_side->Stop();
  grpc_server.reset();
  // Their queues end with what they still hold.
  worker_service.reset();
  service.reset();
}

CoordinatorServer::CoordinatorServer(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}

CoordinatorServer::~CoordinatorServer() = default;

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Start(
    const Options& options) {
  auto parts = std::make_unique<Parts>(options);
  ABSL_RETURN_IF_ERROR(parts->CheckAndBind());
  ABSL_RETURN_IF_ERROR(parts->StartDomain());
  ABSL_RETURN_IF_ERROR(parts->StartServing());
  spdlog::info("coordinator serves on {}, storage {}, hub {}", parts->address,
               parts->state.storage->id(), options.hub());
  if (parts->http_side != nullptr) {
    spdlog::info("HTTP side serves on {}", parts->http_address);
  }
  return std::unique_ptr<CoordinatorServer>(
      new CoordinatorServer(std::move(parts)));
}

void CoordinatorServer::Stop() { parts_->Stop(); }

const std::string& CoordinatorServer::address() const {
  return parts_->address;
}

const std::string& CoordinatorServer::http_address() const {
  return parts_->http_address;
}

}  // namespace bimbackup::coordinator
