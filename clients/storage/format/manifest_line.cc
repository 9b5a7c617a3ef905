// A manifest's lines: their text and back.

#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/json_text.h"
#include "clients/storage/format/manifest.h"
#include "services/common/status_macros.h"
#include "simdjson.h"

namespace bimbackup::storage::format {
namespace {

constexpr absl::string_view kFile = "file";
constexpr absl::string_view kFolder = "folder";
constexpr std::array<absl::string_view, 5> kStatusNames = {
    "stored", "carried", "failed", "guarded", "no_content"};

void AppendIfSet(std::string& line, absl::string_view key,
                 absl::string_view value) {
  if (!value.empty()) AppendField(line, key, value);
}

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("a manifest's line does not parse: ", what));
}

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status ParseKind(absl::string_view name, ManifestEntry& entry) {
  if (name != kFile && name != kFolder) return Malformed("kind");
  entry.kind = name == kFile ? EntryKind::kFile : EntryKind::kFolder;
  return absl::OkStatus();
}

absl::Status ParseStatus(absl::string_view name, ManifestEntry& entry) {
  for (size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames[i] == name) {
      entry.status = static_cast<EntryStatus>(i);
      return absl::OkStatus();
    }
  }
  return Malformed("status");
}

// The plain text fields by their keys; null for any other key.
std::string* TextField(std::string_view key, ManifestEntry& entry) {
  if (key == "project_id") return &entry.project_id;
  if (key == "project_name") return &entry.project_name;
  if (key == "stored_path") return &entry.stored_path;
  if (key == "item_id") return &entry.item_id;
  if (key == "version_id") return &entry.version_id;
  if (key == "sha256") return &entry.sha256;
  if (key == "storage_urn") return &entry.storage_urn;
  if (key == "reason") return &entry.reason;
  return nullptr;
}

absl::Status TakeText(std::string_view key, absl::string_view value,
                      ManifestEntry& entry) {
  if (std::string* field = TextField(key, entry)) {
    *field = std::string(value);
    return absl::OkStatus();
  }
  if (key == "kind") return ParseKind(value, entry);
  if (key == "status") return ParseStatus(value, entry);
  if (key == "last_modified") {
    const absl::StatusOr<absl::Time> time = ParseUtc(value);
    if (!time.ok()) return Malformed("last_modified");
    entry.last_modified = *time;
  }
  return absl::OkStatus();
}

absl::Status TakeNumber(std::string_view key, int64_t value,
                        ManifestEntry& entry) {
  if (key == "size") {
    if (value < 0) return Malformed("size");
    entry.size = value;
  }
  if (key == "version_number") {
    if (value < 0 || value > std::numeric_limits<int>::max()) {
      return Malformed("version_number");
    }
    entry.version_number = static_cast<int>(value);
  }
  return absl::OkStatus();
}

absl::Status TakePath(simdjson::dom::array names, ManifestEntry& entry) {
  for (simdjson::dom::element name : names) {
    std::string_view text;
    if (name.get(text)) return Malformed("path");
    entry.path.emplace_back(text);
  }
  return absl::OkStatus();
}

// Keys that are not known are a later version's, and passed over.
absl::Status TakeField(const simdjson::dom::key_value_pair& field,
                       ManifestEntry& entry) {
  std::string_view text;
  if (!field.value.get(text)) return TakeText(field.key, View(text), entry);
  int64_t number;
  if (!field.value.get(number)) return TakeNumber(field.key, number, entry);
  simdjson::dom::array names;
  if (field.key == "path" && !field.value.get(names)) {
    return TakePath(names, entry);
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view EntryStatusName(EntryStatus status) {
  return kStatusNames[static_cast<size_t>(status)];
}

std::string FormatManifestLine(const ManifestEntry& entry) {
  std::string line = "{";
  AppendField(line, "kind", entry.kind == EntryKind::kFile ? kFile : kFolder);
  AppendField(line, "project_id", entry.project_id);
  AppendField(line, "project_name", entry.project_name);
  line += ",\"path\":[";
  for (size_t i = 0; i < entry.path.size(); ++i) {
    if (i > 0) line += ',';
    AppendJsonString(line, entry.path[i]);
  }
  line += ']';
  AppendField(line, "stored_path", entry.stored_path);
  AppendIfSet(line, "item_id", entry.item_id);
  AppendIfSet(line, "version_id", entry.version_id);
  if (entry.version_number != 0) {
    AppendField(line, "version_number", entry.version_number);
  }
  if (entry.size) AppendField(line, "size", *entry.size);
  AppendIfSet(line, "sha256", entry.sha256);
  if (entry.last_modified != absl::InfinitePast()) {
    AppendField(line, "last_modified", FormatUtc(entry.last_modified));
  }
  AppendIfSet(line, "storage_urn", entry.storage_urn);
  AppendField(line, "status", EntryStatusName(entry.status));
  AppendIfSet(line, "reason", entry.reason);
  line += '}';
  return line;
}

absl::StatusOr<ManifestEntry> ParseManifestLine(absl::string_view line) {
  // Kept, because its buffers are what makes parsing cheap.
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(line.data(), line.size()).get(object)) {
    return Malformed("no JSON object");
  }
  ManifestEntry entry;
  for (const simdjson::dom::key_value_pair field : object) {
    ABSL_RETURN_IF_ERROR(TakeField(field, entry));
  }
  if (entry.project_id.empty() || entry.stored_path.empty()) {
    return Malformed("no project_id or stored_path");
  }
  return entry;
}

}  // namespace bimbackup::storage::format
