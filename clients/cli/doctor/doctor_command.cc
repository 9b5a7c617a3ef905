#include "clients/cli/doctor/doctor_command.h"

#include <memory>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "clients/bim360/api_limiter.h"
#include "clients/bim360/aps_client.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/doctor/account_checks.h"
#include "clients/cli/doctor/report.h"
#include "clients/cli/doctor/storage_checks.h"
#include "clients/cli/format.h"
#include "clients/http/curl_transport.h"
#include "clients/http/host_policy.h"
#include "services/common/clock.h"
#include "services/common/flags.h"
#include "services/common/random.h"

namespace bimbackup::cli::doctor {
namespace {

// The coordinator's own settings, by the same names.
struct DoctorFlags {
  std::string base_url = "https://developer.api.autodesk.com";
  std::string client_id;
  std::string account_id;
  std::string hub_id;
  std::string region;
  std::string storage;
  std::string allowed_hosts;
  bool no_coordinator = false;
};

// Calls at half of Autodesk's rates: a backup may be running.
constexpr double kApiBudget = 0.5;

bool CheckSettings(const DoctorFlags& flags,
                   const absl::StatusOr<Secret>& secret, Report& report) {
  std::string missing;
  const auto need = [&missing](bool given, const char* name) {
    if (!given) absl::StrAppend(&missing, missing.empty() ? "" : ", ", name);
  };
  need(!flags.client_id.empty(), "APS_CLIENT_ID");
  need(!absl::IsNotFound(secret.status()),
       "APS_CLIENT_SECRET or APS_CLIENT_SECRET_FILE");
  if (!missing.empty()) {
    report.Fail("settings", absl::StrCat("not set: ", missing),
                "fill in .env (see deploy/.env.example and README)");
    return false;
  }
  if (!secret.ok()) {
    report.Fail("settings", secret.status().message(),
                "set the one or the other, readable by this user");
    return false;
  }
  report.Ok("settings", absl::StrCat("client id ", flags.client_id, " at ",
                                     flags.base_url));
  return true;
}

void CheckAutodesk(const DoctorFlags& flags, Clock& clock, Report& report) {
  absl::StatusOr<Secret> secret =
      ReadSecretFromEnvironment("APS_CLIENT_SECRET");
  if (!CheckSettings(flags, secret, report)) return;
  const absl::StatusOr<http::HostPolicy> hosts =
      http::HostPolicy::Parse(flags.allowed_hosts);
  if (!hosts.ok()) {
    report.Fail("settings", hosts.status().message(),
                "correct BIMBACKUP_ALLOWED_HOSTS");
    return;
  }
  const auto transport = http::CurlTransport::Create({});
  if (!transport.ok()) {
    report.Fail("settings", transport.status().message(),
                "free some file descriptors");
    return;
  }
  SeededRandom random;
  bim360::ApiLimiter limiter(kApiBudget, clock);
  bim360::ApsClientOptions options;
  options.base_url = flags.base_url;
  options.client_id = flags.client_id;
  options.client_secret = *std::move(secret);
  options.backoff.max_attempts = 2;
  options.call_timeout = absl::Seconds(20);
  const auto client = bim360::ApsClient::Create(std::move(options), **transport,
                                                limiter, clock, random);
  if (!client.ok()) {
    report.Fail("settings", client.status().message(), "correct it");
    return;
  }
  std::string hub_id = flags.hub_id;
  if (hub_id.empty() && !flags.account_id.empty()) {
    hub_id = absl::StrCat("b.", flags.account_id);
  }
  CheckAccount({flags.base_url, flags.client_id, hub_id, flags.region},
               **client, **transport, *hosts, report);
}

void CheckCoordinator(const CommandContext& context, Clock& clock,
                      Report& report) {
  const CoordinatorClient client(context.coordinator, clock);
  v1::ListWorkersRequest request;
  const absl::StatusOr<v1::ListWorkersResponse> workers =
      client.Call(&v1::CoordinatorService::Stub::ListWorkers, request);
  if (!workers.ok()) {
    report.Warn("coordinator", workers.status().message(),
                "start it when the rest is ok; --coordinator says where it is");
    return;
  }
  const std::string detail =
      absl::StrCat("answers at ", context.coordinator.address, ", ",
                   HumanCount(workers->workers_size()), " workers");
  if (workers->workers().empty()) {
    report.Warn("coordinator", detail,
                "start a download worker: nothing is fetched without one");
  } else {
    report.Ok("coordinator", detail);
  }
}

int RunDoctor(const CommandContext& context, const DoctorFlags& flags) {
  SystemClock clock;
  Report report(*context.out, context.json());
  CheckAutodesk(flags, clock, report);
  if (flags.storage.empty()) {
    report.Fail("storage", "BIMBACKUP_STORAGE is not set",
                "name the folder, for example file:///backup");
  } else {
    CheckStorage(flags.storage, report);
  }
  if (!flags.no_coordinator) CheckCoordinator(context, clock, report);
  return report.failed() ? kExitFailed : kExitSuccess;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Check settings, Autodesk's account and the storage; changes nothing");
  const auto flags = std::make_shared<DoctorFlags>();
  const auto add = [command](const char* name, std::string& value,
                             const char* variable, const char* description) {
    command->add_option(name, value, description)->envname(variable);
  };
  add("--bim360_base_url", flags->base_url, "BIM360_BASE_URL",
      "Autodesk's API, or an emulator");
  add("--client_id", flags->client_id, "APS_CLIENT_ID",
      "The app; its secret is taken from APS_CLIENT_SECRET or the file "
      "APS_CLIENT_SECRET_FILE");
  add("--account_id", flags->account_id, "APS_ACCOUNT_ID", "The account");
  add("--hub_id", flags->hub_id, "APS_HUB_ID",
      "The hub, where it is not b.<account>");
  add("--region", flags->region, "APS_REGION", "The account's region");
  add("--storage", flags->storage, "BIMBACKUP_STORAGE",
      "Where backups go, such as file:///backup");
  add("--allowed_hosts", flags->allowed_hosts, "BIMBACKUP_ALLOWED_HOSTS",
      "More hosts that signed URLs may point to");
  command->add_flag("--no_coordinator", flags->no_coordinator,
                    "Do not ask the coordinator");
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunDoctor(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli::doctor
