#include "clients/cli/doctor/account_checks.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "clients/cli/doctor/file_finder.h"
#include "clients/cli/format.h"
#include "services/common/secret.h"

namespace bimbackup::cli::doctor {
namespace {

using bim360::Bim360Client;
using bim360::Hub;
using bim360::HubList;
using bim360::Project;

std::string ProvisioningAdvice(const AccountSettings& settings) {
  return absl::StrCat(
      "an account admin adds the app once: Account Admin > Custom "
      "Integrations > Add custom integration, client id ",
      settings.client_id, "; then wait a few minutes");
}

// Whether anything more can be asked after the first call.
bool CheckToken(const AccountSettings& settings, const absl::Status& status,
                Report& report) {
  if (absl::IsUnauthenticated(status)) {
    report.Fail("token", status.message(),
                "compare APS_CLIENT_ID and APS_CLIENT_SECRET with the app on "
                "aps.autodesk.com > Applications; it needs the Data Management "
                "API and a type with a client secret");
    return false;
  }
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    report.Fail(
        "token", status.message(),
        absl::StrCat("let this machine open https connections to ",
                     settings.base_url, " (firewall, proxy: https_proxy)"));
    return false;
  }
  if (!status.ok() && !absl::IsPermissionDenied(status) &&
      !absl::IsNotFound(status)) {
    report.Fail("token", status.message(),
                "this answer is not Autodesk's: check BIM360_BASE_URL, and "
                "proxies on the way");
    return false;
  }
  report.Ok("token",
            absl::StrCat("accepted for client id ", settings.client_id));
  return true;
}

void ReportWarnings(const HubList& list, bool hub_found, Report& report) {
  for (const bim360::Warning& warning : list.warnings) {
    report.Warn("hub",
                absl::StrCat(
                    "Autodesk could not ask one region: ", warning.http_status,
                    " ", warning.code, " ", warning.title, " ", warning.detail),
                hub_found ? "harmless where the account is not in that region"
                          : "the account may be in that region");
  }
}

bool CheckHub(const AccountSettings& settings,
              const absl::StatusOr<HubList>& list, Report& report) {
  if (!list.ok()) {
    report.Fail("hub", list.status().message(), ProvisioningAdvice(settings));
    return false;
  }
  const auto hub =
      std::find_if(list->hubs.begin(), list->hubs.end(),
                   [&](const Hub& h) { return h.id == settings.hub_id; });
  ReportWarnings(*list, hub != list->hubs.end(), report);
  if (list->hubs.empty()) {
    report.Fail("hub", "the app sees no account at all",
                ProvisioningAdvice(settings));
    return false;
  }
  if (hub == list->hubs.end()) {
    const std::string seen =
        absl::StrJoin(list->hubs, ", ", [](std::string* out, const Hub& h) {
          absl::StrAppend(out, h.id, " (", h.name, ", ", h.region, ")");
        });
    report.Fail("hub",
                absl::StrCat(settings.hub_id.empty()
                                 ? "APS_ACCOUNT_ID is not set"
                                 : settings.hub_id + " is not there",
                             "; what the app sees: ", seen),
                absl::StrCat("set APS_ACCOUNT_ID to what follows the \"b.\" "
                             "of yours; where yours is missing: ",
                             ProvisioningAdvice(settings)));
    return false;
  }
  report.Ok("hub",
            absl::StrCat(hub->id, " ", hub->name, ", region ", hub->region));
  if (!settings.region.empty() && settings.region != hub->region) {
    report.Warn("region",
                absl::StrCat("APS_REGION is ", settings.region,
                             ", the account's is ", hub->region),
                absl::StrCat("set APS_REGION=", hub->region));
  }
  return true;
}

void CheckClock(const Bim360Client& client, Report& report) {
  const std::optional<absl::Duration> skew = client.ClockSkew();
  if (!skew.has_value()) return;
  const absl::Duration off = absl::AbsDuration(*skew);
  // Their Date header counts whole seconds.
  if (off <= absl::Seconds(2)) {
    report.Ok("clock", "agrees with Autodesk's servers");
    return;
  }
  const std::string detail =
      absl::StrCat("this machine is ", HumanDuration(off),
                   *skew > absl::ZeroDuration() ? " behind" : " ahead of",
                   " Autodesk's servers");
  if (off < absl::Minutes(1)) {
    report.Ok("clock", detail);
  } else {
    report.Warn("clock", detail,
                "set it by NTP: snapshots carry its time, and TLS needs it");
  }
}

std::vector<Project> CheckProjects(const AccountSettings& settings,
                                   Bim360Client& client, Report& report) {
  constexpr int kMaxPages = 10;
  std::vector<Project> projects;
  std::string page_url;
  int pages = 0;
  do {
    absl::StatusOr<bim360::ProjectPage> page =
        client.ListProjects(settings.hub_id, page_url, {});
    if (!page.ok()) {
      report.Fail("projects", page.status().message(),
                  absl::IsPermissionDenied(page.status())
                      ? ProvisioningAdvice(settings)
                      : "try again in a minute");
      return {};
    }
    std::move(page->projects.begin(), page->projects.end(),
              std::back_inserter(projects));
    page_url = page->next_page_url;
  } while (!page_url.empty() && ++pages < kMaxPages);
  if (projects.empty()) {
    report.Warn("projects", "the account has no active project",
                "archived projects are not listed and not backed up");
  } else {
    report.Ok("projects",
              absl::StrCat(HumanCount(projects.size()),
                           page_url.empty() ? "" : " and more",
                           " active, the first is \"", projects[0].name, "\""));
  }
  return projects;
}

// Reads one byte and throws the rest away.
absl::Status ReadFirstByte(http::Request request,
                           http::HttpTransport& transport) {
  request.headers = {{"Range", "bytes=0-0"}};
  request.deadline = absl::Seconds(30);
  const absl::StatusOr<http::Response> response =
      http::Fetch(transport, std::move(request), 4096);
  if (!response.ok()) return response.status();
  if (response->status == 206) return absl::OkStatus();
  // A server that ignores ranges still lets us download, but not in parts.
  return http::StatusFromHttp(
      response->status == 200 ? 501 : response->status,
      absl::StrCat("HTTP ", response->status, " to a request for one byte"));
}

void CheckDownload(const FoundFile& file, Bim360Client& client,
                   http::HttpTransport& transport,
                   const http::HostPolicy& hosts, Report& report) {
  const absl::StatusOr<bim360::SignedDownload> download =
      client.SignDownload(file.storage_urn, absl::Minutes(2), {});
  if (!download.ok() || download->ranges.empty()) {
    report.Fail(
        "signed URL",
        download.ok() ? "no URL in the answer" : download.status().message(),
        "the app must be allowed to read files: scope data:read");
    return;
  }
  const std::string& url = download->ranges[0].url;
  http::Request request;
  request.url = url;
  if (const absl::Status allowed = hosts.Admit(request); !allowed.ok()) {
    report.Fail("signed URL", allowed.message(),
                "where you trust that host, name it in --allowed_hosts "
                "(BIMBACKUP_ALLOWED_HOSTS) of coordinator and workers");
    return;
  }
  const absl::StatusOr<http::Url> parsed = http::ParseUrl(url);
  const std::string host = parsed.ok() ? parsed->host : WithoutQuery(url);
  if (const absl::Status read = ReadFirstByte(request, transport); !read.ok()) {
    report.Fail("first byte", absl::StrCat(host, ": ", read.message()),
                absl::StrCat("let this machine and the workers open https "
                             "connections to ",
                             host));
    return;
  }
  report.Ok("first byte",
            absl::StrCat("of \"", file.display_path, "\" from ", host));
}

}  // namespace

void CheckAccount(const AccountSettings& settings, Bim360Client& client,
                  http::HttpTransport& transport, const http::HostPolicy& hosts,
                  Report& report) {
  const absl::StatusOr<HubList> hubs = client.ListHubs({});
  if (!CheckToken(settings, hubs.status(), report)) return;
  CheckClock(client, report);
  if (!CheckHub(settings, hubs, report)) return;
  const std::vector<Project> projects = CheckProjects(settings, client, report);
  if (projects.empty()) return;
  const FileSearch search = FindFile(settings.hub_id, projects, client);
  if (search.folders_listed == 0) {
    report.Fail("folder", search.problem.message(),
                "the app's access to Docs is missing: Account Admin > Custom "
                "Integrations, and the Docs product in the project");
    return;
  }
  report.Ok("folder", absl::StrCat("listed ", search.folders_listed, " in \"",
                                   search.project_name, "\""));
  if (!search.problem.ok()) {
    report.Warn("folder", search.problem.message(),
                "what cannot be listed makes a backup PARTIAL");
  }
  if (!search.file.has_value()) {
    report.Warn("signed URL", "not tried: no file found in the first folders",
                "put a file into a project, or simply start a backup");
    return;
  }
  CheckDownload(*search.file, client, transport, hosts, report);
}

}  // namespace bimbackup::cli::doctor
