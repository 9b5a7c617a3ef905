#include "services/bim360_emulator/object_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/error_responses.h"
#include "services/bim360_emulator/json_api.h"
#include "services/bim360_emulator/json_writer.h"
#include "simdjson.h"

namespace bimbackup::bim360_emulator {
namespace {

// Larger files have their digests taken off the connections' threads.
constexpr int64_t kQuickDigest = 256 << 10;

// Below zero for a bad value.
int ReadMinutes(const HttpRequest& request) {
  const std::string text = request.Parameter("minutesExpiration");
  int minutes = 2;
  if (!text.empty() && !absl::SimpleAtoi(text, &minutes)) return -1;
  return minutes < 1 || minutes > 60 ? -1 : minutes;
}

std::string StorageUrl(const ApiRequest& request, UrlSigner& signer,
                       const SignedObject& object, int minutes) {
  const std::string query = signer.Sign(object, absl::Minutes(minutes),
                                        request.HasFault(FaultType::kExpired));
  const std::string& host = request.HasFault(FaultType::kForeignUrl)
                                ? request.fault->location
                                : request.base;
  return absl::StrCat(host, "/storage/", object.bucket, "/",
                      UrlEncode(object.object_key), "?", query);
}

std::string FallbackUrl(const ApiRequest& request, ApiParts& parts,
                        const SignedObject& object, int minutes) {
  const std::string query = parts.signer.Sign(
      object, absl::Minutes(minutes), request.HasFault(FaultType::kExpired));
  std::string id;
  absl::WebSafeBase64Escape(absl::StrCat(object.object_key, "?", query), &id);
  parts.ledger.Add(id);
  return absl::StrCat(request.base, "/oss/v2/signedresources/", id,
                      "?region=US");
}

void WriteParts(const ApiRequest& request, UrlSigner& signer,
                const SignedObject& object, int minutes, int64_t size,
                JsonWriter& json) {
  int64_t step = request.fault->bytes;
  if (step <= 0) step = (size + 2) / 3;
  json.Field("status", "chunked").Key("urls").BeginObject();
  for (int64_t first = 0; first < size; first += step) {
    SignedObject part = object;
    part.first = first;
    part.last = std::min(size, first + step) - 1;
    json.Field(absl::StrCat(part.first, "-", part.last),
               StorageUrl(request, signer, part, minutes));
  }
  json.EndObject();
}

}  // namespace

std::string ObjectStore::DigestOf(uint64_t storage_key, DigestKind kind) {
  const std::pair<uint64_t, DigestKind> digested = {storage_key, kind};
  {
    MutexLock lock(mutex_);
    const auto found = digests_.find(digested);
    if (found != digests_.end()) return found->second;
  }
  const auto content = parts_.account.OpenObject(storage_key);
  if (!content.ok()) return "";
  std::string digest = ContentDigest(**content, kind);
  MutexLock lock(mutex_);
  if (!digest.empty()) digests_[digested] = digest;
  return digest;
}

std::optional<uint64_t> ObjectStore::SlowDigest(
    const ApiRequest& request) const {
  if (request.route.endpoint != Endpoint::kSign &&
      request.route.endpoint != Endpoint::kDetails) {
    return std::nullopt;
  }
  // Answers about objects that are not merged yet tell no digest.
  if (request.HasFault(FaultType::kFallback) ||
      request.HasFault(FaultType::kChunkedUrls)) {
    return std::nullopt;
  }
  const auto key = parts_.account.ids().ParseObjectKey(request.route.ids[1]);
  if (!key.has_value()) return std::nullopt;
  const auto object = parts_.account.FindObject(*key);
  if (!object.ok() || object->version.size <= kQuickDigest) {
    return std::nullopt;
  }
  MutexLock lock(mutex_);
  if (digests_.contains({*key, DigestKind::kSha1})) return std::nullopt;
  return key;
}

void ObjectStore::AnswerAfterDigest(uint64_t storage_key,
                                    std::function<void()> answer) {
  {
    MutexLock lock(mutex_);
    std::vector<std::function<void()>>& waiting = waiting_[storage_key];
    waiting.push_back(std::move(answer));
    if (waiting.size() > 1) return;
  }
  const bool posted = parts_.work.Post([this, storage_key] {
    DigestOf(storage_key, DigestKind::kSha1);
    RunWaiting(storage_key);
  });
  if (!posted) RunWaiting(storage_key);
}

void ObjectStore::RunWaiting(uint64_t storage_key) {
  std::vector<std::function<void()>> answers;
  {
    MutexLock lock(mutex_);
    answers.swap(waiting_[storage_key]);
    waiting_.erase(storage_key);
  }
  for (const std::function<void()>& answer : answers) answer();
}

void ObjectStore::Handle(std::shared_ptr<const ApiRequest> request,
                         Responder respond) {
  const auto answer = [this, request, respond] {
    switch (request->route.endpoint) {
      case Endpoint::kSign:
        return respond(HandleSign(*request));
      case Endpoint::kBatchSign:
        return respond(HandleBatchSign(*request));
      case Endpoint::kDetails:
        return respond(HandleDetails(*request));
      case Endpoint::kSignedResource:
        return respond(HandleSignedResource(*request));
      default:
        return respond(HandleStorage(*request));
    }
  };
  if (request->route.endpoint == Endpoint::kBatchSign) {
    if (!parts_.work.Post(answer)) respond(ObjectError(503, "Too busy."));
    return;
  }
  const std::optional<uint64_t> slow = SlowDigest(*request);
  if (!slow.has_value()) return answer();
  AnswerAfterDigest(*slow, answer);
}

std::optional<std::string> ObjectStore::SignJson(const ApiRequest& request,
                                                 absl::string_view object_key,
                                                 int minutes) {
  const auto key = parts_.account.ids().ParseObjectKey(object_key);
  if (!key.has_value()) return std::nullopt;
  const auto object = parts_.account.FindObject(*key);
  if (!object.ok() || object->version.content == ContentKind::kNone) {
    return std::nullopt;
  }
  const int64_t size = object->version.size;
  const SignedObject what{std::string(kBucket.data(), kBucket.size()),
                          std::string(object_key.data(), object_key.size())};
  const bool merging = request.HasFault(FaultType::kChunkedUrls) && size > 0;
  const bool asked =
      request.http.Parameter("public-resource-fallback") == "true";
  JsonWriter json(request.HasFault(FaultType::kOmit)
                      ? request.fault->keys
                      : std::vector<std::string>());
  json.BeginObject();
  if (request.HasFault(FaultType::kFallback) || (merging && asked)) {
    json.Field("status", "fallback");
    json.Field("url", FallbackUrl(request, parts_, what, minutes));
  } else if (merging) {
    WriteParts(request, parts_.signer, what, minutes, size, json);
  } else {
    json.Field("status", "complete");
    json.Field("url", StorageUrl(request, parts_.signer, what, minutes));
    std::string sha1 = DigestOf(*key, DigestKind::kSha1);
    if (request.HasFault(FaultType::kWrongSha1)) sha1.assign(40, 'a');
    if (!sha1.empty()) json.Field("sha1", sha1);
  }
  json.Key("params").BeginObject();
  json.Field("content-type", "application/octet-stream");
  json.Field("content-disposition",
             absl::StrCat("attachment; filename=\"", object->name, "\""));
  json.EndObject();
  if (request.HasFault(FaultType::kHugeSize)) {
    json.Key("size").Raw("9223372036854775808");
  } else {
    json.IntField("size", size);
  }
  return json.EndObject().Take();
}

HttpResponse ObjectStore::HandleSign(const ApiRequest& request) {
  const int minutes = ReadMinutes(request.http);
  if (minutes < 0) {
    return ObjectError(400, "minutesExpiration must be between 1 and 60");
  }
  if (request.route.ids[0] == kBucket) {
    std::optional<std::string> json =
        SignJson(request, request.route.ids[1], minutes);
    if (json.has_value()) return JsonResponse(*std::move(json));
  }
  return ObjectError(404, "Object not found");
}

HttpResponse ObjectStore::HandleBatchSign(const ApiRequest& request) {
  if (!parts_.options.batch_sign) {
    return ObjectError(403, "Only the owner of the bucket may do this.");
  }
  const int minutes = ReadMinutes(request.http);
  simdjson::dom::parser parser;
  simdjson::dom::array requests;
  if (minutes < 0 || parser.parse(request.http.body)["requests"].get(
                         requests) != simdjson::SUCCESS) {
    return ObjectError(400, "The request is malformed.");
  }
  JsonWriter json;
  json.BeginObject().Key("results").BeginObject();
  for (const simdjson::dom::element entry : requests) {
    std::string_view found;
    if (entry["objectKey"].get(found) != simdjson::SUCCESS) continue;
    const absl::string_view key(found.data(), found.size());
    const std::optional<std::string> result = SignJson(request, key, minutes);
    json.Key(key).Raw(result.has_value()
                          ? absl::string_view(*result)
                          : R"({"status":"error","reason":"Not found"})");
  }
  return JsonResponse(json.EndObject().EndObject().Take());
}

HttpResponse ObjectStore::HandleDetails(const ApiRequest& request) {
  const auto key = parts_.account.ids().ParseObjectKey(request.route.ids[1]);
  if (key.has_value() && request.route.ids[0] == kBucket) {
    const auto object = parts_.account.FindObject(*key);
    if (object.ok() && object->version.content != ContentKind::kNone) {
      JsonWriter json;
      json.BeginObject().Field("bucketKey", kBucket);
      json.Field("objectId", absl::StrCat("urn:adsk.objects:os.object:",
                                          kBucket, "/", request.route.ids[1]));
      json.Field("objectKey", request.route.ids[1]);
      json.Field("sha1", DigestOf(*key, DigestKind::kSha1));
      json.IntField("size", object->version.size);
      json.Field("contentType", "application/octet-stream");
      return JsonResponse(json.EndObject().Take());
    }
  }
  return ObjectError(404, "Object not found");
}

}  // namespace bimbackup::bim360_emulator
