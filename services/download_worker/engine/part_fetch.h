// One request for bytes of a transfer, and what came of it.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_PART_FETCH_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_PART_FETCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/http/http_transport.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::engine {

// What one request asks for. Offsets are those of the storage object.
struct PartRequest {
  // Names the request among those of its transfer.
  uint64_t key = 0;
  // The bytes wanted; `end` is absent for "to the end", of unknown size.
  int64_t begin = 0;
  std::optional<int64_t> end = std::nullopt;
  // The bytes that the URL gives; `url_end` is absent where unknown.
  int64_t url_begin = 0;
  std::optional<int64_t> url_end = std::nullopt;
  // Which of the source's ranges the URL is of.
  size_t range_index = 0;

  // Whether less is wanted than the URL gives, so that a Range header goes
  // out and 206 must come back.
  bool ranged() const { return begin != url_begin || end != url_end; }
};

// The ways in which a request ends.
enum class PartEnd {
  kComplete,
  // The connection failed, stalled, or the body was short.
  kTransport,
  // An answer with an error status.
  kHttpStatus,
  // A range was asked for and the whole body offered.
  kRangeIgnored,
  // The object is not the one that earlier requests saw.
  kChanged,
  // The answer contradicts the request.
  kMalformed,
  // The storage did not take the bytes.
  kStorage,
  // The transport refused the request.
  kInvalid,
};

struct PartResult {
  PartEnd end = PartEnd::kTransport;
  // Why; OK for kComplete. Holds no query.
  absl::Status status = absl::OkStatus();
  // HTTP status; 0 where no answer came.
  int http_status = 0;
  // Everything before this offset, from the request's begin, is written.
  int64_t position = 0;
  // Body bytes received, error bodies included.
  int64_t bytes_received = 0;
  // What the server asks to wait, where it does.
  std::optional<absl::Duration> retry_after = std::nullopt;
};

// What a success answer tells of the object.
struct PartHead {
  size_t range_index = 0;
  // Empty where the server gives none or a weak one.
  std::string etag = "";
  // The bytes behind the URL in all, where known.
  std::optional<int64_t> url_size = std::nullopt;
};

// Where a request's bytes go. Called on the transport's threads, one call at
// a time for each request.
class PartSink {
 public:
  virtual ~PartSink() = default;

  // FAILED_PRECONDITION when the object is another than before; any other
  // error is the storage's.
  virtual absl::Status OnPartHead(const PartHead& head) = 0;
  // The storage's errors.
  virtual absl::Status OnPartBytes(int64_t offset, absl::string_view bytes) = 0;
  // Called once, last, unless the request was abandoned.
  virtual void OnPartDone(uint64_t key, const PartResult& result) = 0;
};

// Cuts a request off from its sink: what arrives later goes nowhere.
// Thread-safe.
class PartLine {
 public:
  explicit PartLine(std::shared_ptr<PartSink> sink) : sink_(std::move(sink)) {}

  // Returns once no call to the sink runs.
  void Abandon();

  // Everything before it, from the request's begin, has been written; 0
  // before the first byte.
  int64_t position() const;

  absl::Status Head(const PartHead& head);
  absl::Status Bytes(int64_t offset, absl::string_view bytes);
  void Done(uint64_t key, const PartResult& result);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<PartSink> sink_ ABSL_GUARDED_BY(mutex_);
  int64_t position_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Checks an answer against its request and hands the bytes on. Used by one
// transport thread at a time.
class PartFetch : public http::ResponseHandler {
 public:
  // `clock` outlives the fetch.
  PartFetch(PartRequest request, std::shared_ptr<PartLine> line, Clock& clock);

  absl::Status OnHead(const http::ResponseHead& head) override;
  absl::Status OnBody(absl::string_view bytes) override;
  void OnDone(const absl::Status& status,
              const http::TransferStats& stats) override;

 private:
  absl::Status CheckRange(const http::ResponseHead& head, PartHead& part);
  absl::Status CheckWhole(const http::ResponseHead& head, PartHead& part);
  absl::Status Stop(PartEnd end, absl::Status status);
  void Conclude(const absl::Status& status);
  absl::Status HttpError() const;

  const PartRequest request_;
  const std::shared_ptr<PartLine> line_;
  Clock& clock_;
  PartResult result_;
  // Where the body must end, once known.
  std::optional<int64_t> end_;
  // Set once an end other than the transport's is known.
  bool stopped_ = false;
  bool success_ = false;
  std::string error_body_;
};

// The Range header's value for a request that is ranged().
std::string RangeHeader(const PartRequest& request);

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_PART_FETCH_H_
