// ReadLinesResponse, put together without copying the lines.

#ifndef SERVICES_FILE_SCAN_RPC_LINES_MESSAGE_H_
#define SERVICES_FILE_SCAN_RPC_LINES_MESSAGE_H_

#include "grpcpp/support/byte_buffer.h"
#include "services/file_scan/reader/line_batcher.h"

namespace bimbackup::file_scan::rpc {

// The wire form of a v1::ReadLinesResponse. The lines' memory becomes a slice
// of it as it is: through the message class they would be copied twice.
grpc::ByteBuffer ToLinesMessage(reader::CollectedLines lines);

}  // namespace bimbackup::file_scan::rpc

#endif  // SERVICES_FILE_SCAN_RPC_LINES_MESSAGE_H_
