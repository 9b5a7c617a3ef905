#include "services/bim360_emulator/admin_api.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/admin_json.h"
#include "services/bim360_emulator/directory_source.h"
#include "services/bim360_emulator/error_responses.h"
#include "services/bim360_emulator/json_api.h"
#include "services/bim360_emulator/json_writer.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {
namespace {

HttpResponse StatusResponse(const absl::Status& status) {
  if (status.ok()) return JsonResponse(R"({"ok":true})");
  JsonWriter json;
  json.BeginObject().Field("error", status.message()).EndObject();
  const bool missing = absl::IsNotFound(status);
  return JsonResponse(json.Take(), missing ? 404 : 400);
}

void WriteCounts(const RequestLog::Counts& counts, JsonWriter& json) {
  json.IntField("requests", counts.requests);
  json.IntField("answered", counts.answered);
  json.IntField("bytes", counts.bytes);
}

void WriteEntry(const TreeEntry& entry, const IdCodec& ids, JsonWriter& json) {
  json.Field("kind", entry.is_folder ? "folder" : "file");
  json.Field("project_id", absl::StrCat("b.", entry.project_guid));
  json.Field("project_name", entry.project_name);
  json.Key("path").BeginArray();
  for (const std::string& name : entry.path) json.String(name);
  json.EndArray();
  if (entry.is_folder) {
    json.Field("id", ids.FolderId(entry.key));
    return;
  }
  const std::string id = ids.ItemId(entry.key);
  json.Field("id", id);
  json.Field("version_id", ids.VersionId(entry.version_key, entry.tip.number));
  json.IntField("version_number", entry.tip.number);
  json.IntField("size", entry.tip.size);
  json.IntField("last_modified", entry.tip.modified);
  const bool stored = entry.tip.content != ContentKind::kNone;
  json.BoolField("has_content", stored);
  if (!stored) return;
  json.Field("storage_urn",
             absl::StrCat("urn:adsk.objects:os.object:", kBucket, "/",
                          ids.ObjectKey(entry.tip.storage_key)));
  json.Field("content_url", absl::StrCat("/admin/content?id=", UrlEncode(id)));
}

}  // namespace

void AdminApi::Handle(std::shared_ptr<const ApiRequest> request,
                      Responder respond) {
  const bool posted =
      parts_.work.Post([this, request, respond] { respond(Answer(*request)); });
  if (!posted) respond(ObjectError(503, "Too busy."));
}

HttpResponse AdminApi::Answer(const ApiRequest& request) {
  const std::string& what = request.route.ids[0];
  const bool reads =
      request.http.method == "GET" || request.http.method == "HEAD";
  if (reads && what == "tree") return Tree(request);
  if (reads && what == "content") return Content(request);
  if (reads && what == "requests") return Requests();
  if (reads && what == "secrets") return Secrets();
  if (reads && what == "faults") return ListFaults();
  if (request.http.method == "POST" && what == "faults") {
    return AddFault(request);
  }
  if (request.http.method == "DELETE" && what == "faults") {
    return RemoveFaults(request);
  }
  return StatusResponse(Change(request));
}

absl::Status AdminApi::Change(const ApiRequest& request) {
  const std::string what =
      absl::StrCat(request.http.method, " ", request.route.ids[0]);
  const std::string& body = request.http.body;
  if (what == "POST edit") return ApplyEdits(body, parts_.account);
  if (what == "DELETE requests") {
    parts_.log.Clear();
  } else if (what == "DELETE tokens") {
    parts_.tokens.ExpireAll();
  } else if (what == "POST clock") {
    ABSL_ASSIGN_OR_RETURN(const int64_t seconds,
                          ReadJsonInt(body, "advance_seconds"));
    parts_.clock.Advance(absl::Seconds(seconds));
  } else if (what == "POST limits") {
    ABSL_ASSIGN_OR_RETURN(const bool enforced, ReadJsonBool(body, "enforced"));
    parts_.limits.SetEnforced(enforced);
  } else if (what == "POST rollup") {
    ABSL_ASSIGN_OR_RETURN(const std::string text, ReadJsonString(body, "mode"));
    ABSL_ASSIGN_OR_RETURN(const RollupMode mode, ParseRollupMode(text));
    parts_.account.SetRollupMode(mode);
  } else if (what == "POST rescan") {
    if (parts_.directory != nullptr) parts_.directory->Rescan();
  } else {
    return absl::NotFoundError(absl::StrCat("no admin request ", what));
  }
  return absl::OkStatus();
}

HttpResponse AdminApi::Tree(const ApiRequest& request) {
  std::vector<TreeEntry> entries;
  const std::string project = request.http.Parameter("project");
  parts_.account.VisitTree([&](const TreeEntry& entry) {
    if (project.empty() || entry.project_name == project ||
        absl::StrCat("b.", entry.project_guid) == project) {
      entries.push_back(entry);
    }
  });
  const bool sha1 = request.http.Parameter("sha1") == "1";
  const bool sha256 = request.http.Parameter("sha256") == "1";
  JsonWriter json;
  json.BeginObject().Key("entries").BeginArray();
  for (const TreeEntry& entry : entries) {
    json.BeginObject();
    WriteEntry(entry, parts_.account.ids(), json);
    const uint64_t key = entry.tip.storage_key;
    const bool stored =
        !entry.is_folder && entry.tip.content != ContentKind::kNone;
    if (stored && sha1) {
      json.Field("sha1", objects_.DigestOf(key, DigestKind::kSha1));
    }
    if (stored && sha256) {
      json.Field("sha256", objects_.DigestOf(key, DigestKind::kSha256));
    }
    json.EndObject();
  }
  return JsonResponse(json.EndArray().EndObject().Take());
}

HttpResponse AdminApi::Content(const ApiRequest& request) {
  const auto key =
      parts_.account.ids().ParseItemId(request.http.Parameter("id"));
  if (!key.has_value()) {
    return StatusResponse(absl::NotFoundError("id is no item's"));
  }
  const auto item = parts_.account.FindItemAnywhere(*key);
  if (!item.ok()) return StatusResponse(item.status());
  auto content = parts_.account.OpenObject(item->tip.storage_key);
  if (!content.ok()) return StatusResponse(content.status());
  HttpResponse response;
  response.headers.emplace_back("Content-Type", "application/octet-stream");
  response.length = (*content)->size();
  response.content = *std::move(content);
  return response;
}

HttpResponse AdminApi::Requests() const {
  JsonWriter json;
  json.BeginObject().Key("endpoints").BeginObject();
  for (int i = 0; i < static_cast<int>(Endpoint::kAdmin); ++i) {
    const Endpoint endpoint = static_cast<Endpoint>(i);
    const RateLimits::Counts limits = parts_.limits.Read(endpoint);
    json.Key(EndpointName(endpoint)).BeginObject();
    WriteCounts(parts_.log.Of(endpoint), json);
    json.IntField("rate", EndpointRate(endpoint));
    json.IntField("peak_per_minute", limits.peak_per_minute);
    json.IntField("refused", limits.refused);
    json.EndObject();
  }
  json.EndObject();
  const std::pair<absl::string_view, Endpoint> detailed[] = {
      {"pages", Endpoint::kContents},
      {"signed", Endpoint::kSign},
      {"objects", Endpoint::kStorage}};
  for (const auto& [name, endpoint] : detailed) {
    json.Key(name).BeginObject();
    for (const auto& [subject, counts] : parts_.log.BySubject(endpoint)) {
      json.Key(subject).BeginObject();
      WriteCounts(counts, json);
      json.EndObject();
    }
    json.EndObject();
  }
  return JsonResponse(json.EndObject().Take());
}

HttpResponse AdminApi::Secrets() const {
  JsonWriter json;
  json.BeginObject().Field("client_secret", parts_.options.client_secret);
  json.Key("secrets").BeginArray();
  for (const std::string& secret : parts_.ledger.All()) json.String(secret);
  return JsonResponse(json.EndArray().EndObject().Take());
}

HttpResponse AdminApi::ListFaults() const {
  JsonWriter json;
  json.BeginObject().Key("faults").BeginArray();
  for (const Faults::Listed& rule : parts_.faults.List()) {
    json.BeginObject().IntField("id", rule.id);
    json.IntField("matched", rule.matched);
    json.IntField("applied", rule.applied).EndObject();
  }
  return JsonResponse(json.EndArray().EndObject().Take());
}

HttpResponse AdminApi::AddFault(const ApiRequest& request) {
  absl::StatusOr<FaultRule> rule = ParseFaultRule(request.http.body);
  if (!rule.ok()) return StatusResponse(rule.status());
  const absl::StatusOr<int64_t> id =
      parts_.faults.Add(std::move(rule->match), std::move(rule->action));
  if (!id.ok()) return StatusResponse(id.status());
  JsonWriter json;
  json.BeginObject().IntField("id", *id).EndObject();
  return JsonResponse(json.Take());
}

HttpResponse AdminApi::RemoveFaults(const ApiRequest& request) {
  const std::string text = request.http.Parameter("id");
  int64_t id = 0;
  if (text.empty()) {
    parts_.faults.Clear();
  } else if (!absl::SimpleAtoi(text, &id) || !parts_.faults.Remove(id)) {
    return StatusResponse(absl::NotFoundError("no such fault"));
  }
  return StatusResponse(absl::OkStatus());
}

}  // namespace bimbackup::bim360_emulator
