// The answers that are no listings: signed URLs, tokens, errors.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/bim360/answers.h"
#include "clients/bim360/json.h"
#include "clients/http/http_transport.h"
#include "services/common/excerpt.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

constexpr size_t kMaxErrorBytes = 300;
// Autodesk's tokens are of one or two thousand.
constexpr size_t kMaxTokenBytes = 32 << 10;

// 40 hexadecimal or 28 base64 characters, in any case; else nothing.
std::string NormalSha1(const std::string& text) {
  if (text.size() == 40 &&
      std::all_of(text.begin(), text.end(), absl::ascii_isxdigit)) {
    return absl::AsciiStrToLower(text);
  }
  std::string bytes;
  if (text.size() == 28 && absl::Base64Unescape(text, &bytes) &&
      bytes.size() == 20) {
    return absl::BytesToHexString(bytes);
  }
  return "";
}

// "0-10747471": an inclusive range.
bool ParseRange(absl::string_view text, SignedRange& range) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits('-', 1));
  return absl::SimpleAtoi(ends.first, &range.first) &&
         absl::SimpleAtoi(ends.second, &range.last) && range.first >= 0 &&
         range.last >= range.first && range.last < INT64_MAX;
}

absl::Status CheckGapless(const SignedDownload& download) {
  int64_t next = 0;
  for (const SignedRange& range : download.ranges) {
    if (range.first != next) {
      return absl::DataLossError(absl::StrCat(
          "the signed ranges have a gap or an overlap at byte ", next));
    }
    next = range.last + 1;
  }
  if (download.size && *download.size != next) {
    return absl::DataLossError(absl::StrCat("the signed ranges end at byte ",
                                            next, " of ", *download.size));
  }
  return absl::OkStatus();
}

absl::Status ReadRanges(JsonValue root, SignedDownload& download) {
  const auto urls = Find(root, {"urls"});
  simdjson::dom::object object;
  if (!urls || urls->get_object().get(object) != simdjson::SUCCESS) {
    return absl::DataLossError("a chunked answer without its urls");
  }
  for (const auto& [key, value] : object) {
    SignedRange range;
    range.url = FindString(value, {});
    if (!ParseRange(absl::string_view(key.data(), key.size()), range)) {
      return absl::DataLossError(
          "a chunked answer with a malformed byte range");
    }
    if (download.ranges.size() == kMaxSignedRanges) {
      return absl::DataLossError(absl::StrCat(
          "a chunked answer with more than ", kMaxSignedRanges, " urls"));
    }
    download.ranges.push_back(std::move(range));
  }
  std::sort(download.ranges.begin(), download.ranges.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  if (download.ranges.empty()) {
    return absl::DataLossError("a chunked answer without any url");
  }
  ABSL_RETURN_IF_ERROR(CheckGapless(download));
  download.size = download.ranges.back().last + 1;
  return absl::OkStatus();
}

absl::Status CheckUrls(const SignedDownload& download) {
  for (const SignedRange& range : download.ranges) {
    if (range.url.size() > kMaxUrlBytes) {
      return absl::DataLossError(
          absl::StrCat("a signed answer with a url of ", range.url.size(),
                       " bytes, over the limit of ", kMaxUrlBytes));
    }
    if (!http::ParseUrl(range.url).ok()) {
      return absl::DataLossError("a signed answer whose url is none");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SignedDownload> ReadSignedDownload(JsonValue root) {
  const std::string status = FindString(root, {"status"});
  SignedDownload download;
  ABSL_RETURN_IF_ERROR(FindSize(root, {"size"}, download.size));
  download.sha1 = NormalSha1(FindString(root, {"sha1"}));
  if (status == "chunked") {
    ABSL_RETURN_IF_ERROR(ReadRanges(root, download));
  } else if (status == "complete" || status == "fallback") {
    download.ranges.push_back(
        {0, download.size.value_or(0) - 1, FindString(root, {"url"})});
  } else {
    return absl::DataLossError(absl::StrCat(
        "a signed answer of the unknown status '", Excerpt(status, 40), "'"));
  }
  ABSL_RETURN_IF_ERROR(CheckUrls(download));
  return download;
}

absl::StatusOr<SignedDownload> ReadBatchEntry(JsonValue entry) {
  if (FindString(entry, {"status"}) == "error") {
    return absl::NotFoundError(absl::StrCat(
        "not signed: ", Excerpt(FindString(entry, {"reason"}), 100)));
  }
  return ReadSignedDownload(entry);
}

}  // namespace

absl::StatusOr<SignedDownload> ParseSignedDownload(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  return ReadSignedDownload(document.root());
}

absl::StatusOr<std::vector<absl::StatusOr<SignedDownload>>> ParseSignedBatch(
    absl::string_view json, const std::vector<std::string>& keys) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  const auto results = Find(document.root(), {"results"});
  simdjson::dom::object object;
  if (!results || results->get_object().get(object) != simdjson::SUCCESS) {
    return absl::DataLossError("a batch answer without its results");
  }
  std::vector<absl::StatusOr<SignedDownload>> downloads;
  for (const std::string& key : keys) {
    simdjson::dom::element entry;
    if (object.at_key(key).get(entry) == simdjson::SUCCESS) {
      downloads.push_back(ReadBatchEntry(entry));
    } else {
      downloads.push_back(
          absl::DataLossError("a batch answer lacks an object"));
    }
  }
  return downloads;
}

absl::StatusOr<Token> ParseToken(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  Token token;
  token.access_token = Secret(FindString(document.root(), {"access_token"}));
  std::optional<int64_t> seconds;
  ABSL_RETURN_IF_ERROR(FindSize(document.root(), {"expires_in"}, seconds));
  if (token.access_token.empty()) {
    return absl::DataLossError("the answer holds no access token");
  }
  if (token.access_token.Reveal().size() > kMaxTokenBytes) {
    return absl::DataLossError(
        absl::StrCat("the answer's access token is over the limit of ",
                     kMaxTokenBytes, " bytes"));
  }
  // Where the answer does not say, a minute is safe.
  token.expires_in = absl::Seconds(seconds.value_or(60));
  return token;
}

std::string ParseErrorBody(absl::string_view body) {
  JsonDocument document;
  if (!document.Parse(body).ok()) return "";
  JsonValue error = document.root();
  if (const auto errors = FindArray(error, {"errors"});
      errors && errors->size() > 0) {
    error = errors->at(0).value_unsafe();
  }
  std::string line;
  for (const char* key : {"code", "errorCode", "error", "title", "detail",
                          "developerMessage", "error_description", "reason"}) {
    const std::string text = FindString(error, {key});
    if (text.empty()) continue;
    absl::StrAppend(&line, line.empty() ? "" : ": ", text);
  }
  return Excerpt(line, kMaxErrorBytes);
}

}  // namespace bimbackup::bim360
