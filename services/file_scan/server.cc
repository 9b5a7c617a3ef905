#include "services/file_scan/server.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/clock.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/status_macros.h"
#include "services/file_scan/reader/input_file.h"
#include "services/file_scan/rpc/file_scan_service.h"

namespace bimbackup::file_scan {
namespace {

class GrpcFileScanServer : public Server {
 public:
  GrpcFileScanServer(std::unique_ptr<reader::RootFolder> root,
                     const rpc::ServiceOptions& options)
      : service_(std::move(root), options, clock_) {}

  absl::Status Listen(const std::string& address,
                      const bimbackup::rpc::Security& security) {
    ABSL_ASSIGN_OR_RETURN(server_, bimbackup::rpc::GrpcServer::Start(
                                       address, {&service_}, security));
    return absl::OkStatus();
  }

  const std::string& address() const override { return server_->address(); }
  void Shutdown(absl::Duration grace) override { server_->Shutdown(grace); }

 private:
  SystemClock clock_;
  rpc::FileScanServiceImpl service_;
  // Last, so that it has ended before what it serves.
  std::unique_ptr<bimbackup::rpc::GrpcServer> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options) {
  ABSL_ASSIGN_OR_RETURN(const bimbackup::rpc::Security security,
                        bimbackup::rpc::Security::Load(options.security));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<reader::RootFolder> root,
                        reader::RootFolder::Open(options.root));
  if (!options.scratch.empty() &&
      access(options.scratch.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--scratch is not a writable folder: ", options.scratch));
  }
  rpc::ServiceOptions service_options;
  service_options.max_scans = options.max_scans;
  service_options.scratch = options.scratch;
  auto server =
      std::make_unique<GrpcFileScanServer>(std::move(root), service_options);
  ABSL_RETURN_IF_ERROR(server->Listen(options.listen, security));
  return server;
}

}  // namespace bimbackup::file_scan
