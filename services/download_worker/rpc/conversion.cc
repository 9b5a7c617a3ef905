#include "services/download_worker/rpc/conversion.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "services/common/excerpt.h"

namespace bimbackup::worker_rpc {
namespace {

// No request starts when so little, or a tenth, of a signature's life is
// left.
constexpr absl::Duration kExpiryMargin = absl::Seconds(10);

// The coordinator keeps messages with every attempt, and bounds them.
constexpr size_t kMaxMessageBytes = 1000;

// Of what a coordinator may say; anything else is taken for the default.
constexpr double kMaxLeaseSeconds = 24 * 3600;

bool IsHexSha1(const std::string& text) {
  return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isxdigit(c);
         });
}

v1::TransferOutcome ToProto(engine::Outcome outcome) {
  switch (outcome) {
    case engine::Outcome::kStored:
      return v1::TRANSFER_OUTCOME_STORED;
    case engine::Outcome::kRetryable:
      return v1::TRANSFER_OUTCOME_RETRYABLE;
    case engine::Outcome::kRefused:
      return v1::TRANSFER_OUTCOME_REFUSED;
    case engine::Outcome::kNotFound:
      return v1::TRANSFER_OUTCOME_NOT_FOUND;
    case engine::Outcome::kCorrupt:
      return v1::TRANSFER_OUTCOME_CORRUPT;
    case engine::Outcome::kInvalid:
      return v1::TRANSFER_OUTCOME_INVALID;
    case engine::Outcome::kStorageFailed:
      return v1::TRANSFER_OUTCOME_STORAGE_FAILED;
    case engine::Outcome::kReleased:
      return v1::TRANSFER_OUTCOME_RELEASED;
    case engine::Outcome::kStorageClosed:
      return v1::TRANSFER_OUTCOME_STORAGE_CLOSED;
  }
  return v1::TRANSFER_OUTCOME_UNSPECIFIED;
}

}  // namespace

engine::Source FromProto(const v1::DownloadSource& source, absl::Duration now) {
  engine::Source result;
  for (const v1::SignedRange& range : source.ranges()) {
    result.ranges.push_back(
        {.first = range.first(), .last = range.last(), .url = range.url()});
  }
  if (source.has_size()) result.size = source.size();
  // What is no SHA-1 cannot be compared with one.
  if (IsHexSha1(source.sha1())) {
    result.sha1 = absl::AsciiStrToLower(source.sha1());
  }
  if (source.valid_seconds() > 0) {
    const absl::Duration life = absl::Seconds(source.valid_seconds());
    result.valid_until = now + life - std::min(kExpiryMargin, life / 10);
  }
  return result;
}

engine::TransferTask FromProto(const v1::GrantedLease& lease,
                               absl::Duration now) {
  engine::TransferTask task;
  task.transfer_id = lease.transfer().transfer_id();
  task.epoch = lease.epoch();
  task.storage_urn = lease.transfer().storage_urn();
  task.display_path = lease.transfer().display_path();
  task.source = FromProto(lease.transfer().source(), now);
  return task;
}

worker_lease::SyncResponse FromProto(const v1::SynchronizeResponse& response,
                                     absl::Duration now) {
  worker_lease::SyncResponse result;
  for (const v1::GrantedLease& lease : response.granted()) {
    result.granted.push_back(FromProto(lease, now));
  }
  result.revoked.assign(response.revoked_transfer_ids().begin(),
                        response.revoked_transfer_ids().end());
  result.acknowledged.assign(response.acknowledged_transfer_ids().begin(),
                             response.acknowledged_transfer_ids().end());
  result.drain = response.drain();
  result.max_bandwidth = std::max<int64_t>(0, response.max_bandwidth());
  const double life = response.lease_seconds();
  if (std::isfinite(life) && life > 0 && life <= kMaxLeaseSeconds) {
    result.lease_life = absl::Seconds(life);
  }
  return result;
}

v1::TransferResult ToProto(const worker_lease::FinishedLease& finished) {
  const engine::TransferReport& report = finished.report;
  v1::TransferResult result;
  result.set_transfer_id(finished.key.transfer_id);
  result.set_epoch(finished.key.epoch);
  result.set_outcome(ToProto(report.outcome));
  if (report.outcome == engine::Outcome::kStored) {
    result.set_sha256(report.sha256);
    result.set_size(report.size);
  }
  result.set_message(Excerpt(report.message, kMaxMessageBytes));
  result.set_http_status(report.http_status);
  result.set_bytes_received(report.bytes_received);
  result.set_requests(report.requests);
  return result;
}

void AddToProto(const worker_lease::SyncRequest& request,
                v1::SynchronizeRequest& proto) {
  for (const worker_lease::HeldLease& held : request.held) {
    v1::HeldLease& lease = *proto.add_held();
    lease.set_transfer_id(held.key.transfer_id);
    lease.set_epoch(held.key.epoch);
    lease.set_bytes_done(held.bytes_done);
  }
  for (const worker_lease::FinishedLease& finished : request.results) {
    *proto.add_results() = ToProto(finished);
  }
  proto.set_free_slots(request.free_slots);
  proto.set_draining(request.draining);
  proto.set_may_hold(request.may_hold);
  proto.set_bytes_received(request.bytes_received);
  proto.set_storage_problem(Excerpt(request.storage_problem, kMaxMessageBytes));
}

}  // namespace bimbackup::worker_rpc
