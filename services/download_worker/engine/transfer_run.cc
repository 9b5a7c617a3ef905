#include "services/download_worker/engine/transfer_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"
#include "services/download_worker/engine/byte_range_set.h"

namespace bimbackup::engine {
namespace {

// For a file until its first answer has told its size.
constexpr absl::Duration kUnknownSizeTime = absl::Hours(24);

absl::Duration TimeFor(int64_t bytes, int64_t bytes_per_second) {
  return absl::Seconds(
      static_cast<double>(bytes) /
      static_cast<double>(std::max<int64_t>(1, bytes_per_second)));
}

}  // namespace

TransferRun::TransferRun(uint64_t handle, TransferTask task,
                         const EngineDeps& deps, const EngineOptions& options,
                         Executor& executor, TransferHost& host)
    : handle_(handle),
      task_(std::move(task)),
      deps_(deps),
      options_(options),
      host_(host),
      strand_(executor),
      source_(task_.source),
      signed_size_(SourceSize(task_.source)) {
  if (const auto size = SourceSize(source_)) size_ = *size;
}

void TransferRun::Post(void (TransferRun::*event)()) {
  strand_.Post([self = shared_from_this(), event] { (*self.*event)(); });
}

void TransferRun::Start() { Post(&TransferRun::Open); }

void TransferRun::OnSlot() { Post(&TransferRun::TakeSlot); }

void TransferRun::Tick() { Post(&TransferRun::CheckRunning); }

void TransferRun::Release(std::string reason) {
  strand_.Post([self = shared_from_this(), reason = std::move(reason)] {
    if (self->state_ == State::kCommitting) return;
    self->Fail(Outcome::kReleased, reason);
  });
}

void TransferRun::Open() {
  if (state_ != State::kNew) {
    host_.ReleaseSlot(handle_);
    return;
  }
  state_ = State::kFetching;
  absl::Status ready = CheckSource(source_);
  if (!ready.ok()) {
    host_.ReleaseSlot(handle_);
    Fail(Outcome::kInvalid, ready.message());
    return;
  }
  auto writer = deps_.storage.OpenBlobWriter(task_.storage_urn);
  if (!writer.ok()) {
    host_.ReleaseSlot(handle_);
    Fail(StorageOutcome(writer.status()), writer.status().message());
    return;
  }
  blob_ = std::make_unique<PartialBlob>(*std::move(writer), task_.storage_urn,
                                        source_, options_.journal_from,
                                        options_.digests);
  started_at_ = Now();
  cap_ = host_.pace().cap();
  deadline_ = DeadlineFrom(started_at_);
  PartSizes sizes = options_.parts;
  sizes.spare_slots = host_.SpareSlots();
  parts_ = PlanParts(source_, blob_->recovered(), sizes);
  resuming_ = !blob_->recovered().empty() && parts_.front().end.has_value();
  single_ = IsSingle();
  TakeSlot();
}

bool TransferRun::IsSingle() const {
  return !resuming_ && parts_.size() == 1 && parts_.front().end.has_value();
}

absl::Duration TransferRun::DeadlineFrom(absl::Duration from) const {
  const std::optional<int64_t> size = SourceSize(source_);
  return from + options_.file_base +
         (size.has_value() ? TimeFor(*size, host_.pace().slowest() / 4)
                           : kUnknownSizeTime);
}

void TransferRun::TakeSlot() {
  const bool expiring = Now() >= source_.valid_until;
  const std::optional<size_t> next =
      state_ == State::kFetching ? NextPart() : std::nullopt;
  if (!next.has_value() || expiring) {
    host_.ReleaseSlot(handle_);
    if (next.has_value()) SignAgain();
    return;
  }
  StartRequest(*next);
  UpdateWanted();
}

std::optional<size_t> TransferRun::NextPart() const {
  // Until the first answer nobody knows whether what was recovered counts.
  if (signing_ || (!adopted_ && !running_.empty())) return std::nullopt;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.running || part.done()) continue;
    if (part.not_before <= Now()) return i;
    // What fails before any answer was good fails for all parts alike: they
    // share the attempts of the first.
    if (!adopted_) return std::nullopt;
  }
  return std::nullopt;
}

void TransferRun::UpdateWanted() {
  if (state_ != State::kFetching || !NextPart().has_value()) {
    host_.SetWanted(handle_, 0);
    return;
  }
  const int running = static_cast<int>(running_.size());
  int limit = (adopted_ ? options_.parts_at_once : 1) - running;
  if (adopted_) {
    // What nobody else can use shortens the end of the run.
    const int spare = host_.SpareSlots();
    if (spare > 0) SplitForSpareSlots(spare);
    limit = std::max(limit, spare);
  }
  host_.SetWanted(handle_, CountReady(limit));
}

int TransferRun::CountReady(int limit) const {
  int ready = 0;
  for (const Part& part : parts_) {
    if (ready >= limit) break;
    if (!part.running && !part.done() && part.not_before <= Now()) ++ready;
  }
  return ready;
}

// Halves the largest of the parts that may be asked for until there are enough
// of them, or they are small. What runs is left alone: no request asks for more
// than the largest part, so that none goes on for long after the last that
// waited has been taken. Nor does half of a part that failed get a start of its
// own: it waits as long, and has failed as often.
void TransferRun::SplitForSpareSlots(int wanted) {
  for (int ready = CountReady(wanted); ready > 0 && ready < wanted; ++ready) {
    Part* largest = nullptr;
    for (Part& part : parts_) {
      if (part.running || part.done() || !part.end.has_value()) continue;
      if (part.not_before > Now()) continue;
      if (largest == nullptr ||
          *part.end - part.position > *largest->end - largest->position) {
        largest = &part;
      }
    }
    if (largest == nullptr) return;
    const int64_t left = *largest->end - largest->position;
    if (left < 2 * options_.parts.smallest_spare) return;
    const int64_t middle = *largest->end - left / 2;
    Part second{.begin = middle,
                .position = middle,
                .end = largest->end,
                .recorded = middle,
                .failures = largest->failures};
    largest->end = middle;
    parts_.push_back(second);
  }
}

void TransferRun::StartRequest(size_t index) {
  Part& part = parts_[index];
  PartRequest request = NextRequest(source_, part);
  request.key = ++next_key_;
  http::Request http_request = BuildRequest(request, part.failures > 0);
  const absl::Status allowed = deps_.hosts.Admit(http_request);
  if (!allowed.ok()) {
    host_.ReleaseSlot(handle_);
    Fail(Outcome::kInvalid, allowed.message());
    return;
  }
  Running& running = running_[request.key];
  running.part = index;
  running.line = std::make_shared<PartLine>(shared_from_this());
  running.generation = generation_;
  running.begin = request.begin;
  running.began_at = Now();
  running.deadline =
      Now() + http_request.deadline + host_.pace().watchdog_grace();
  running.seen_at = Now();
  part.running = true;
  ++report_.requests;
  running.id = deps_.transport.Start(
      std::move(http_request),
      std::make_unique<PartFetch>(request, running.line, deps_.clock));
}

http::Request TransferRun::BuildRequest(const PartRequest& part,
                                        bool fresh) const {
  http::Request request;
  request.url = source_.ranges[part.range_index].url;
  if (part.ranged()) request.headers.emplace_back("Range", RangeHeader(part));
  std::string etag = blob_->etag(part.range_index);
  if (!etag.empty()) request.headers.emplace_back("If-Match", std::move(etag));
  request.deadline = deadline_ - Now();
  if (part.end.has_value()) {
    request.deadline = RequestTime(*part.end - part.begin);
  }
  request.idle_limit = options_.idle_limit;
  request.idle_bytes = options_.idle_bytes;
  request.fresh_connection = fresh;
  // Threads that write to one file wait for each other.
  request.group = handle_;
  return request;
}

absl::Duration TransferRun::RequestTime(int64_t bytes) const {
  return options_.request_base + TimeFor(bytes, host_.pace().slowest());
}

absl::Status TransferRun::OnPartHead(const PartHead& head) {
  const bool first = !blob_->pinned();
  ABSL_RETURN_IF_ERROR(blob_->Pin(head));
  if (const auto size = blob_->size()) size_ = *size;
  if (first && !single_) Post(&TransferRun::AfterFirstHead);
  return absl::OkStatus();
}

absl::Status TransferRun::OnPartBytes(int64_t offset, absl::string_view bytes) {
  ABSL_ASSIGN_OR_RETURN(const bool wants_catch_up, blob_->Write(offset, bytes));
  bytes_done_ = blob_->bytes_done();
  host_.OnBytes(static_cast<int64_t>(bytes.size()));
  if (wants_catch_up) RequestCatchUp();
  return absl::OkStatus();
}

void TransferRun::OnPartDone(uint64_t key, const PartResult& result) {
  strand_.Post([self = shared_from_this(), key, result] {
    self->HandleDone(key, result);
  });
}

void TransferRun::AfterFirstHead() {
  if (adopted_ || state_ != State::kFetching) return;
  adopted_ = true;
  source_.size = blob_->size();
  deadline_ = DeadlineFrom(started_at_);
  if (resuming_ && blob_->recovered().empty()) {
    PlanAroundParts();
  } else if (resuming_) {
    if (blob_->AdoptRecovered()) RequestCatchUp();
    bytes_done_ = blob_->bytes_done();
  }
  UpdateWanted();
}

void TransferRun::PlanAroundParts() {
  ByteRangeSet planned;
  for (const Part& part : parts_) planned.Add({part.begin, *part.end});
  for (const storage::ByteRange& missing :
       planned.MissingIn({0, *SourceSize(source_)})) {
    CutParts(missing, options_.parts.For(*SourceSize(source_)), parts_);
  }
}

void TransferRun::HandleDone(uint64_t key, const PartResult& result) {
  const auto it = running_.find(key);
  if (it == running_.end()) return;
  if (single_ && blob_->pinned()) AfterFirstHead();
  const Running running = it->second;
  running_.erase(it);
  AccountFor(running, result);
  if (state_ == State::kStopping) {
    if (running_.empty()) (this->*after_stop_)();
    return;
  }
  Part& part = parts_[running.part];
  if (result.end != PartEnd::kComplete) {
    HandleFailure(running.part, running.generation, result);
    return;
  }
  part.failures = 0;
  if (!part.end.has_value()) part.end = part.position;
  if (std::all_of(parts_.begin(), parts_.end(),
                  [](const Part& p) { return p.done(); })) {
    state_ = State::kVerifying;
    Verify();
    return;
  }
  const absl::Status recorded = RecordDone(part);
  if (!recorded.ok()) {
    FailByStorage(recorded);
    return;
  }
  UpdateWanted();
}

void TransferRun::AccountFor(const Running& running, const PartResult& result) {
  Part& part = parts_[running.part];
  part.running = false;
  if (result.position - part.position >= options_.worthwhile_bytes) {
    part.failures = 0;
  }
  if (result.position > part.position) refusals_ = 0;
  part.position = std::max(part.position, result.position);
  report_.bytes_received += result.bytes_received;
  host_.OnRequestEnded(Now() - running.began_at, IsOverload(result));
  if (result.http_status != 0) report_.http_status = result.http_status;
  host_.ReleaseSlot(handle_);
}

absl::Status TransferRun::RecordDone(Part& part) {
  if (!blob_->journaled() || part.position <= part.recorded) {
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(blob_->Record({part.recorded, part.position}));
  part.recorded = part.position;
  MaybeCrash("worker.part_recorded");
  return absl::OkStatus();
}

void TransferRun::RecordProgress() {
  for (auto& [key, running] : running_) {
    Part& part = parts_[running.part];
    const int64_t position = running.line->position();
    if (position - part.recorded < options_.parts.largest ||
        !blob_->journaled()) {
      continue;
    }
    const absl::Status recorded = blob_->Record({part.recorded, position});
    if (!recorded.ok()) {
      FailByStorage(recorded);
      return;
    }
    part.recorded = position;
    MaybeCrash("worker.part_recorded");
  }
}

void TransferRun::RequestCatchUp() { Post(&TransferRun::CatchUp); }

void TransferRun::CatchUp() {
  // Verify() reads back what is left by itself.
  if (state_ != State::kFetching) return;
  const absl::StatusOr<bool> more = blob_->CatchUp();
  if (!more.ok()) {
    FailByStorage(more.status());
  } else if (*more) {
    RequestCatchUp();
  }
}

}  // namespace bimbackup::engine
