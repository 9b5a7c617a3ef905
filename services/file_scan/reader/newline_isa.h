// The kernels by instruction set; see newline_kernels.h for what they do.
// Which of them exist depends on the target, which of them run on the
// processor.

#ifndef SERVICES_FILE_SCAN_READER_NEWLINE_ISA_H_
#define SERVICES_FILE_SCAN_READER_NEWLINE_ISA_H_

#include <cstddef>
#include <cstdint>

#include "services/file_scan/reader/newline_kernels.h"

namespace bimbackup::file_scan::reader {

GapScan ScanScalar(const char* data, size_t size);
size_t IndexScalar(const char* data, size_t size, uint32_t* offsets);

GapScan ScanSse2(const char* data, size_t size);
size_t IndexSse2(const char* data, size_t size, uint32_t* offsets);

GapScan ScanAvx2(const char* data, size_t size);
size_t IndexAvx2(const char* data, size_t size, uint32_t* offsets);

GapScan ScanAvx512(const char* data, size_t size);
size_t IndexAvx512(const char* data, size_t size, uint32_t* offsets);

GapScan ScanNeon(const char* data, size_t size);
size_t IndexNeon(const char* data, size_t size, uint32_t* offsets);

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_NEWLINE_ISA_H_
