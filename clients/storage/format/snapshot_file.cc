#include "clients/storage/format/snapshot_file.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/storage/format/json_text.h"
#include "services/common/status_macros.h"
#include "simdjson.h"

namespace bimbackup::storage::format {
namespace {

constexpr absl::string_view kPrefix = "snapshots/";
constexpr absl::string_view kSuffix = ".json";
constexpr int64_t kFormat = 1;
// 300 bytes a project.
constexpr int64_t kMaxBytes = 256 << 20;

struct CountField {
  const char* key;
  int64_t ManifestCounts::*field;
};
constexpr CountField kCountFields[] = {
    {"files", &ManifestCounts::files},
    {"folders", &ManifestCounts::folders},
    {"bytes", &ManifestCounts::bytes},
    {"carried", &ManifestCounts::carried},
    {"failed", &ManifestCounts::failed},
    {"guarded", &ManifestCounts::guarded},
    {"no_content", &ManifestCounts::no_content},
};

void AppendProject(std::string& json, const SnapshotProject& project) {
  json += '{';
  AppendField(json, "project_id", project.project_id);
  AppendField(json, "name", project.name);
  AppendField(json, "stored_name", project.stored_name);
  AppendField(json, "manifest_sha256", project.manifest_sha256);
  for (const CountField& count : kCountFields) {
    AppendField(json, count.key, project.counts.*count.field);
  }
  json += '}';
}

// Reads the members of one JSON object; remembers that one was missing.
class Members {
 public:
  explicit Members(simdjson::dom::element element) : element_(element) {}

  std::string Text(const char* key) {
    std::string_view text;
    if (element_[key].get(text)) ok_ = false;
    return std::string(text);
  }
  int64_t Number(const char* key) {
    int64_t number = 0;
    if (element_[key].get(number) || number < 0) ok_ = false;
    return number;
  }
  absl::Time Time(const char* key) {
    const absl::StatusOr<absl::Time> time = ParseUtc(Text(key));
    if (!time.ok()) ok_ = false;
    return time.ok() ? *time : absl::InfinitePast();
  }
  bool ok() const { return ok_; }

 private:
  simdjson::dom::element element_;
  bool ok_ = true;
};

bool ParseProject(simdjson::dom::element element, SnapshotProject& project) {
  Members members(element);
  project.project_id = members.Text("project_id");
  project.name = members.Text("name");
  project.stored_name = members.Text("stored_name");
  project.manifest_sha256 = members.Text("manifest_sha256");
  for (const CountField& count : kCountFields) {
    project.counts.*count.field = members.Number(count.key);
  }
  return members.ok();
}

bool Parse(absl::string_view text, Snapshot& snapshot) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text.data(), text.size()).get(root)) return false;
  Members members(root);
  if (members.Number("format") != kFormat) return false;
  snapshot.id = members.Text("id");
  snapshot.backup_id = members.Text("backup_id");
  snapshot.account_id = members.Text("account_id");
  snapshot.storage_id = members.Text("storage_id");
  snapshot.start_time = members.Time("start_time");
  snapshot.end_time = members.Time("end_time");
  snapshot.state = members.Text("state");
  simdjson::dom::array projects;
  if (!members.ok() || root["projects"].get(projects)) return false;
  for (simdjson::dom::element project : projects) {
    if (!ParseProject(project, snapshot.projects.emplace_back())) return false;
  }
  return true;
}

}  // namespace

std::string SnapshotKey(absl::string_view id) {
  return absl::StrCat(kPrefix, id, kSuffix);
}

std::string FormatSnapshot(const Snapshot& snapshot) {
  std::string json = "{";
  AppendField(json, "format", kFormat);
  AppendField(json, "id", snapshot.id);
  AppendField(json, "backup_id", snapshot.backup_id);
  AppendField(json, "account_id", snapshot.account_id);
  AppendField(json, "storage_id", snapshot.storage_id);
  AppendField(json, "start_time", FormatUtc(snapshot.start_time));
  AppendField(json, "end_time", FormatUtc(snapshot.end_time));
  AppendField(json, "state", snapshot.state);
  json += ",\"projects\":[";
  for (size_t i = 0; i < snapshot.projects.size(); ++i) {
    json += i == 0 ? "\n" : ",\n";
    AppendProject(json, snapshot.projects[i]);
  }
  json += "\n]}\n";
  return json;
}

absl::StatusOr<Snapshot> ParseSnapshot(absl::string_view text) {
  Snapshot snapshot;
  if (Parse(text, snapshot)) return snapshot;
  return absl::DataLossError("a snapshot file does not parse");
}

absl::Status WriteSnapshot(Storage& storage, const Snapshot& snapshot) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectWriter> object,
                        storage.OpenObjectWriter());
  ABSL_RETURN_IF_ERROR(object->Append(FormatSnapshot(snapshot)));
  return object->Commit(SnapshotKey(snapshot.id));
}

absl::StatusOr<Snapshot> ReadSnapshot(Storage& storage, absl::string_view id) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectReader> object,
                        storage.OpenObject(SnapshotKey(id)));
  const absl::Status damaged =
      absl::DataLossError(absl::StrCat("snapshot ", id, " does not parse"));
  if (object->size() > kMaxBytes) return damaged;
  std::string text(static_cast<size_t>(object->size()), '\0');
  ABSL_ASSIGN_OR_RETURN(const size_t size,
                        object->ReadAt(0, text.data(), text.size()));
  text.resize(size);
  absl::StatusOr<Snapshot> snapshot = ParseSnapshot(text);
  if (!snapshot.ok() || snapshot->id != id) return damaged;
  return snapshot;
}

absl::StatusOr<std::vector<std::string>> ListSnapshotIds(Storage& storage) {
  std::vector<std::string> ids;
  std::string token;
  do {
    ABSL_ASSIGN_OR_RETURN(ObjectPage page, storage.List(kPrefix, token));
    for (const ObjectPage::Entry& entry : page.entries) {
      absl::string_view id = entry.key;
      if (absl::ConsumePrefix(&id, kPrefix) &&
          absl::ConsumeSuffix(&id, kSuffix)) {
        ids.emplace_back(id);
      }
    }
    token = std::move(page.next_page_token);
  } while (!token.empty());
  return ids;
}

}  // namespace bimbackup::storage::format
