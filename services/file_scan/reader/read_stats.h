// What reading a file costs.

#ifndef SERVICES_FILE_SCAN_READER_READ_STATS_H_
#define SERVICES_FILE_SCAN_READER_READ_STATS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace bimbackup::file_scan::reader {

// What reading has cost so far.
struct ReadStats {
  // Refills: read calls, or windows mapped.
  int64_t reads = 0;
  // Processor time of threads other than the caller's. Complete once the file
  // has been read to its end.
  absl::Duration helper_cpu = absl::ZeroDuration();
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_READ_STATS_H_
