#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/error_responses.h"
#include "services/bim360_emulator/json_api.h"
#include "services/bim360_emulator/object_store.h"

namespace bimbackup::bim360_emulator {
namespace {

struct Span {
  int64_t first = 0;
  int64_t last = -1;
};

// The one range that a Range header asks for of `size` bytes. Nothing when
// there is none or one that is to be ignored; `last` below `first` when it
// cannot be satisfied.
std::optional<Span> ReadRange(absl::string_view header, int64_t size) {
  if (!absl::ConsumePrefix(&header, "bytes=") ||
      absl::StrContains(header, ",")) {
    return std::nullopt;
  }
  const size_t dash = header.find('-');
  if (dash == absl::string_view::npos) return std::nullopt;
  const absl::string_view from = header.substr(0, dash);
  const absl::string_view to = header.substr(dash + 1);
  int64_t first = 0;
  int64_t last = size - 1;
  if (from.empty()) {
    int64_t count = 0;
    if (!absl::SimpleAtoi(to, &count)) return std::nullopt;
    first = count <= 0 ? size : std::max<int64_t>(0, size - count);
  } else if (!absl::SimpleAtoi(from, &first)) {
    return std::nullopt;
  } else if (!to.empty() && !absl::SimpleAtoi(to, &last)) {
    return std::nullopt;
  }
  last = std::min(last, size - 1);
  if (first > last) return Span{};
  return Span{first, last};
}

std::string ETagOf(const ApiRequest& request, absl::string_view object_key,
                   int64_t part) {
  const bool other = request.HasFault(FaultType::kNewETag) ||
                     request.HasFault(FaultType::kIgnoreIfMatch);
  return absl::StrFormat("\"%016x%016x\"",
                         StableHash(object_key, other ? -1 : 1),
                         StableHash(object_key, 2 + part));
}

std::string ContentRange(const ApiRequest& request, const Span& range,
                         int64_t size) {
  const int64_t off = request.fault.has_value() ? request.fault->bytes : 0;
  const int64_t shift = request.HasFault(FaultType::kWrongRange) ? off : 0;
  if (request.HasFault(FaultType::kWrongTotal)) size += off;
  return absl::StrCat("bytes ", range.first + shift, "-", range.last + shift,
                      "/", size);
}

HttpResponse Expired(const UrlSigner::Check& check, absl::Time now) {
  constexpr char kTime[] = "%Y-%m-%dT%H:%M:%SZ";
  const absl::TimeZone utc = absl::UTCTimeZone();
  return StorageError(
      403, "AccessDenied", "Request has expired",
      absl::StrCat("<X-Amz-Expires>", check.lifetime_seconds,
                   "</X-Amz-Expires><Expires>",
                   absl::FormatTime(kTime, check.expires, utc),
                   "</Expires><ServerTime>", absl::FormatTime(kTime, now, utc),
                   "</ServerTime>"));
}

}  // namespace

HttpResponse ObjectStore::HandleSignedResource(const ApiRequest& request) {
  std::string decoded;
  if (!absl::WebSafeBase64Unescape(request.route.ids[0], &decoded)) {
    return ObjectError(404, "Unknown signed resource");
  }
  const absl::string_view all = decoded;
  const size_t mark = all.find('?');
  if (mark == absl::string_view::npos) {
    return ObjectError(404, "Unknown signed resource");
  }
  const absl::string_view key = all.substr(0, mark);
  const UrlSigner::Check check =
      parts_.signer.Verify(kBucket, key, all.substr(mark + 1));
  if (check.verdict != UrlSigner::Verdict::kGood) {
    return ObjectError(403, "The signed resource has expired");
  }
  return Serve(request, key, check);
}

HttpResponse ObjectStore::HandleStorage(const ApiRequest& request) {
  const HttpRequest& http = request.http;
  if (!http.Header("Authorization").empty()) {
    return StorageError(400, "InvalidArgument",
                        "Only one auth mechanism allowed; only the "
                        "X-Amz-Algorithm query parameter, Signature query "
                        "string parameter or the Authorization header should "
                        "be specified");
  }
  const UrlSigner::Check check = parts_.signer.Verify(
      request.route.ids[0], request.route.ids[1], http.Query());
  // The method is signed, too.
  if (check.verdict == UrlSigner::Verdict::kBadSignature ||
      http.method != "GET") {
    return StorageError(403, "SignatureDoesNotMatch",
                        "The request signature we calculated does not match "
                        "the signature you provided.");
  }
  if (check.verdict == UrlSigner::Verdict::kExpired ||
      request.HasFault(FaultType::kExpired)) {
    return Expired(check, parts_.clock.Now());
  }
  return Serve(request, request.route.ids[1], check);
}

HttpResponse ObjectStore::Serve(const ApiRequest& request,
                                absl::string_view object_key,
                                const UrlSigner::Check& check) {
  const auto key = parts_.account.ids().ParseObjectKey(object_key);
  if (!key.has_value()) return StorageError(404, "NoSuchKey", "No such key.");
  auto content = parts_.account.OpenObject(*key);
  if (!content.ok()) return StorageError(404, "NoSuchKey", "No such key.");
  const bool is_part = check.last >= check.first;
  const int64_t base = is_part ? check.first : 0;
  const int64_t size =
      is_part ? check.last - check.first + 1 : (*content)->size();
  const std::string etag =
      ETagOf(request, object_key, is_part ? check.first + 1 : 0);
  const absl::string_view if_match = request.http.Header("If-Match");
  if (!if_match.empty() && if_match != etag && if_match != "*" &&
      !request.HasFault(FaultType::kIgnoreIfMatch)) {
    return StorageError(412, "PreconditionFailed",
                        "At least one of the pre-conditions you specified "
                        "did not hold");
  }
  HttpResponse response;
  response.headers = {{"Content-Type", "application/octet-stream"},
                      {"ETag", etag},
                      {"Accept-Ranges", "bytes"},
                      {"Server", "AmazonS3"}};
  response.offset = base;
  response.length = size;
  const std::optional<Span> range =
      ReadRange(request.http.Header("Range"), size);
  if (range.has_value() && !request.HasFault(FaultType::kIgnoreRange)) {
    if (range->last < range->first) {
      HttpResponse error = StorageError(
          416, "InvalidRange", "The requested range is not satisfiable");
      error.headers.emplace_back("Content-Range",
                                 absl::StrCat("bytes */", size));
      return error;
    }
    response.status = 206;
    response.offset = base + range->first;
    response.length = range->last - range->first + 1;
    if (!request.HasFault(FaultType::kNoRange)) {
      response.headers.emplace_back("Content-Range",
                                    ContentRange(request, *range, size));
    }
  }
  response.content = *std::move(content);
  return response;
}

}  // namespace bimbackup::bim360_emulator
