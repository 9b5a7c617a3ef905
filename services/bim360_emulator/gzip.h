// gzip's format, for answers in an encoding that nobody asked for.

#ifndef SERVICES_BIM360_EMULATOR_GZIP_H_
#define SERVICES_BIM360_EMULATOR_GZIP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace bimbackup::bim360_emulator {

// `bytes` as a gzip file of stored, uncompressed blocks.
std::string GzipStored(absl::string_view bytes);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_GZIP_H_
