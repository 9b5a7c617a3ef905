#include "services/bim360_emulator/gzip.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <cstdint>

namespace bimbackup::bim360_emulator {
namespace {

constexpr size_t kMaxBlock = 65535;

void AppendLittleEndian(uint32_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i, value >>= 8) {
    out.push_back(static_cast<char>(value & 0xff));
  }
}

}  // namespace

std::string GzipStored(absl::string_view bytes) {
  // Magic number, deflate, no flags, no time, no level, unknown system.
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const uint32_t size = static_cast<uint32_t>(bytes.size());
  do {
    const absl::string_view block = bytes.substr(0, kMaxBlock);
    bytes.remove_prefix(block.size());
    out.push_back(bytes.empty() ? 1 : 0);
    const uint32_t length = static_cast<uint32_t>(block.size());
    AppendLittleEndian(length, 2, out);
    AppendLittleEndian(~length, 2, out);
    out.append(block.data(), block.size());
  } while (!bytes.empty());
  AppendLittleEndian(crc.checksum(), 4, out);
  AppendLittleEndian(size, 4, out);
  return out;
}

}  // namespace bimbackup::bim360_emulator
