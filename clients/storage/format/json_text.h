// The little JSON that manifests and snapshot files are written in.

#ifndef CLIENTS_STORAGE_FORMAT_JSON_TEXT_H_
#define CLIENTS_STORAGE_FORMAT_JSON_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace bimbackup::storage::format {

// Appends `text` as a JSON string with its quotes. JSON cannot hold bytes
// that are not UTF-8: each becomes U+FFFD.
void AppendJsonString(std::string& json, absl::string_view text);

// Appends `"key":"value"` or `"key":value`, after a comma unless `json` ends
// in an opening bracket.
void AppendField(std::string& json, absl::string_view key,
                 absl::string_view value);
void AppendField(std::string& json, absl::string_view key, int64_t value);

// RFC 3339 in UTC, with as many fractional digits as it takes.
std::string FormatUtc(absl::Time time);
// INVALID_ARGUMENT for what is no RFC 3339 time.
absl::StatusOr<absl::Time> ParseUtc(absl::string_view text);

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_JSON_TEXT_H_
