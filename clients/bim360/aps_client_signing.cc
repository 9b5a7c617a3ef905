// Signed URLs.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/bim360/answers.h"
#include "clients/bim360/aps_client.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

struct StorageObject {
  absl::string_view bucket;
  absl::string_view key;
};

absl::StatusOr<StorageObject> ParseStorageUrn(absl::string_view urn) {
  absl::string_view rest = urn;
  const bool prefixed =
      absl::ConsumePrefix(&rest, "urn:adsk.objects:os.object:");
  const size_t slash = rest.find('/');
  if (prefixed && slash != absl::string_view::npos && slash + 1 < rest.size()) {
    const StorageObject object = {rest.substr(0, slash),
                                  rest.substr(slash + 1)};
    const bool bucket_ok = std::all_of(
        object.bucket.begin(), object.bucket.end(), [](unsigned char c) {
          return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' ||
                 c == '_' || c == '.';
        });
    if (bucket_ok && object.bucket.size() >= 3 && object.bucket.size() <= 128) {
      return object;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not a storage object's URN: ", urn));
}

// What Autodesk allows: 1 to 60.
int64_t Minutes(absl::Duration lifetime) {
  return std::clamp<int64_t>(absl::ToInt64Minutes(lifetime), 1, 60);
}

std::string BucketUrl(const std::string& base_url, absl::string_view bucket) {
  return absl::StrCat(base_url, "/oss/v2/buckets/", http::PercentEncode(bucket),
                      "/objects/");
}

std::string QuoteJson(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(c, absl::kZeroPad4));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// The body of batchsigneds3download.
std::string BatchBody(const std::vector<std::string>& keys) {
  std::string body = R"({"requests":[)";
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::StrAppend(&body, i == 0 ? "" : ",", R"({"objectKey":)",
                    QuoteJson(keys[i]), "}");
  }
  absl::StrAppend(&body, "]}");
  return body;
}

}  // namespace

absl::StatusOr<std::vector<absl::StatusOr<SignedDownload>>>
Bim360Client::SignDownloads(const std::vector<std::string>&, absl::Duration,
                            const std::stop_token&) {
  return absl::PermissionDeniedError("URLs are signed one by one");
}

absl::StatusOr<SignedDownload> ApsClient::SignDownload(
    absl::string_view storage_urn, absl::Duration lifetime,
    const std::stop_token& cancel) {
  ABSL_ASSIGN_OR_RETURN(const StorageObject object,
                        ParseStorageUrn(storage_urn));
  // No public-resource-fallback: without it, what is kept in chunks comes as
  // one URL for each, and all bytes come from storage.
  const std::string url =
      absl::StrCat(BucketUrl(options_.base_url, object.bucket),
                   http::PercentEncode(object.key),
                   "/signeds3download?minutesExpiration=", Minutes(lifetime));
  const absl::Duration start = clock_.Monotonic();
  ABSL_ASSIGN_OR_RETURN(SignedDownload download,
                        Get("sign a download", EndpointClass::kStorage, url,
                            cancel, &ParseSignedDownload));
  FinishSigned(start + absl::Minutes(Minutes(lifetime)), download);
  return download;
}

absl::StatusOr<std::vector<absl::StatusOr<SignedDownload>>>
ApsClient::SignDownloads(const std::vector<std::string>& storage_urns,
                         absl::Duration lifetime,
                         const std::stop_token& cancel) {
  if (storage_urns.empty() || storage_urns.size() > kMaxSignedTogether) {
    return absl::InvalidArgumentError(
        absl::StrCat(storage_urns.size(), " objects cannot be signed at once"));
  }
  std::vector<std::string> keys;
  std::string bucket;
  for (const std::string& urn : storage_urns) {
    ABSL_ASSIGN_OR_RETURN(const StorageObject object, ParseStorageUrn(urn));
    if (!bucket.empty() && object.bucket != bucket) {
      return absl::InvalidArgumentError(
          "objects of two buckets cannot be signed at once");
    }
    bucket.assign(object.bucket.data(), object.bucket.size());
    keys.emplace_back(object.key.data(), object.key.size());
  }
  http::Request request;
  request.method = "POST";
  request.url = absl::StrCat(
      BucketUrl(options_.base_url, bucket),
      "batchsigneds3download?minutesExpiration=", Minutes(lifetime));
  request.headers = {{"Content-Type", "application/json"}};
  request.body = BatchBody(keys);
  const absl::Duration start = clock_.Monotonic();
  ABSL_ASSIGN_OR_RETURN(const http::Response response,
                        Send("sign downloads", EndpointClass::kStorage,
                             std::move(request), cancel));
  ABSL_ASSIGN_OR_RETURN(auto downloads, ParseSignedBatch(response.body, keys));
  for (absl::StatusOr<SignedDownload>& download : downloads) {
    if (!download.ok()) continue;
    FinishSigned(start + absl::Minutes(Minutes(lifetime)), *download);
  }
  return downloads;
}

void ApsClient::FinishSigned(absl::Duration expires,
                             SignedDownload& download) const {
  download.expires = expires;
  // Autodesk hands out its own fallback URLs as plain http.
  if (!absl::StartsWith(options_.base_url, "https:")) return;
  const std::string own =
      "http:" + options_.base_url.substr(sizeof("https:") - 1) + "/";
  for (SignedRange& range : download.ranges) {
    if (absl::StartsWith(range.url, own)) range.url.insert(4, "s");
  }
}

}  // namespace bimbackup::bim360
