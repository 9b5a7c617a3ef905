#include "clients/bim360/aps_client.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/answers.h"
#include "clients/bim360/service_folders.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

// The largest page that Autodesk gives, with its brackets encoded.
constexpr char kPageLimit[] = "page%5Blimit%5D=200";

bool SameOrigin(const http::Url& a, const http::Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ApsClient>> ApsClient::Create(
    ApsClientOptions options, http::HttpTransport& transport,
    ApiLimiter& limiter, Clock& clock, Random& random) {
  const absl::StatusOr<http::Url> url = http::ParseUrl(options.base_url);
  if (!url.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bim360_base_url: ", url.status().message()));
  }
  if (options.client_id.empty() || options.client_secret.empty()) {
    return absl::InvalidArgumentError(
        "APS_CLIENT_ID and APS_CLIENT_SECRET (or APS_CLIENT_SECRET_FILE) must "
        "be set");
  }
  while (absl::EndsWith(options.base_url, "/")) options.base_url.pop_back();
  return absl::WrapUnique(
      new ApsClient(std::move(options), transport, limiter, clock, random));
}

ApsClient::ApsClient(ApsClientOptions options, http::HttpTransport& transport,
                     ApiLimiter& limiter, Clock& clock, Random& random)
    : options_(std::move(options)),
      limiter_(limiter),
      clock_(clock),
      caller_(options_.backoff, transport, limiter, clock, random),
      tokens_(options_.base_url, options_.client_id, options_.client_secret,
              caller_, clock) {}

absl::StatusOr<http::Response> ApsClient::Send(absl::string_view what,
                                               EndpointClass endpoint_class,
                                               http::Request request,
                                               const std::stop_token& cancel) {
  ApiCall call;
  call.what = std::string(what.data(), what.size());
  call.endpoint_class = endpoint_class;
  call.request = std::move(request);
  call.request.headers.emplace_back(
      "Accept", "application/vnd.api+json, application/json");
  call.request.deadline = options_.call_timeout;
  call.cancel = cancel;
  return caller_.Send(call, &tokens_);
}

template <typename Answer>
absl::StatusOr<Answer> ApsClient::Get(
    absl::string_view what, EndpointClass endpoint_class,
    const std::string& url, const std::stop_token& cancel,
    absl::StatusOr<Answer> (*parse)(absl::string_view json)) {
  http::Request request;
  request.url = url;
  absl::StatusOr<Answer> answer = absl::InternalError("not asked");
  // What cannot be understood may have been cut on its way: once more.
  for (int attempt = 0; attempt < 2; ++attempt) {
    ABSL_ASSIGN_OR_RETURN(const http::Response response,
                          Send(what, endpoint_class, request, cancel));
    answer = parse(response.body);
    if (answer.ok()) return answer;
  }
  return absl::Status(
      answer.status().code(),
      absl::StrCat(what, ": HTTP 200, but ", answer.status().message()));
}

template absl::StatusOr<SignedDownload> ApsClient::Get(
    absl::string_view, EndpointClass, const std::string&,
    const std::stop_token&,
    absl::StatusOr<SignedDownload> (*)(absl::string_view));

absl::StatusOr<HubList> ApsClient::ListHubs(const std::stop_token& cancel) {
  absl::StatusOr<HubList> hubs =
      Get("list hubs", EndpointClass::kProjects,
          options_.base_url + "/project/v1/hubs", cancel, &ParseHubs);
  if (!hubs.ok()) return ExplainAccess(hubs.status());
  return hubs;
}

absl::StatusOr<ProjectPage> ApsClient::ListProjects(
    absl::string_view hub_id, absl::string_view page_url,
    const std::stop_token& cancel) {
  ABSL_ASSIGN_OR_RETURN(
      const std::string url,
      PageUrl(absl::StrCat("/project/v1/hubs/", http::PercentEncode(hub_id),
                           "/projects?", kPageLimit),
              page_url));
  absl::StatusOr<ProjectPage> page = Get(
      "list projects", EndpointClass::kProjects, url, cancel, &ParseProjects);
  if (!page.ok()) return ExplainAccess(page.status());
  page->next_page_url = Resolved(url, page->next_page_url);
  MutexLock lock(mutex_);
  for (const Project& project : page->projects) {
    if (!project.root_folder_id.empty()) {
      root_folders_.insert(project.root_folder_id);
    }
  }
  return page;
}

absl::StatusOr<FolderPage> ApsClient::ListTopFolders(
    absl::string_view hub_id, absl::string_view project_id,
    const std::stop_token& cancel) {
  const std::string url = absl::StrCat(
      options_.base_url, "/project/v1/hubs/", http::PercentEncode(hub_id),
      "/projects/", http::PercentEncode(project_id), "/topFolders");
  ABSL_ASSIGN_OR_RETURN(FolderPage page,
                        Get("list top folders", EndpointClass::kFolders, url,
                            cancel, &ParseFolderPage));
  page.items.clear();
  page.next_page_url.clear();
  DropUnwanted(/*top_level=*/true, page);
  return page;
}

absl::StatusOr<FolderPage> ApsClient::ListFolderContents(
    absl::string_view project_id, absl::string_view folder_id,
    absl::string_view page_url, const std::stop_token& cancel) {
  ABSL_ASSIGN_OR_RETURN(
      const std::string url,
      PageUrl(
          absl::StrCat("/data/v1/projects/", http::PercentEncode(project_id),
                       "/folders/", http::PercentEncode(folder_id),
                       "/contents?", kPageLimit,
                       options_.include_hidden ? "&includeHidden=true" : ""),
          page_url));
  ABSL_ASSIGN_OR_RETURN(
      FolderPage page, Get("list folder contents", EndpointClass::kFolders, url,
                           cancel, &ParseFolderPage));
  page.next_page_url = Resolved(url, page.next_page_url);
  DropUnwanted(IsRoot(folder_id), page);
  return page;
}

std::optional<absl::Duration> ApsClient::ClockSkew() const {
  return caller_.ClockSkew();
}

void ApsClient::Cancel() {
  limiter_.Cancel();
  caller_.Cancel();
}

absl::StatusOr<std::string> ApsClient::PageUrl(
    absl::string_view first_page, absl::string_view page_url) const {
  if (page_url.empty()) return absl::StrCat(options_.base_url, first_page);
  ABSL_ASSIGN_OR_RETURN(const http::Url base,
                        http::ParseUrl(options_.base_url));
  const absl::StatusOr<http::Url> page = http::ParseUrl(page_url);
  if (!page.ok()) {
    return absl::DataLossError(
        absl::StrCat("the listing's next link is ", page.status().message()));
  }
  if (!SameOrigin(base, *page)) {
    return absl::DataLossError(absl::StrCat(
        "the listing's next link leads to a foreign host, ", page->scheme,
        "://", page->host, ":", page->port, "; the token is not sent there"));
  }
  return std::string(page_url.data(), page_url.size());
}

std::string ApsClient::Resolved(const std::string& asked_url,
                                const std::string& link) const {
  if (link.empty()) return link;
  // What cannot be resolved is refused when it is asked for: the page that
  // holds it is good.
  return http::ResolveUrl(asked_url, link).value_or(link);
}

void ApsClient::DropUnwanted(bool top_level, FolderPage& page) const {
  if (!options_.include_hidden) {
    std::erase_if(page.folders, [](const Folder& f) { return f.hidden; });
    std::erase_if(page.items, [](const Item& i) { return i.hidden; });
  }
  if (!options_.include_service_folders && top_level) {
    // A folder that lies deeper shows as a top one to who sees no other.
    std::erase_if(page.folders, [](const Folder& f) {
      return f.parent_names.empty() && IsServiceFolder(f.name);
    });
  }
}

bool ApsClient::IsRoot(absl::string_view folder_id) const {
  MutexLock lock(mutex_);
  return root_folders_.contains(
      std::string(folder_id.data(), folder_id.size()));
}

absl::Status ApsClient::ExplainAccess(const absl::Status& status) const {
  if (!absl::IsPermissionDenied(status) && !absl::IsNotFound(status)) {
    return status;
  }
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   ": an account admin must add the client id ",
                   options_.client_id,
                   " in Account Admin > Custom Integrations, and the account "
                   "id must be right"));
}

}  // namespace bimbackup::bim360
