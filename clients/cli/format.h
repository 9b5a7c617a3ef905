// Numbers, times, states and tables as people read them.

#ifndef CLIENTS_CLI_FORMAT_H_
#define CLIENTS_CLI_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.pb.h"

namespace bimbackup::cli {

// "999 B", "1.2 MB", "34 GB": decimal units.
std::string HumanBytes(double bytes);

// "1,234,567".
std::string HumanCount(int64_t count);

// "12s", "3m 05s", "2h 07m", "3d 04h".
std::string HumanDuration(absl::Duration duration);

// "2026-01-31 23:59:59" in the local time zone; "-" where absent.
std::string HumanTime(const google::protobuf::Timestamp& time);

absl::Time FromProto(const google::protobuf::Timestamp& time);

// `text` with control characters as \xNN, so that no file name can steer a
// terminal.
std::string Printable(absl::string_view text);

// "crawling", "succeeded" and so on.
std::string StateName(v1::BackupState state);

// What a run waits for, in words; empty for nothing known.
std::string LimitText(v1::Limit limit);

// Whether a backup in this state has ended.
bool HasEnded(v1::BackupState state);

// Exit code of a backup that ended in this state.
int ExitCodeOf(v1::BackupState state);

// `name` as a resource name of `collection` ("backups"): as it is when it is
// one, "backups/<name>" for an id, "backups/-", the newest, when empty.
std::string ResourceName(absl::string_view collection, absl::string_view name);

// "Project/Folder/File" for people, printable.
std::string DisplayPath(
    absl::string_view project,
    const google::protobuf::RepeatedPtrField<std::string>& path);

// Characters of UTF-8 text.
size_t DisplayWidth(absl::string_view text);

// Rows under a head, columns aligned: a column whose title starts with '>'
// to the right. Not for lists without bound: all rows are kept.
class Table {
 public:
  explicit Table(std::vector<std::string> titles);
  void AddRow(std::vector<std::string> cells);
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_FORMAT_H_
