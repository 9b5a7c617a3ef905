#include "services/download_worker/engine/part_fetch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::engine {
namespace {

// Enough of an error's body for the Code that S3 puts into it.
constexpr size_t kErrorBodyBytes = 4096;

// The text of S3's <Code>, where the body has one that looks like one.
std::string S3ErrorCode(absl::string_view body) {
  const size_t begin = body.find("<Code>");
  if (begin == body.npos) return "";
  const absl::string_view rest = body.substr(begin + 6, 64);
  std::string code;
  for (const char c : rest) {
    if (!absl::ascii_isalnum(c)) break;
    code += c;
  }
  return code;
}

std::string StrongEtag(const http::Headers& headers) {
  const auto etag = http::FindHeader(headers, "ETag");
  if (!etag.has_value() || absl::StartsWith(*etag, "W/")) return "";
  return std::string(etag->data(), etag->size());
}

std::optional<int64_t> ContentLength(const http::Headers& headers) {
  const auto text = http::FindHeader(headers, "Content-Length");
  int64_t length = 0;
  if (!text.has_value() || !absl::SimpleAtoi(*text, &length) || length < 0) {
    return std::nullopt;
  }
  return length;
}

}  // namespace

std::string RangeHeader(const PartRequest& request) {
  std::string first =
      absl::StrCat("bytes=", request.begin - request.url_begin, "-");
  if (!request.end.has_value()) return first;
  return absl::StrCat(first, *request.end - request.url_begin - 1);
}

void PartLine::Abandon() {
  MutexLock lock(mutex_);
  sink_ = nullptr;
}

absl::Status PartLine::Head(const PartHead& head) {
  MutexLock lock(mutex_);
  if (sink_ == nullptr) return absl::CancelledError("abandoned");
  return sink_->OnPartHead(head);
}

absl::Status PartLine::Bytes(int64_t offset, absl::string_view bytes) {
  MutexLock lock(mutex_);
  if (sink_ == nullptr) return absl::CancelledError("abandoned");
  ABSL_RETURN_IF_ERROR(sink_->OnPartBytes(offset, bytes));
  position_ = offset + static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

int64_t PartLine::position() const {
  MutexLock lock(mutex_);
  return position_;
}

void PartLine::Done(uint64_t key, const PartResult& result) {
  std::shared_ptr<PartSink> sink;
  {
    MutexLock lock(mutex_);
    sink = std::move(sink_);
    sink_ = nullptr;
  }
  if (sink != nullptr) sink->OnPartDone(key, result);
}

PartFetch::PartFetch(PartRequest request, std::shared_ptr<PartLine> line,
                     Clock& clock)
    : request_(request), line_(std::move(line)), clock_(clock) {
  result_.position = request_.begin;
  end_ = request_.end;
}

absl::Status PartFetch::Stop(PartEnd end, absl::Status status) {
  stopped_ = true;
  result_.end = end;
  result_.status = status;
  return status;
}

absl::Status PartFetch::OnHead(const http::ResponseHead& head) {
  result_.http_status = head.status;
  if (head.status != 200 && head.status != 206) {
    if (const auto wait = http::FindHeader(head.headers, "Retry-After")) {
      result_.retry_after = http::ParseRetryAfter(*wait, clock_.Now());
    }
    return absl::OkStatus();
  }
  if (const auto coding = http::FindHeader(head.headers, "Content-Encoding");
      coding.has_value() && !absl::EqualsIgnoreCase(*coding, "identity")) {
    // Its bytes are not the file's.
    return Stop(PartEnd::kMalformed,
                absl::InvalidArgumentError(
                    absl::StrCat("the body comes in the coding ",
                                 absl::CHexEscape(coding->substr(0, 20)),
                                 ", which was not asked for")));
  }
  PartHead part{.range_index = request_.range_index,
                .etag = StrongEtag(head.headers)};
  absl::Status checked =
      request_.ranged() ? CheckRange(head, part) : CheckWhole(head, part);
  if (!checked.ok()) return checked;
  const absl::Status taken = line_->Head(part);
  if (absl::IsFailedPrecondition(taken)) return Stop(PartEnd::kChanged, taken);
  if (!taken.ok()) return Stop(PartEnd::kStorage, taken);
  success_ = true;
  return absl::OkStatus();
}

absl::Status PartFetch::CheckRange(const http::ResponseHead& head,
                                   PartHead& part) {
  if (head.status == 200) {
    return Stop(PartEnd::kRangeIgnored,
                absl::FailedPreconditionError(
                    "the server answered a range request with the whole"));
  }
  const auto header = http::FindHeader(head.headers, "Content-Range");
  const auto range = header.has_value() ? http::ParseContentRange(*header)
                                        : std::optional<http::ContentRange>();
  if (!range.has_value()) {
    return Stop(PartEnd::kMalformed,
                absl::InvalidArgumentError("206 without a good Content-Range"));
  }
  const bool begins_right = range->first == request_.begin - request_.url_begin;
  const int64_t end = range->last + 1 + request_.url_begin;
  if (!begins_right || (request_.end.has_value() && end != *request_.end)) {
    return Stop(PartEnd::kMalformed,
                absl::InvalidArgumentError(absl::StrCat(
                    "asked for ", RangeHeader(request_), ", got bytes ",
                    range->first, "-", range->last)));
  }
  part.url_size = range->total;
  end_ = end;
  return absl::OkStatus();
}

absl::Status PartFetch::CheckWhole(const http::ResponseHead& head,
                                   PartHead& part) {
  if (head.status == 206) {
    return Stop(PartEnd::kMalformed,
                absl::InvalidArgumentError("206 to a request for the whole"));
  }
  part.url_size = ContentLength(head.headers);
  if (part.url_size.has_value() && !end_.has_value()) {
    end_ = request_.url_begin + *part.url_size;
  }
  return absl::OkStatus();
}

absl::Status PartFetch::OnBody(absl::string_view bytes) {
  if (!success_) {
    const size_t room = kErrorBodyBytes - error_body_.size();
    error_body_.append(bytes.data(), std::min(room, bytes.size()));
    if (room > 0) return absl::OkStatus();
    return Stop(PartEnd::kHttpStatus, HttpError());
  }
  const int64_t end = result_.position + static_cast<int64_t>(bytes.size());
  if (end_.has_value() && end > *end_) {
    return Stop(PartEnd::kMalformed,
                absl::InvalidArgumentError(
                    absl::StrCat("the body goes on after byte ", *end_)));
  }
  const absl::Status written = line_->Bytes(result_.position, bytes);
  if (!written.ok()) return Stop(PartEnd::kStorage, written);
  result_.position = end;
  return absl::OkStatus();
}

absl::Status PartFetch::HttpError() const {
  const std::string code = S3ErrorCode(error_body_);
  return http::StatusFromHttp(result_.http_status,
                              code.empty() ? "the storage host" : code);
}

void PartFetch::Conclude(const absl::Status& status) {
  result_.status = status;
  // Permission is denied by our own rules: the host leads to an address that
  // it must not.
  if (absl::IsInvalidArgument(status) || absl::IsPermissionDenied(status)) {
    result_.end = PartEnd::kInvalid;
  } else if (!success_ && result_.http_status != 0) {
    result_.end = PartEnd::kHttpStatus;
    result_.status = HttpError();
    if (result_.status.ok()) {
      result_.status = absl::InvalidArgumentError(
          absl::StrCat("unexpected HTTP ", result_.http_status));
    }
  } else if (!status.ok()) {
    result_.end = PartEnd::kTransport;
  } else if (end_.has_value() && result_.position != *end_) {
    result_.end = PartEnd::kTransport;
    result_.status = absl::DataLossError(absl::StrCat(
        "the body ended at byte ", result_.position, " of ", *end_));
  } else {
    result_.end = PartEnd::kComplete;
  }
}

void PartFetch::OnDone(const absl::Status& status,
                       const http::TransferStats& stats) {
  if (!stopped_) Conclude(status);
  result_.bytes_received = stats.body_bytes;
  line_->Done(request_.key, result_);
}

}  // namespace bimbackup::engine
