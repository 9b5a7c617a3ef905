#include "services/common/rpc/roles.h"

#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpc/grpc_security_constants.h"
#include "services/common/logging.h"

namespace bimbackup::rpc {
namespace {

constexpr absl::string_view kRolePrefix = "bimbackup://role/";
constexpr absl::Duration kLineInterval = absl::Seconds(1);
// A subject may be as long as its CA likes.
constexpr size_t kMaxSubjectBytes = 200;

enum class Callers {
  kAnyCertificate,
  kWorkers,
  // And operators.
  kReaders,
  kOperators,
};

// By service and method. A new method of a proto is refused until it stands
// here, and a test says so.
using Table = std::map<absl::string_view, Callers>;

const Table& CoordinatorMethods() {
  static const Table& table = *new Table{
      {"GetBackup", Callers::kReaders},
      {"ListBackups", Callers::kReaders},
      {"WatchBackup", Callers::kReaders},
      {"ListTransfers", Callers::kReaders},
      {"ListSnapshots", Callers::kReaders},
      {"ListFiles", Callers::kReaders},
      {"ListWorkers", Callers::kReaders},
      {"GetLimits", Callers::kReaders},
      {"RestoreSnapshot", Callers::kReaders},
      {"ReadBlob", Callers::kReaders},
      {"DiffSnapshots", Callers::kReaders},
      {"StartBackup", Callers::kOperators},
      {"CancelBackup", Callers::kOperators},
      {"DrainWorker", Callers::kOperators},
      {"UpdateLimits", Callers::kOperators},
      {"AcceptChanges", Callers::kOperators},
      // Sets damaged blobs aside.
      {"VerifySnapshot", Callers::kOperators},
      {"ForgetSnapshots", Callers::kOperators},
      {"ProtectSnapshot", Callers::kOperators},
      {"RebuildLatestView", Callers::kOperators},
  };
  return table;
}

const std::map<absl::string_view, Table>& Services() {
  static const auto& services = *new std::map<absl::string_view, Table>{
      {"bimbackup.v1.CoordinatorService", CoordinatorMethods()},
      {"bimbackup.v1.WorkerPoolService",
       {{"Synchronize", Callers::kWorkers},
        {"ResolveDownload", Callers::kWorkers}}},
      {"bimbackup.v1.DownloadWorkerService",
       {{"GetStatus", Callers::kReaders},
        {"Download", Callers::kOperators},
        {"Drain", Callers::kOperators}}},
      {"bimbackup.v1.FileScanService",
       {{"Scan", Callers::kReaders},
        {"ReadLines", Callers::kReaders},
        // Writes a corpus, and keeps the machine busy.
        {"Benchmark", Callers::kOperators}}},
      {"grpc.health.v1.Health",
       {{"Check", Callers::kAnyCertificate},
        {"Watch", Callers::kAnyCertificate}}},
      {"grpc.reflection.v1alpha.ServerReflection",
       {{"ServerReflectionInfo", Callers::kAnyCertificate}}},
      // Not served, but asked for first: refused, a client would not ask for
      // the older one.
      {"grpc.reflection.v1.ServerReflection",
       {{"ServerReflectionInfo", Callers::kAnyCertificate}}},
  };
  return services;
}

bool Allows(Callers callers, Role role) {
  switch (callers) {
    case Callers::kAnyCertificate:
      return true;
    case Callers::kWorkers:
      return role == Role::kWorker;
    case Callers::kReaders:
      return role == Role::kReader || role == Role::kOperator;
    case Callers::kOperators:
      return role == Role::kOperator;
  }
  return false;
}

Role ParseRole(absl::string_view name) {
  for (const Role role : {Role::kWorker, Role::kReader, Role::kOperator}) {
    if (name == RoleName(role)) return role;
  }
  return Role::kNone;
}

absl::string_view View(grpc::string_ref text) {
  return absl::string_view(text.data(), text.size());
}

// The peer's subject, fit for a log and an error message.
std::string SubjectOf(const grpc::AuthContext& peer) {
  const auto subjects =
      peer.FindPropertyValues(GRPC_X509_SUBJECT_PROPERTY_NAME);
  if (subjects.empty()) return "(no subject)";
  return absl::CHexEscape(View(subjects.front()).substr(0, kMaxSubjectBytes));
}

}  // namespace

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kNone:
      break;
    case Role::kWorker:
      return "worker";
    case Role::kReader:
      return "reader";
    case Role::kOperator:
      return "operator";
  }
  return "no role";
}

Role RoleOf(const grpc::AuthContext& peer) {
  Role found = Role::kNone;
  int names = 0;
  for (const auto& value :
       peer.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    absl::string_view name = View(value);
    if (!absl::ConsumePrefix(&name, kRolePrefix)) continue;
    ++names;
    found = ParseRole(name);
  }
  return names == 1 ? found : Role::kNone;
}

bool MayCall(Role role, absl::string_view method) {
  if (!absl::ConsumePrefix(&method, "/")) return false;
  const size_t slash = method.find('/');
  if (slash == absl::string_view::npos) return false;
  const auto service = Services().find(method.substr(0, slash));
  if (service == Services().end()) return false;
  const auto found = service->second.find(method.substr(slash + 1));
  return found != service->second.end() && Allows(found->second, role);
}

grpc::Status RoleGate::Process(const InputMetadata& metadata,
                               grpc::AuthContext* peer, OutputMetadata*,
                               OutputMetadata*) {
  const auto path = metadata.find(":path");
  const absl::string_view method =
      path == metadata.end() ? absl::string_view() : View(path->second);
  const Role role = RoleOf(*peer);
  if (MayCall(role, method)) return grpc::Status::OK;
  const std::string message =
      absl::StrCat("the certificate ", SubjectOf(*peer), " (", RoleName(role),
                   ") may not call ", absl::CHexEscape(method.substr(0, 200)));
  Log(message);
  return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, message);
}

void RoleGate::Log(const std::string& message) {
  const absl::Duration now = clock_.Monotonic();
  int64_t untold = 0;
  {
    MutexLock lock(mutex_);
    if (now < next_line_) {
      ++untold_;
      return;
    }
    next_line_ = now + kLineInterval;
    std::swap(untold, untold_);
  }
  if (untold > 0) {
    spdlog::warn("refused: {}; {} more before it", message, untold);
  } else {
    spdlog::warn("refused: {}", message);
  }
}

}  // namespace bimbackup::rpc
