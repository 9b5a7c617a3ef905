#include "services/file_scan/rpc/lines_message.h"

#include <string>
#include <vector>

#include "bimbackup/v1/file_scan_service.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/slice.h"

namespace bimbackup::file_scan::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr size_t kMaxVarint32Bytes = 5;

// The tag and length before a field that has a length.
void AppendFieldHead(int field, size_t size, std::string& out) {
  uint8_t head[2 * kMaxVarint32Bytes];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(
      WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED),
      head);
  end = CodedOutputStream::WriteVarint32ToArray(size, end);
  out.append(reinterpret_cast<char*>(head), end - head);
}

void AppendLengths(const std::vector<uint32_t>& lengths, std::string& out) {
  if (lengths.empty()) return;
  std::vector<uint8_t> packed(lengths.size() * kMaxVarint32Bytes);
  uint8_t* end = packed.data();
  for (const uint32_t length : lengths) {
    end = CodedOutputStream::WriteVarint32ToArray(length, end);
  }
  const size_t size = end - packed.data();
  AppendFieldHead(v1::ReadLinesResponse::kLineLengthsFieldNumber, size, out);
  out.append(reinterpret_cast<char*>(packed.data()), size);
}

void DeleteBytes(void* bytes) { delete[] static_cast<char*>(bytes); }

}  // namespace

grpc::ByteBuffer ToLinesMessage(reader::CollectedLines lines) {
  // Everything but what there is much of goes the usual way; the fields of a
  // message may come in any order.
  v1::ReadLinesResponse rest;
  rest.set_offset(lines.offset);
  rest.set_next_offset(lines.next_offset);
  rest.set_end(lines.end);
  rest.set_unterminated(lines.unterminated);
  rest.mutable_line_offsets()->Add(lines.offsets.begin(), lines.offsets.end());
  std::string head = rest.SerializeAsString();
  AppendLengths(lines.lengths, head);
  if (lines.size == 0) {
    const grpc::Slice slice(head);
    return grpc::ByteBuffer(&slice, 1);
  }
  AppendFieldHead(v1::ReadLinesResponse::kLinesFieldNumber, lines.size, head);
  const size_t size = lines.size;
  const grpc::Slice slices[] = {
      grpc::Slice(head), grpc::Slice(lines.bytes.release(), size, DeleteBytes)};
  return grpc::ByteBuffer(slices, 2);
}

}  // namespace bimbackup::file_scan::rpc
