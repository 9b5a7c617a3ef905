#include "clients/cli/restore/restore_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/cli/format.h"
#include "clients/storage/format/json_text.h"

namespace bimbackup::cli {
namespace {

using restore::Outcome;
using restore::RestoreSummary;
using storage::format::AppendField;
using storage::format::AppendJsonString;
using storage::format::EntryStatusName;

constexpr double kBarWidth = 24;

// "[#####-----]"; nothing where the total is not known.
std::string Bar(int64_t done, int64_t total) {
  if (total <= 0) return "";
  const double share = std::clamp(
      static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const auto filled = static_cast<size_t>(std::floor(share * kBarWidth));
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '-'), "] ");
}

std::string Files(int64_t count) {
  return absl::StrCat(HumanCount(count), count == 1 ? " file" : " files");
}

std::string Of(const std::string& total, bool known) {
  return known ? absl::StrCat(" of ", total) : "";
}

// "34 MB/s, ETA 12s".
std::string Speed(const RestoreState& state) {
  const double seconds = absl::ToDoubleSeconds(state.elapsed);
  if (seconds <= 0) return "";
  const double speed = static_cast<double>(state.bytes_done) / seconds;
  std::string text = absl::StrCat(", ", HumanBytes(speed), "/s");
  if (speed > 0 && state.bytes > state.bytes_done) {
    const double left = static_cast<double>(state.bytes - state.bytes_done);
    absl::StrAppend(&text, ", ETA ",
                    HumanDuration(absl::Seconds(left / speed)));
  }
  return text;
}

void AppendArray(std::string& json, absl::string_view key,
                 const std::vector<std::string>& values) {
  absl::StrAppend(&json, ",\"", key, "\":[");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) json += ',';
    AppendJsonString(json, values[i]);
  }
  json += ']';
}

}  // namespace

std::vector<std::string> RenderRestoreBars(const RestoreState& state) {
  return {
      absl::StrCat("files   ", Bar(state.files_done, state.files),
                   HumanCount(state.files_done),
                   Of(HumanCount(state.files), state.files > 0), ", ",
                   HumanDuration(state.elapsed)),
      absl::StrCat("bytes   ", Bar(state.bytes_done, state.bytes),
                   HumanBytes(state.bytes_done),
                   Of(HumanBytes(state.bytes), state.bytes > 0), Speed(state))};
}

std::string RenderRestoreLine(const RestoreState& state) {
  return absl::StrCat("files ", HumanCount(state.files_done),
                      Of(HumanCount(state.files), state.files > 0), ", bytes ",
                      HumanBytes(state.bytes_done),
                      Of(HumanBytes(state.bytes), state.bytes > 0),
                      Speed(state));
}

std::string RenderOutcome(const Outcome& outcome) {
  std::string line =
      absl::StrFormat("%-10s  %s", restore::OutcomeName(outcome.kind),
                      Printable(outcome.local_path));
  if (!outcome.message.empty()) {
    absl::StrAppend(&line, ": ", Printable(outcome.message));
  }
  return line;
}

std::string RenderRestoreSummary(const RestoreSummary& summary, bool dry_run,
                                 absl::string_view destination) {
  std::string text = absl::StrCat(
      dry_run ? "would restore " : "restored ", Files(summary.restored), ", ",
      HumanBytes(summary.bytes), ", into ", destination);
  if (!summary.snapshot_id.empty()) {
    absl::StrAppend(&text, " from snapshots/", summary.snapshot_id);
  }
  text += '\n';
  const auto add = [&text](int64_t count, absl::string_view what) {
    if (count > 0) absl::StrAppend(&text, "  ", Files(count), " ", what, "\n");
  };
  add(summary.unchanged, "there already, with the same bytes");
  add(summary.kept, "there already, and kept");
  add(summary.no_content, "without content in Autodesk");
  if (summary.renamed > 0) {
    absl::StrAppend(&text, "  ", HumanCount(summary.renamed),
                    " names that cannot be had here\n");
  }
  add(summary.damaged, "DAMAGED in the storage, not restored");
  add(summary.failed, "FAILED, not restored");
  for (const std::string& damage : summary.damage) {
    absl::StrAppend(&text, "  DAMAGED: ", Printable(damage), "\n");
  }
  return text;
}

std::string OutcomeJson(const Outcome& outcome) {
  const storage::format::ManifestEntry& entry = outcome.entry;
  std::string json = "{";
  AppendField(json, "outcome", restore::OutcomeName(outcome.kind));
  AppendField(json, "localPath", outcome.local_path);
  AppendField(json, "projectName", entry.project_name);
  AppendArray(json, "path", entry.path);
  AppendField(json, "snapshot",
              absl::StrCat("snapshots/", outcome.snapshot_id));
  AppendField(json, "itemId", entry.item_id);
  AppendField(json, "versionNumber", int64_t{entry.version_number});
  if (entry.size.has_value()) AppendField(json, "size", *entry.size);
  AppendField(json, "sha256", entry.sha256);
  if (entry.last_modified != absl::InfinitePast()) {
    AppendField(json, "lastModified",
                storage::format::FormatUtc(entry.last_modified));
  }
  AppendField(json, "status", EntryStatusName(entry.status));
  AppendField(json, "message", outcome.message);
  return json + "}";
}

std::string SummaryJson(const RestoreSummary& summary, bool dry_run) {
  std::string json = "{\"summary\":{";
  AppendField(json, "snapshot",
              absl::StrCat("snapshots/", summary.snapshot_id));
  absl::StrAppend(&json, ",\"dryRun\":", dry_run ? "true" : "false");
  AppendField(json, "folders", summary.folders);
  AppendField(json, "restored", summary.restored);
  AppendField(json, "bytes", summary.bytes);
  AppendField(json, "unchanged", summary.unchanged);
  AppendField(json, "kept", summary.kept);
  AppendField(json, "noContent", summary.no_content);
  AppendField(json, "damaged", summary.damaged);
  AppendField(json, "failed", summary.failed);
  AppendField(json, "renamed", summary.renamed);
  AppendArray(json, "damage", summary.damage);
  return json + "}}";
}

}  // namespace bimbackup::cli
