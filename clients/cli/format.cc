#include "clients/cli/format.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/cli/command.h"

namespace bimbackup::cli {

std::string HumanBytes(double bytes) {
  static constexpr const char* kUnits[] = {"B",  "kB", "MB", "GB",
                                           "TB", "PB", "EB"};
  size_t unit = 0;
  // 999.5 would be printed as "1000".
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  const bool decimal = unit > 0 && bytes < 9.95;
  return absl::StrFormat("%.*f %s", decimal ? 1 : 0, bytes, kUnits[unit]);
}

std::string HumanCount(int64_t count) {
  std::string digits = absl::StrCat(count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string HumanDuration(absl::Duration duration) {
  if (duration < absl::ZeroDuration()) duration = absl::ZeroDuration();
  const int64_t seconds = absl::ToInt64Seconds(duration + absl::Seconds(0.5));
  if (seconds < 60) return absl::StrCat(seconds, "s");
  if (seconds < 3600) {
    return absl::StrFormat("%dm %02ds", seconds / 60, seconds % 60);
  }
  const int64_t minutes = seconds / 60;
  if (minutes < 24 * 60) {
    return absl::StrFormat("%dh %02dm", minutes / 60, minutes % 60);
  }
  return absl::StrFormat("%dd %02dh", minutes / 1440, minutes % 1440 / 60);
}

absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) +
         absl::Nanoseconds(time.nanos());
}

std::string HumanTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0 && time.nanos() == 0) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", FromProto(time),
                          absl::LocalTimeZone());
}

std::string Printable(absl::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      absl::StrAppendFormat(&result, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      result.push_back(c);
    }
  }
  return result;
}

std::string StateName(v1::BackupState state) {
  const std::string name = v1::BackupState_Name(state);
  static constexpr absl::string_view kPrefix = "BACKUP_STATE_";
  if (!absl::StartsWith(name, kPrefix)) return absl::StrCat("state ", state);
  return absl::AsciiStrToLower(name.substr(kPrefix.size()));
}

std::string LimitText(v1::Limit limit) {
  switch (limit) {
    case v1::LIMIT_API_PROJECTS:
      return "Autodesk's API budget for listing projects";
    case v1::LIMIT_API_FOLDERS:
      return "Autodesk's API budget for listing folders";
    case v1::LIMIT_API_STORAGE:
      return "Autodesk's API budget for signed URLs";
    case v1::LIMIT_NETWORK:
      return "the network, or the number of workers";
    case v1::LIMIT_STORAGE:
      return "the storage (full, slow or gone)";
    case v1::LIMIT_NO_WORKER:
      return "no worker is connected";
    case v1::LIMIT_NOTHING_LEFT:
      return "nothing is left to fetch; the snapshot is being written";
    default:
      return "";
  }
}

bool HasEnded(v1::BackupState state) {
  return state >= v1::BACKUP_STATE_SUCCEEDED;
}

int ExitCodeOf(v1::BackupState state) {
  if (state == v1::BACKUP_STATE_SUCCEEDED) return kExitSuccess;
  return state == v1::BACKUP_STATE_PARTIAL ? kExitPartial : kExitFailed;
}

std::string ResourceName(absl::string_view collection, absl::string_view name) {
  if (name.empty()) return absl::StrCat(collection, "/-");
  if (absl::StartsWith(name, absl::StrCat(collection, "/"))) {
    return std::string(name.data(), name.size());
  }
  return absl::StrCat(collection, "/", name);
}

std::string DisplayPath(
    absl::string_view project,
    const google::protobuf::RepeatedPtrField<std::string>& path) {
  std::string result = Printable(project);
  for (const std::string& name : path) {
    absl::StrAppend(&result, "/", Printable(name));
  }
  return result;
}

size_t DisplayWidth(absl::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
}

Table::Table(std::vector<std::string> titles) {
  for (std::string& title : titles) {
    right_.push_back(absl::StartsWith(title, ">"));
    if (right_.back()) title.erase(0, 1);
  }
  rows_.push_back(std::move(titles));
}

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

void Table::Print(std::ostream& out) const {
  std::vector<size_t> widths(right_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - DisplayWidth(row[i]), ' ');
      if (i > 0) line += "  ";
      line += right_[i] ? padding + row[i] : row[i] + padding;
    }
    absl::StripTrailingAsciiWhitespace(&line);
    out << line << "\n";
  }
}

}  // namespace bimbackup::cli
