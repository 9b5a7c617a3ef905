// The flags of bimbackup-file-scan.

#ifndef SERVICES_FILE_SCAN_OPTIONS_H_
#define SERVICES_FILE_SCAN_OPTIONS_H_

#include <string>

#include "services/common/rpc/security.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::file_scan {

struct Options {
  std::string listen = "127.0.0.1:50053";
  std::string root;
  std::string scratch;
  int max_scans = 8;
  bimbackup::rpc::SecurityFlags security;
  std::string log_level = "info";
};

// Adds the flags, and their environment twins, to `app`; parsing it fills
// `options`, which outlives it.
void AddFlags(CLI::App& app, Options& options);

}  // namespace bimbackup::file_scan

#endif  // SERVICES_FILE_SCAN_OPTIONS_H_
