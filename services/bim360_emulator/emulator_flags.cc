#include <functional>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/emulator_options.h"
#include "services/common/flags.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr char kDescription[] =
    "Autodesk's BIM 360 / ACC API on one port, with made-up or local files.\n"
    "Client id, secret and account come from APS_CLIENT_ID,\n"
    "APS_CLIENT_SECRET or APS_CLIENT_SECRET_FILE, and APS_ACCOUNT_ID.\n"
    "Under /admin/, without a token: tree, content, edit, faults, requests,\n"
    "secrets, tokens, clock, rollup, limits, rescan.";

// The texts of flags that need parsing of their own.
struct Texts {
  std::string limits = "on";
  std::string batch_sign = "off";
  std::string retry_after = "seconds";
  std::string rollup = "perfect";
  std::string api_latency = "0";
  std::string first_byte_latency = "0";
  std::string connection_bandwidth = "0";
  std::string token_lifetime = "3599s";
  std::string rollup_delay = "30s";
};

// A flag with its twin in the environment, BIM360_EMULATOR_<NAME>.
template <typename T>
CLI::Option* AddFlag(CLI::App& app, const std::string& name, T& value,
                     const std::string& help) {
  return app.add_option("--" + name, value, help)
      ->envname("BIM360_EMULATOR_" + absl::AsciiStrToUpper(name))
      ->capture_default_str();
}

void AddFlags(CLI::App& app, EmulatorOptions& options, Texts& texts) {
  AddFlag(app, "listen", options.listen, "address:port; port 0 takes any");
  AddFlag(app, "account", options.account,
          "demo, large-project, account, custom:projects=2,files=10,... "
          "(also folders, bytes, depth, largest, kind=acc|bim360|mixed, "
          "service_folders, plans_documents, sparse) or dir:PATH");
  AddFlag(app, "seed", options.seed, "of all made-up names and bytes");
  AddFlag(app, "time_scale", options.time_scale,
          "speeds up rate limits, latencies and bandwidth");
  AddFlag(app, "size_scale", options.size_scale, "shrinks or grows all bytes");
  AddFlag(app, "limits", texts.limits, "Autodesk's rates: on or off");
  AddFlag(app, "retry_after", texts.retry_after,
          "how a 429 tells it: seconds or date");
  AddFlag(app, "api_latency", texts.api_latency, "of every API answer");
  AddFlag(app, "first_byte_latency", texts.first_byte_latency,
          "of every storage answer");
  AddFlag(app, "connection_bandwidth", texts.connection_bandwidth,
          "of each storage connection, such as 10MB/s; 0 for no limit");
  AddFlag(app, "rollup", texts.rollup,
          "honesty of lastModifiedTimeRollup: perfect, content_only, late");
  AddFlag(app, "rollup_delay", texts.rollup_delay,
          "when --rollup=late shows a change");
  AddFlag(app, "rollup_delay_pages", options.rollup_delay_pages,
          "the same, in folder pages; above 0 it replaces the delay");
  AddFlag(app, "batch_sign", texts.batch_sign,
          "batchsigneds3download: on, or off for 403");
  AddFlag(app, "token_lifetime", texts.token_lifetime, "of access tokens");
  AddFlag(app, "public_url", options.public_url,
          "scheme and host of all links; the request's Host without it");
  AddFlag(app, "region", options.region, "of the hub")->envname("APS_REGION");
}

absl::StatusOr<bool> ParseSwitch(absl::string_view name,
                                 absl::string_view text) {
  if (text == "on" || text == "true") return true;
  if (text == "off" || text == "false") return false;
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, "=", text, " is not on or off"));
}

absl::Status ParseTexts(const Texts& texts, EmulatorOptions& options) {
  ABSL_ASSIGN_OR_RETURN(options.limits, ParseSwitch("limits", texts.limits));
  ABSL_ASSIGN_OR_RETURN(options.batch_sign,
                        ParseSwitch("batch_sign", texts.batch_sign));
  if (texts.retry_after != "seconds" && texts.retry_after != "date") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--retry_after=", texts.retry_after, " is not seconds or date"));
  }
  options.retry_after_date = texts.retry_after == "date";
  ABSL_ASSIGN_OR_RETURN(options.rollup, ParseRollupMode(texts.rollup));
  ABSL_ASSIGN_OR_RETURN(options.api_latency,
                        ParseDurationFlag(texts.api_latency));
  ABSL_ASSIGN_OR_RETURN(options.first_byte_latency,
                        ParseDurationFlag(texts.first_byte_latency));
  ABSL_ASSIGN_OR_RETURN(options.connection_bandwidth,
                        ParseBytesFlag(texts.connection_bandwidth));
  ABSL_ASSIGN_OR_RETURN(options.token_lifetime,
                        ParseDurationFlag(texts.token_lifetime));
  ABSL_ASSIGN_OR_RETURN(options.rollup_delay,
                        ParseDurationFlag(texts.rollup_delay));
  return absl::OkStatus();
}

absl::Status ReadCredentials(EmulatorOptions& options) {
  const std::string id = ReadEnvironment("APS_CLIENT_ID");
  if (!id.empty()) options.client_id = id;
  const std::string account = ReadEnvironment("APS_ACCOUNT_ID");
  if (!account.empty()) options.account_id = account;
  if (options.region.empty()) options.region = "US";
  absl::StatusOr<Secret> secret =
      ReadSecretFromEnvironment("APS_CLIENT_SECRET");
  if (absl::IsNotFound(secret.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(secret.status());
  options.client_secret = secret->Reveal();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RollupMode> ParseRollupMode(absl::string_view text) {
  if (text == "perfect") return RollupMode::kPerfect;
  if (text == "content_only") return RollupMode::kContentOnly;
  if (text == "late") return RollupMode::kLate;
  return absl::InvalidArgumentError(absl::StrCat(
      "rollup \"", text, "\" is not perfect, content_only or late"));
}

std::optional<int> ParseEmulatorFlags(int argc, const char* const* argv,
                                      EmulatorOptions& options) {
  options.listen = "127.0.0.1:8360";
  CLI::App app(kDescription, "bim360-emulator");
  Texts texts;
  AddFlags(app, options, texts);
  if (const std::optional<int> exit_code = ParseFlags(app, argc, argv)) {
    return exit_code;
  }
  absl::Status status = ParseTexts(texts, options);
  if (status.ok()) status = ReadCredentials(options);
  if (!status.ok()) return ReportUsageError("bim360-emulator", status);
  return std::nullopt;
}

}  // namespace bimbackup::bim360_emulator
