#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "clients/cli/format.h"
#include "clients/cli/progress.h"

namespace bimbackup::cli {
namespace {

constexpr size_t kBarWidth = 24;

// "[#####-----]"; full where there is nothing to do.
std::string Bar(double done, double total) {
  const double share = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 1.0;
  const size_t filled = std::floor(share * kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '-'), "]");
}

std::string Fit(std::string line, size_t width) {
  if (DisplayWidth(line) <= width) return line;
  size_t characters = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
    if (starts && ++characters > width) {
      line.resize(at);
      break;
    }
  }
  return line;
}

// "1 project", "170 projects".
std::string Counted(int64_t count, absl::string_view what) {
  return absl::StrCat(HumanCount(count), " ", what, count == 1 ? "" : "s");
}

// A folder that was skipped first and rechecked later is in both counts.
int64_t FoldersDone(const v1::BackupProgress& progress) {
  return std::min(progress.folders_listed() + progress.folders_skipped(),
                  std::max(progress.folders(), progress.folders_listed()));
}

std::string Speed(const v1::BackupProgress& progress) {
  std::string text =
      absl::StrCat(HumanBytes(progress.bytes_per_second()), "/s");
  // Zero says nothing while there is nothing to measure yet.
  if (progress.eta().seconds() > 0) {
    absl::StrAppend(&text, ", ETA ",
                    HumanDuration(absl::Seconds(progress.eta().seconds())));
  }
  return text;
}

// Failures and other things that somebody has to look at; empty for none.
std::string Trouble(const v1::BackupProgress& progress) {
  std::string text;
  const auto add = [&text](int64_t count, const char* what) {
    if (count == 0) return;
    absl::StrAppend(&text, text.empty() ? "" : ", ", HumanCount(count), " ",
                    what);
  };
  add(progress.transfers_failed(), "failed");
  add(progress.unlisted(), "not listed");
  add(progress.guarded(), "guarded");
  return text;
}

// "11,787 folders, 2 projects": calls by endpoint class.
std::string CallsText(
    const google::protobuf::Map<std::string, int64_t>& calls) {
  // In order, so that two runs can be compared.
  const std::map<std::string, int64_t> sorted(calls.begin(), calls.end());
  return absl::StrJoin(sorted, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, HumanCount(entry.second), " ", entry.first);
  });
}

// What the calls that make the plan's floor are for.
absl::string_view CallsPurpose(const v1::BackupPlan& plan) {
  if (plan.floor_class() == "projects") return "project listings";
  if (plan.floor_class() != "storage") return "folder listings";
  // A batch brings several URLs with one call.
  return plan.api_calls().at("storage") < plan.transfers() ? "signing calls"
                                                           : "signed URLs";
}

std::string PlanText(const v1::BackupProgress& progress) {
  const v1::BackupPlan& plan = progress.plan();
  std::string text = absl::StrCat(
      "  dry run: a backup would fetch ", Counted(plan.transfers(), "file"),
      ", ", HumanBytes(plan.bytes()),
      "\n  API calls of this dry run: ", CallsText(progress.api_calls()), "\n");
  if (plan.api_calls().empty()) return text;
  absl::StrAppend(
      &text, "  API calls of the backup: ", CallsText(plan.api_calls()), "\n");
  if (plan.floor_class().empty()) return text;
  absl::StrAppend(
      &text, "  at least ", HumanCount(plan.floor().seconds() / 60),
      " min: ", HumanCount(plan.api_calls().at(plan.floor_class())), " ",
      CallsPurpose(plan), " at ",
      HumanCount(static_cast<int64_t>(plan.floor_calls_per_minute())),
      " a minute\n");
  return text;
}

}  // namespace

std::vector<std::string> RenderBars(const v1::Backup& backup,
                                    absl::Duration elapsed, size_t width) {
  const v1::BackupProgress& p = backup.progress();
  const int64_t folders_done = FoldersDone(p);
  const int64_t folders =
      std::max(p.folders(), folders_done + p.folders_pending());
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat(backup.name(), "  ", StateName(backup.state()),
                               "  ", HumanDuration(elapsed), "  ",
                               Counted(p.projects(), "project")));
  lines.push_back(
      absl::StrCat("folders ", Bar(folders_done, folders), " ",
                   HumanCount(folders_done), " of ", HumanCount(folders),
                   backup.state() == v1::BACKUP_STATE_CRAWLING ? " so far" : "",
                   ", ", HumanCount(p.folders_skipped()), " unchanged"));
  lines.push_back(absl::StrCat(
      "files   ", Bar(p.transfers_stored(), p.transfers()), " ",
      HumanCount(p.transfers_stored()), " of ", HumanCount(p.transfers()),
      " to fetch, ", HumanCount(p.files()), " known"));
  lines.push_back(absl::StrCat("bytes   ",
                               Bar(p.bytes_stored(), p.transfer_bytes()), " ",
                               HumanBytes(p.bytes_stored()), " of ",
                               HumanBytes(p.transfer_bytes()), ", ", Speed(p)));
  const std::string limit = LimitText(p.limited_by());
  if (!limit.empty()) lines.push_back(absl::StrCat("limited by: ", limit));
  const std::string trouble = Trouble(p);
  if (!trouble.empty()) lines.push_back(trouble);
  if (!backup.message().empty()) lines.push_back(Printable(backup.message()));
  for (std::string& line : lines) line = Fit(std::move(line), width);
  return lines;
}

std::string RenderLine(const v1::Backup& backup) {
  const v1::BackupProgress& p = backup.progress();
  std::string line = absl::StrCat(
      backup.name(), " ", StateName(backup.state()), ": folders ",
      HumanCount(FoldersDone(p)), "/", HumanCount(p.folders()), ", files ",
      HumanCount(p.transfers_stored()), "/", HumanCount(p.transfers()),
      ", bytes ", HumanBytes(p.bytes_stored()), "/",
      HumanBytes(p.transfer_bytes()), ", ", Speed(p));
  const std::string limit = LimitText(p.limited_by());
  if (!limit.empty()) absl::StrAppend(&line, ", limited by: ", limit);
  const std::string trouble = Trouble(p);
  if (!trouble.empty()) absl::StrAppend(&line, ", ", trouble);
  if (!backup.message().empty()) {
    absl::StrAppend(&line, "; ", Printable(backup.message()));
  }
  return line;
}

std::string RenderSummary(const v1::Backup& backup) {
  const v1::BackupProgress& p = backup.progress();
  int64_t calls = 0;
  for (const auto& [kind, count] : p.api_calls()) calls += count;
  const absl::Duration took =
      FromProto(backup.end_time()) - FromProto(backup.create_time());
  std::string text = absl::StrCat(backup.name(), " ", StateName(backup.state()),
                                  " after ", HumanDuration(took), "\n");
  if (!backup.message().empty()) {
    absl::StrAppend(&text, "  ", Printable(backup.message()), "\n");
  }
  absl::StrAppend(&text, "  ", Counted(p.projects(), "project"), ", ",
                  Counted(p.folders(), "folder"), ", ",
                  Counted(p.files(), "file"), ", ", HumanBytes(p.bytes()), "; ",
                  Counted(calls, "API call"), "\n");
  if (backup.request().validate_only()) {
    absl::StrAppend(&text, PlanText(p));
  } else {
    absl::StrAppend(&text, "  fetched ", Counted(p.transfers_stored(), "file"),
                    ", ", HumanBytes(p.bytes_stored()), "; ",
                    Counted(p.folders_skipped(), "folder"),
                    " unchanged and not listed again\n");
  }
  const std::string trouble = Trouble(p);
  if (!trouble.empty()) {
    absl::StrAppend(&text, "  ", trouble,
                    "; `bimbackup failures` names them\n");
  }
  if (!backup.snapshot().empty()) {
    absl::StrAppend(&text, "  left ", backup.snapshot(), "\n");
  }
  return text;
}

}  // namespace bimbackup::cli
