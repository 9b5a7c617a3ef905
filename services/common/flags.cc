#include "services/common/flags.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "services/common/excerpt.h"

namespace bimbackup {
namespace {

std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(absl::StripAsciiWhitespace(text), {{"\n", " "}});
}

// A flag given twice means the last one, so that a script can add to the
// flags that another gives. Lists keep all their values.
void LetLastValueWin(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 1) option->take_last();
  }
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    LetLastValueWin(*command);
  }
}

absl::Status BadValue(absl::string_view text, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", Excerpt(text), "\" is not ", expected));
}

}  // namespace

std::optional<int> ParseFlags(CLI::App& app, int argc,
                              const char* const* argv) {
  try {
    LetLastValueWin(app);
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      app.exit(error, std::cout, std::cerr);
      return 0;
    }
    // What was not understood says more than what is therefore missing.
    const std::vector<std::string> unknown = app.remaining(true);
    std::cerr << app.get_name() << ": "
              << (unknown.empty() ? OneLine(error.what())
                                  : absl::StrCat("unknown argument \"",
                                                 unknown.front(), "\""))
              << " (see --help)\n";
    return kExitUsage;
  }
}

int ReportUsageError(absl::string_view program, const absl::Status& status) {
  std::cerr << program << ": " << OneLine(status.message()) << "\n";
  return kExitUsage;
}

std::string ReadEnvironment(absl::string_view name) {
  const char* value =
      std::getenv(std::string(name.data(), name.size()).c_str());
  return value == nullptr ? "" : value;
}

absl::StatusOr<Secret> ReadSecretFromEnvironment(absl::string_view name) {
  std::string value = ReadEnvironment(name);
  const std::string file_variable = absl::StrCat(name, "_FILE");
  const std::string path = ReadEnvironment(file_variable);
  if (!value.empty() && !path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("both ", name, " and ", file_variable, " are set"));
  }
  if (!value.empty()) return Secret(std::move(value));
  if (path.empty()) {
    return absl::NotFoundError(
        absl::StrCat("neither ", name, " nor ", file_variable, " is set"));
  }
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file.good() && !file.eof()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_variable, ": cannot read ", path));
  }
  absl::StripTrailingAsciiWhitespace(&text);
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_variable, ": ", path, " is empty or unreadable"));
  }
  return Secret(std::move(text));
}

absl::StatusOr<absl::Duration> ParseDurationFlag(absl::string_view text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) ||
      duration < absl::ZeroDuration()) {
    return BadValue(text, "a duration such as 5m or 1h30m");
  }
  return duration;
}

absl::StatusOr<int64_t> ParseBytesFlag(absl::string_view text) {
  constexpr absl::string_view kExpected = "a size such as 512, 64KiB or 10MB";
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  absl::ConsumeSuffix(&rest, "/s");
  static constexpr std::pair<absl::string_view, double> kUnits[] = {
      {"KiB", 1024.0},
      {"MiB", 1048576.0},
      {"GiB", 1073741824.0},
      {"TiB", 1099511627776.0},
      {"KB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
      {"TB", 1e12},
      {"B", 1.0}};
  double factor = 1;
  for (const auto& [suffix, value] : kUnits) {
    if (absl::ConsumeSuffix(&rest, suffix)) {
      factor = value;
      break;
    }
  }
  double number = 0;
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(rest), &number) ||
      !std::isfinite(number) || number < 0 || number * factor > 9.0e18) {
    return BadValue(text, kExpected);
  }
  return static_cast<int64_t>(number * factor);
}

absl::StatusOr<double> ParseShareFlag(absl::string_view text) {
  if (text == "unlimited") return std::numeric_limits<double>::infinity();
  absl::string_view rest = text;
  double percent = 0;
  if (!absl::ConsumeSuffix(&rest, "%") || !absl::SimpleAtod(rest, &percent) ||
      !std::isfinite(percent) || percent / 100 <= 0) {
    return BadValue(text, "a share such as 90% or unlimited");
  }
  return percent / 100;
}

}  // namespace bimbackup
