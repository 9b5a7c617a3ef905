// What requests ask for, in the domain's terms, and back.

#ifndef SERVICES_FILE_SCAN_RPC_WIRE_OPTIONS_H_
#define SERVICES_FILE_SCAN_RPC_WIRE_OPTIONS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bimbackup/v1/file_scan_service.pb.h"
#include "google/protobuf/duration.pb.h"
#include "services/file_scan/bench/corpus.h"
#include "services/file_scan/bench/measurement.h"
#include "services/file_scan/reader/line_batcher.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::rpc {

// All answer INVALID_ARGUMENT, naming the field, for what is out of its
// range, except where the domain checks it anyway.
absl::StatusOr<reader::ReaderOptions> ToReaderOptions(
    const v1::LineReadOptions& options, int64_t start_offset);
absl::StatusOr<reader::BatcherOptions> ToBatcherOptions(
    const v1::ReadLinesRequest& request);
absl::StatusOr<bench::Plan> ToPlan(const v1::BenchmarkRequest& request);
bench::CorpusSpec ToCorpusSpec(const v1::GeneratedCorpus& corpus);

v1::BenchmarkResponse ToResponse(const bench::Row& row);

google::protobuf::Duration ToProto(absl::Duration duration);
// Nothing where the field is not set.
absl::StatusOr<std::optional<absl::Duration>> ToProgressInterval(
    const v1::ScanRequest& request);

}  // namespace bimbackup::file_scan::rpc

#endif  // SERVICES_FILE_SCAN_RPC_WIRE_OPTIONS_H_
