#include "services/coordinator/pages.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace bimbackup::coordinator {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// Collects metrics, each with at most one label.
class MetricWriter {
 public:
  void Start(const char* name, const char* help, MetricType type) {
    families_.push_back({.name = absl::StrCat("bimbackup_", name),
                         .help = help,
                         .type = type,
                         .metric = {}});
  }

  void Add(double value, const char* label = nullptr,
           const std::string& label_value = "") {
    prometheus::ClientMetric metric;
    if (label != nullptr) metric.label.push_back({label, label_value});
    if (families_.back().type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    families_.back().metric.push_back(std::move(metric));
  }

  void Gauge(const char* name, const char* help, double value) {
    Start(name, help, MetricType::Gauge);
    Add(value);
  }

  std::string Text() const {
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  std::vector<MetricFamily> families_;
};

const char* StateName(catalog::BackupState state) {
  static constexpr std::array kNames = {
      "CRAWLING", "TRANSFERRING", "COMMITTING", "SUCCEEDED",
      "PARTIAL",  "FAILED",       "CANCELLED"};
  return kNames[static_cast<size_t>(state)];
}

void AddApi(const bim360::ApiLimiter& limiter, MetricWriter& out) {
  using bim360::EndpointClass;
  std::vector<std::pair<std::string, bim360::ApiLimiter::Usage>> usages;
  for (size_t i = 0; i < bim360::kEndpointClassCount; ++i) {
    const auto endpoint_class = static_cast<EndpointClass>(i);
    const absl::string_view name = bim360::EndpointClassName(endpoint_class);
    usages.emplace_back(std::string(name.data(), name.size()),
                        limiter.GetUsage(endpoint_class));
  }
  out.Start("api_calls_total", "Calls to Autodesk's API", MetricType::Counter);
  for (const auto& [name, usage] : usages) {
    out.Add(static_cast<double>(usage.calls), "class", name);
  }
  out.Start("api_wait_seconds_total", "Time that calls waited for their turn",
            MetricType::Counter);
  for (const auto& [name, usage] : usages) {
    out.Add(absl::ToDoubleSeconds(usage.waited), "class", name);
  }
  out.Start("api_waiting", "Calls that wait for their turn now",
            MetricType::Gauge);
  for (const auto& [name, usage] : usages) {
    out.Add(usage.waiting, "class", name);
  }
}

void AddPool(const lease::PoolStats& stats, MetricWriter& out) {
  out.Gauge("workers", "Workers that take transfers", stats.workers);
  out.Gauge("worker_free_slots", "Transfers that workers could take",
            stats.free_slots);
  out.Gauge("transfers_leased", "Transfers that workers hold", stats.leased);
  out.Gauge("transfers_ready", "Signed transfers that wait for a worker",
            stats.ready);
  out.Gauge("transfers_signing", "Transfers that are being signed",
            stats.signing);
}

void AddPause(const lease::Pause& pause, MetricWriter& out) {
  out.Start("paused", "1 for what the running backup waits for",
            MetricType::Gauge);
  for (const lease::PauseReason reason : lease::kPauseReasons) {
    const absl::string_view name = lease::PauseReasonName(reason);
    out.Add(reason == pause.reason ? 1 : 0, "reason",
            std::string(name.data(), name.size()));
  }
}

void AddBackup(const backup::BackupView& view, MetricWriter& out) {
  const catalog::BackupCounters& counters = view.record.counters;
  out.Start("backup_state", "1 for the state of the newest backup",
            MetricType::Gauge);
  for (int i = 0; i <= static_cast<int>(catalog::BackupState::kCancelled);
       ++i) {
    const auto state = static_cast<catalog::BackupState>(i);
    out.Add(state == view.record.state ? 1 : 0, "state", StateName(state));
  }
  out.Gauge("backup_start_seconds", "When the newest backup was started",
            absl::ToDoubleSeconds(view.record.create_time - absl::UnixEpoch()));
  if (view.record.end_time.has_value()) {
    out.Gauge("backup_end_seconds", "When the newest backup ended",
              absl::ToDoubleSeconds(*view.record.end_time - absl::UnixEpoch()));
  }
  const std::pair<const char*, int64_t> values[] = {
      {"backup_folders_listed", counters.folders_listed},
      {"backup_folders_skipped", counters.folders_skipped},
      {"backup_folders_pending", view.totals.frontier},
      {"backup_files", view.totals.files},
      {"backup_bytes", view.totals.bytes},
      {"backup_transfers", counters.transfers},
      {"backup_transfer_bytes", counters.transfer_bytes},
      {"backup_transfers_stored", counters.transfers_stored},
      {"backup_bytes_stored", counters.bytes_stored},
      {"backup_transfers_failed", counters.transfers_failed},
      {"backup_unlisted", counters.unlisted},
      {"backup_guarded", counters.guarded},
      {"backup_manifests_written", counters.manifests_written}};
  for (const auto& [name, value] : values) {
    out.Gauge(name, "Of the newest backup; see BackupProgress",
              static_cast<double>(value));
  }
}

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string BackupHtml(const backup::BackupView& view) {
  const catalog::BackupRecord& record = view.record;
  const catalog::BackupCounters& counters = record.counters;
  std::string html = absl::StrFormat(
      "<h2>Backup %s: %s</h2>\n<p>%s</p>\n<ul>\n", EscapeHtml(record.id),
      StateName(record.state), EscapeHtml(record.message));
  absl::StrAppendFormat(
      &html, "<li>Folders: %d listed, %d unchanged, %d to list</li>\n",
      counters.folders_listed, counters.folders_skipped, view.totals.frontier);
  absl::StrAppendFormat(
      &html, "<li>Transfers: %d of %d stored, %d failed, %d under way</li>\n",
      counters.transfers_stored, counters.transfers, counters.transfers_failed,
      view.transfers_leased);
  absl::StrAppendFormat(&html, "<li>Bytes: %d of %d stored</li>\n</ul>\n",
                        counters.bytes_stored, counters.transfer_bytes);
  return html;
}

std::string WorkersHtml(const lease::LeasePool& pool) {
  std::string html =
      "<h2>Workers</h2>\n<table>\n<tr><th>Worker</th><th>Leases</th>"
      "<th>Stored</th><th>State</th></tr>\n";
  for (const lease::WorkerInfo& worker : pool.ListWorkers()) {
    const std::string state = !worker.storage_problem.empty()
                                  ? worker.storage_problem
                                  : (worker.draining ? "draining" : "");
    absl::StrAppendFormat(
        &html, "<tr><td>%s</td><td>%d</td><td>%d</td><td>%s</td></tr>\n",
        EscapeHtml(worker.display_name), worker.leases, worker.stored_count,
        EscapeHtml(state));
  }
  return html + "</table>\n";
}

}  // namespace

std::string MakeMetrics(backup::BackupRunner& runner,
                        const lease::LeasePool& pool,
                        const bim360::ApiLimiter& limiter) {
  MetricWriter out;
  AddApi(limiter, out);
  AddPool(pool.stats(), out);
  const absl::StatusOr<backup::BackupView> view = runner.GetBackup("-");
  AddPause(runner.GetPause(), out);
  if (view.ok()) AddBackup(*view, out);
  return out.Text();
}

std::string MakeStatusPage(backup::BackupRunner& runner,
                           const lease::LeasePool& pool) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"refresh\" content=\"5\"><title>bimbackup</title>"
      "</head>\n<body>\n<h1>bimbackup</h1>\n";
  const absl::StatusOr<backup::BackupView> view = runner.GetBackup("-");
  html += view.ok() ? BackupHtml(*view) : "<p>There is no backup yet.</p>\n";
  return html + WorkersHtml(pool) + "</body></html>\n";
}

}  // namespace bimbackup::coordinator
