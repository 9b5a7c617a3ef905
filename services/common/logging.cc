#include "services/common/logging.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "spdlog/sinks/stdout_sinks.h"

namespace bimbackup {

absl::Status StartLogging(absl::string_view name, absl::string_view level) {
  spdlog::level::level_enum parsed = spdlog::level::info;
  if (level == "debug") {
    parsed = spdlog::level::debug;
  } else if (level == "warning") {
    parsed = spdlog::level::warn;
  } else if (level == "error") {
    parsed = spdlog::level::err;
  } else if (level != "info") {
    return absl::InvalidArgumentError(absl::StrCat(
        "log level \"", level, "\": must be debug, info, warning or error"));
  }
  auto logger = std::make_shared<spdlog::logger>(
      std::string(name.data(), name.size()),
      std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::debug);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %n %v",
                      spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
  return absl::OkStatus();
}

}  // namespace bimbackup
