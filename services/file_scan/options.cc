#include "services/file_scan/options.h"

#include "CLI/CLI.hpp"

namespace bimbackup::file_scan {

void AddFlags(CLI::App& app, Options& options) {
  app.add_option("--listen", options.listen,
                 "Where to serve gRPC: host:port, or unix:/path")
      ->envname("BIMBACKUP_LISTEN")
      ->capture_default_str();
  app.add_option("--root", options.root,
                 "The folder whose files may be read, and nothing else")
      ->envname("BIMBACKUP_ROOT")
      ->required();
  app.add_option("--scratch", options.scratch,
                 "Where benchmarks generate their corpus; none are generated "
                 "without it")
      ->envname("BIMBACKUP_SCRATCH");
  app.add_option("--max_scans", options.max_scans,
                 "Calls that may run at a time")
      ->envname("BIMBACKUP_MAX_SCANS")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bimbackup::rpc::AddTlsFlags(app, options.security);
  bimbackup::rpc::AddInsecureFlag(app, options.security);
  app.add_option("--log_level", options.log_level,
                 "debug, info, warning or error")
      ->envname("BIMBACKUP_LOG_LEVEL")
      ->capture_default_str();
}

}  // namespace bimbackup::file_scan
