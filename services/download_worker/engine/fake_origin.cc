#include "services/download_worker/engine/fake_origin.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/common/digest.h"
#include "services/common/random.h"

namespace bimbackup::engine {
namespace {

constexpr absl::string_view kHost = "http://127.0.0.1/";

std::string NameOf(absl::string_view url) {
  absl::string_view name = url.substr(0, url.find('?'));
  absl::ConsumePrefix(&name, kHost);
  return std::string(name.data(), name.size());
}

http::FakeTransport::Answer Plain(int status) {
  http::FakeTransport::Answer answer;
  answer.response.status = status;
  answer.response.body =
      absl::StrCat("<Error><Code>E", status, "</Code></Error>");
  return answer;
}

}  // namespace

FakeOrigin::FakeOrigin() = default;

void FakeOrigin::Open() {
  transport_.AddRule(
      [](const http::Request&) { return true; },
      [this](const http::Request& request) { return Serve(request); });
}

void FakeOrigin::PutObject(absl::string_view name, std::string bytes) {
  MutexLock lock(mutex_);
  objects_[std::string(name.data(), name.size())] = {
      std::move(bytes), absl::StrCat("\"e", ++last_etag_, "\"")};
}

std::string FakeOrigin::Url(absl::string_view name,
                            absl::string_view signature) {
  return absl::StrCat(kHost, name, "?signature=", signature);
}

Source FakeOrigin::SourceOf(absl::string_view name, absl::string_view bytes,
                            absl::string_view signature) {
  Digest sha1(DigestKind::kSha1);
  sha1.Update(bytes);
  Source source;
  source.ranges.push_back({.url = Url(name, signature)});
  source.size = static_cast<int64_t>(bytes.size());
  source.sha1 = sha1.FinishHex();
  return source;
}

http::FakeTransport::Answer FakeOrigin::Serve(const http::Request& request) {
  MutexLock lock(mutex_);
  const auto it = objects_.find(NameOf(request.url));
  if (it == objects_.end()) return Plain(404);
  const Object& object = it->second;
  const auto match = http::FindHeader(request.headers, "If-Match");
  if (match.has_value() && *match != object.etag) return Plain(412);
  http::FakeTransport::Answer answer;
  answer.response.status = 200;
  answer.response.body = object.bytes;
  answer.response.headers.emplace_back("ETag", object.etag);
  if (const auto range = http::FindHeader(request.headers, "Range")) {
    const std::pair<std::string, std::string> limits =
        absl::StrSplit(absl::StripPrefix(*range, "bytes="), '-');
    int64_t first = 0;
    int64_t last = static_cast<int64_t>(object.bytes.size()) - 1;
    if (!absl::SimpleAtoi(limits.first, &first) || first > last) {
      return Plain(416);
    }
    if (!limits.second.empty() && !absl::SimpleAtoi(limits.second, &last)) {
      return Plain(400);
    }
    answer.response.status = 206;
    answer.response.body = object.bytes.substr(first, last - first + 1);
    answer.response.headers.emplace_back(
        "Content-Range",
        absl::StrCat("bytes ", first, "-", last, "/", object.bytes.size()));
  }
  answer.response.headers.emplace_back(
      "Content-Length", absl::StrCat(answer.response.body.size()));
  return answer;
}

std::string AperiodicBytes(int64_t size, uint64_t seed) {
  SeededRandom random(seed);
  std::string bytes;
  bytes.reserve(size + 8);
  while (static_cast<int64_t>(bytes.size()) < size) {
    const uint64_t word = random.Next();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace bimbackup::engine
