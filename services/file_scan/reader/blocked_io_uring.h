// io_uring as container engines leave it. For tests only.

#ifndef SERVICES_FILE_SCAN_READER_BLOCKED_IO_URING_H_
#define SERVICES_FILE_SCAN_READER_BLOCKED_IO_URING_H_

namespace bimbackup::file_scan::reader {

// Makes io_uring_setup fail with EPERM in the calling thread and those it
// will start, for ever. False when that cannot be done here.
bool BlockIoUring();

// Whether io_uring can be used here: in containers it often cannot.
bool IoUringWorks();

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_BLOCKED_IO_URING_H_
