// What the user asked for, as requests.

#ifndef CLIENTS_CLI_SCAN_SCAN_REQUESTS_H_
#define CLIENTS_CLI_SCAN_SCAN_REQUESTS_H_

#include "absl/status/statusor.h"
#include "bimbackup/v1/file_scan_service.pb.h"
#include "clients/cli/scan/scan_command.h"

namespace bimbackup::cli::scan {

// Both answer INVALID_ARGUMENT for a name that is not known; the server
// checks the rest. With `progress`, counts are sent now and then.
absl::StatusOr<v1::ScanRequest> ScanRequestFrom(const ScanOptions& options,
                                                bool progress);
absl::StatusOr<v1::BenchmarkRequest> BenchmarkRequestFrom(
    const ScanOptions& options);

}  // namespace bimbackup::cli::scan

#endif  // CLIENTS_CLI_SCAN_SCAN_REQUESTS_H_
