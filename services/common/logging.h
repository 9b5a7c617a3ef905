// Logs, through spdlog, to standard error, one line each:
// `2026-01-31T23:59:59.123Z info coordinator message`.

#ifndef SERVICES_COMMON_LOGGING_H_
#define SERVICES_COMMON_LOGGING_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "spdlog/spdlog.h"

namespace bimbackup {

// Sets up the process's log, once, at the start of main. `level` is one of
// debug, info, warning, error; INVALID_ARGUMENT otherwise. `name` stands in
// every line.
absl::Status StartLogging(absl::string_view name, absl::string_view level);

}  // namespace bimbackup

// spdlog's format library, as spdlog::info("{} files", n), is used as it is;
// this lets it print string views and statuses.
template <>
struct fmt::formatter<absl::Status> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const absl::Status& status, Context& context) const {
    return fmt::formatter<std::string>::format(status.ToString(), context);
  }
};

template <>
struct fmt::formatter<absl::string_view> : fmt::formatter<fmt::string_view> {
  template <typename Context>
  auto format(absl::string_view text, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(
        fmt::string_view(text.data(), text.size()), context);
  }
};

#endif  // SERVICES_COMMON_LOGGING_H_
