#include "services/coordinator/rpc/conversions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace bimbackup::coordinator_rpc {
namespace {

v1::BackupState ToProto(catalog::BackupState state) {
  return static_cast<v1::BackupState>(static_cast<int>(state) + 1);
}

v1::TransferState ToProto(catalog::TransferState state) {
  return static_cast<v1::TransferState>(static_cast<int>(state) + 1);
}

void SetPlan(const backup::BackupPlan& plan, v1::BackupPlan& out) {
  out.set_transfers(plan.transfers);
  out.set_bytes(plan.bytes);
  for (const auto& [name, calls] : plan.api_calls) {
    (*out.mutable_api_calls())[name] = calls;
  }
  out.mutable_floor()->set_seconds(absl::ToInt64Seconds(plan.floor));
  out.set_floor_class(plan.floor_class);
  out.set_floor_calls_per_minute(plan.floor_calls_per_minute);
}

void SetProgress(const backup::BackupView& view, v1::BackupProgress& out) {
  const catalog::BackupCounters& counters = view.record.counters;
  out.set_projects(view.totals.projects);
  out.set_folders(view.totals.folders);
  out.set_folders_listed(counters.folders_listed);
  out.set_folders_skipped(counters.folders_skipped);
  out.set_folders_pending(view.totals.frontier);
  out.set_files(view.totals.files);
  out.set_bytes(view.totals.bytes);
  out.set_transfers(counters.transfers);
  out.set_transfer_bytes(counters.transfer_bytes);
  out.set_transfers_stored(counters.transfers_stored);
  out.set_bytes_stored(counters.bytes_stored);
  out.set_transfers_failed(counters.transfers_failed);
  out.set_unlisted(counters.unlisted);
  out.set_denied(counters.denied);
  out.set_guarded(counters.guarded);
  for (const auto& [name, calls] : counters.api_calls) {
    (*out.mutable_api_calls())[name] = calls;
  }
  out.set_manifests_written(counters.manifests_written);
  out.set_bytes_per_second(view.bytes_per_second);
  if (view.eta.has_value()) {
    out.mutable_eta()->set_seconds(absl::ToInt64Seconds(*view.eta));
  }
  out.set_limited_by(static_cast<v1::Limit>(view.limited_by));
  out.set_transfers_leased(view.transfers_leased);
  if (view.plan.has_value()) SetPlan(*view.plan, *out.mutable_plan());
}

void SetRequest(const catalog::BackupRequest& request,
                v1::StartBackupRequest& out) {
  out.set_request_id(request.request_id);
  out.set_validate_only(request.validate_only);
  out.set_full_recheck(request.full_recheck);
  if (!request.HasFilter()) return;
  v1::BackupFilter& filter = *out.mutable_filter();
  filter.mutable_projects()->Assign(request.projects.begin(),
                                    request.projects.end());
  filter.mutable_include()->Assign(request.include.begin(),
                                   request.include.end());
  filter.mutable_exclude()->Assign(request.exclude.begin(),
                                   request.exclude.end());
}

lease::TransferResult FromProto(const v1::TransferResult& result) {
  lease::TransferResult out;
  out.transfer_id = result.transfer_id();
  out.epoch = result.epoch();
  // What a newer worker may say beyond this is worth another attempt.
  const bool known = result.outcome() > v1::TRANSFER_OUTCOME_UNSPECIFIED &&
                     result.outcome() <= v1::TRANSFER_OUTCOME_STORAGE_CLOSED;
  out.outcome = known ? static_cast<lease::Outcome>(result.outcome())
                      : lease::Outcome::kRetryable;
  out.sha256 = result.sha256();
  out.size = result.size();
  out.message = result.message();
  out.http_status = result.http_status();
  out.bytes_received = std::max<int64_t>(0, result.bytes_received());
  return out;
}

}  // namespace

absl::StatusOr<std::string> ReadName(absl::string_view collection,
                                     absl::string_view name) {
  absl::string_view id = name;
  if (!absl::ConsumePrefix(&id, collection) || !absl::ConsumePrefix(&id, "/") ||
      id.empty() || id.find('/') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", name, "\" is not of the form ", collection, "/<id>"));
  }
  return std::string(id.data(), id.size());
}

catalog::BackupRequest FromProto(const v1::StartBackupRequest& request) {
  catalog::BackupRequest out;
  out.request_id = request.request_id();
  out.validate_only = request.validate_only();
  out.full_recheck = request.full_recheck();
  const v1::BackupFilter& filter = request.filter();
  out.projects.assign(filter.projects().begin(), filter.projects().end());
  out.include.assign(filter.include().begin(), filter.include().end());
  out.exclude.assign(filter.exclude().begin(), filter.exclude().end());
  return out;
}

v1::Backup ToProto(const backup::BackupView& view) {
  const catalog::BackupRecord& record = view.record;
  v1::Backup out;
  out.set_name(absl::StrCat("backups/", record.id));
  out.set_state(ToProto(record.state));
  out.set_message(record.message);
  SetRequest(record.request, *out.mutable_request());
  *out.mutable_create_time() = ToTimestamp(record.create_time);
  if (record.end_time.has_value()) {
    *out.mutable_end_time() = ToTimestamp(*record.end_time);
  }
  SetProgress(view, *out.mutable_progress());
  if (!record.snapshot_id.empty()) {
    out.set_snapshot(absl::StrCat("snapshots/", record.snapshot_id));
  }
  return out;
}

v1::TransferRecord ToProto(const catalog::TransferRecord& transfer) {
  v1::TransferRecord out;
  out.set_transfer_id(transfer.transfer_id);
  out.set_kind(v1::TRANSFER_RECORD_KIND_FILE);
  out.set_project_name(transfer.project_name);
  out.mutable_path()->Assign(transfer.path.begin(), transfer.path.end());
  out.set_storage_urn(transfer.storage_urn);
  if (transfer.size.has_value()) out.set_size(*transfer.size);
  out.set_state(ToProto(transfer.state));
  out.set_reason(transfer.reason);
  return out;
}

v1::TransferRecord ToProto(const catalog::UnlistedRecord& unlisted) {
  v1::TransferRecord out;
  out.set_kind(unlisted.folder_id.empty() ? v1::TRANSFER_RECORD_KIND_PROJECT
                                          : v1::TRANSFER_RECORD_KIND_FOLDER);
  out.set_project_name(unlisted.project_name);
  out.mutable_path()->Assign(unlisted.path.begin(), unlisted.path.end());
  out.set_state(v1::TRANSFER_STATE_FAILED);
  out.set_reason(unlisted.reason);
  if (unlisted.guarded) out.add_acceptable(v1::ACCEPT_KIND_DELETIONS);
  if (unlisted.denied) out.add_acceptable(v1::ACCEPT_KIND_DENIED);
  return out;
}

v1::TransferAttempt ToProto(const catalog::AttemptRecord& attempt) {
  v1::TransferAttempt out;
  *out.mutable_end_time() = ToTimestamp(attempt.end_time);
  out.set_worker_id(attempt.worker_id);
  out.set_outcome(static_cast<v1::TransferOutcome>(attempt.outcome));
  out.set_http_status(attempt.http_status);
  out.set_bytes_received(attempt.bytes_received);
  out.set_message(attempt.message);
  out.set_late(attempt.late);
  return out;
}

v1::Worker ToProto(const lease::WorkerInfo& worker) {
  v1::Worker out;
  out.set_worker_id(worker.worker_id);
  out.set_display_name(worker.display_name);
  out.set_version(worker.version);
  *out.mutable_last_seen_time() = ToTimestamp(worker.last_seen);
  out.set_leases(worker.leases);
  out.set_free_slots(worker.free_slots);
  out.set_draining(worker.draining);
  out.set_storage_problem(worker.storage_problem);
  out.set_stored_count(worker.stored_count);
  out.set_bytes_received(worker.bytes_received);
  return out;
}

lease::WorkerReport FromProto(const v1::SynchronizeRequest& request) {
  lease::WorkerReport out;
  out.worker_id = request.worker_id();
  out.display_name = request.display_name();
  out.version = request.version();
  for (const v1::HeldLease& held : request.held()) {
    out.held.push_back({held.transfer_id(), held.epoch(), held.bytes_done()});
  }
  for (const v1::TransferResult& result : request.results()) {
    out.results.push_back(FromProto(result));
  }
  out.free_slots = request.free_slots();
  out.draining = request.draining();
  out.may_hold = request.may_hold();
  out.bytes_received = request.bytes_received();
  out.storage_problem = request.storage_problem();
  return out;
}

v1::DownloadSource ToProto(const bim360::SignedDownload& download,
                           absl::Duration now) {
  v1::DownloadSource out;
  for (const bim360::SignedRange& range : download.ranges) {
    v1::SignedRange& added = *out.add_ranges();
    added.set_first(range.first);
    added.set_last(range.last);
    added.set_url(range.url);
  }
  if (download.size.has_value()) out.set_size(*download.size);
  out.set_sha1(download.sha1);
  out.set_valid_seconds(
      std::max(0.0, absl::ToDoubleSeconds(download.expires - now)));
  return out;
}

v1::SynchronizeResponse ToProto(const lease::SynchronizeAnswer& answer,
                                absl::Duration now) {
  v1::SynchronizeResponse out;
  for (const lease::GrantedLease& lease : answer.granted) {
    v1::GrantedLease& granted = *out.add_granted();
    granted.set_epoch(lease.epoch);
    v1::Transfer& transfer = *granted.mutable_transfer();
    transfer.set_transfer_id(lease.transfer.transfer_id);
    transfer.set_storage_urn(lease.transfer.storage_urn);
    transfer.set_display_path(
        absl::StrCat(lease.transfer.project_name, "/",
                     absl::StrJoin(lease.transfer.path, "/")));
    *transfer.mutable_source() = ToProto(lease.download, now);
    if (lease::OnlyListingHasSize(lease.download, lease.transfer)) {
      transfer.mutable_source()->set_size(*lease.transfer.size);
    }
  }
  out.mutable_revoked_transfer_ids()->Assign(answer.revoked.begin(),
                                             answer.revoked.end());
  out.mutable_acknowledged_transfer_ids()->Assign(answer.acknowledged.begin(),
                                                  answer.acknowledged.end());
  out.set_drain(answer.drain);
  out.set_lease_seconds(absl::ToDoubleSeconds(answer.lease_life));
  out.set_backup_running(answer.backup_running);
  out.set_max_bandwidth(answer.max_bandwidth);
  return out;
}

}  // namespace bimbackup::coordinator_rpc
