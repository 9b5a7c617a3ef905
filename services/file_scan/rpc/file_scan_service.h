// FileScanService over the readers.

#ifndef SERVICES_FILE_SCAN_RPC_FILE_SCAN_SERVICE_H_
#define SERVICES_FILE_SCAN_RPC_FILE_SCAN_SERVICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "bimbackup/v1/file_scan_service.grpc.pb.h"
#include "services/common/clock.h"
#include "services/file_scan/reader/input_file.h"
#include "services/file_scan/reader/line_reader.h"
#include "services/file_scan/rpc/scan_slots.h"

namespace bimbackup::file_scan::rpc {

struct ServiceOptions {
  // Calls that may run at a time, benchmarks included.
  int max_scans = 8;
  // Where corpora are generated; none are when empty.
  std::string scratch;
};

// Synchronous, since that streams faster here than the callback API does.
// Thread-safe.
class FileScanServiceImpl final : public v1::FileScanService::Service {
 public:
  // `clock` outlives this.
  FileScanServiceImpl(std::unique_ptr<reader::RootFolder> root,
                      const ServiceOptions& options, Clock& clock);

  grpc::Status Scan(grpc::ServerContext* context,
                    const v1::ScanRequest* request,
                    grpc::ServerWriter<v1::ScanResponse>* writer) override;
  grpc::Status Benchmark(
      grpc::ServerContext* context, const v1::BenchmarkRequest* request,
      grpc::ServerWriter<v1::BenchmarkResponse>* writer) override;

 private:
  using LinesStream =
      grpc::ServerSplitStreamer<v1::ReadLinesRequest, grpc::ByteBuffer>;

  // Takes the place of the generated ReadLines, to send messages that are
  // serialised already.
  grpc::Status ReadRawLines(grpc::ServerContext* context, LinesStream* stream);

  absl::Status DoScan(grpc::ServerContext& context,
                      const v1::ScanRequest& request,
                      grpc::ServerWriter<v1::ScanResponse>& writer);
  absl::Status DoReadLines(grpc::ServerContext& context,
                           const v1::ReadLinesRequest& request,
                           LinesStream& stream);
  absl::Status DoBenchmark(grpc::ServerContext& context,
                           const v1::BenchmarkRequest& request,
                           grpc::ServerWriter<v1::BenchmarkResponse>& writer);
  absl::StatusOr<std::shared_ptr<const reader::InputFile>> BenchmarkFile(
      const v1::BenchmarkRequest& request) const;

  const std::unique_ptr<reader::RootFolder> root_;
  const std::string scratch_;
  Clock& clock_;
  ScanSlots scans_;
  ScanSlots benchmarks_;
};

}  // namespace bimbackup::file_scan::rpc

#endif  // SERVICES_FILE_SCAN_RPC_FILE_SCAN_SERVICE_H_
