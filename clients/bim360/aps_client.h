// The BIM 360 client that talks to Autodesk Platform Services, or to
// bim360-emulator.

#ifndef CLIENTS_BIM360_APS_CLIENT_H_
#define CLIENTS_BIM360_APS_CLIENT_H_

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/api_caller.h"
#include "clients/bim360/api_limiter.h"
#include "clients/bim360/bim360_client.h"
#include "clients/bim360/token_source.h"
#include "clients/http/http_transport.h"
#include "services/common/backoff.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"
#include "services/common/secret.h"

namespace bimbackup::bim360 {

// There is no region here: none of the calls below takes one. Autodesk routes
// by the ids, and Hub::region says where a hub lives.
struct ApsClientOptions {
  std::string base_url = "https://developer.api.autodesk.com";
  std::string client_id;
  Secret client_secret;
  // Deleted files and folders, which Autodesk only hides.
  bool include_hidden = false;
  // Top folders for which IsServiceFolder() holds.
  bool include_service_folders = false;
  // Of one call's attempts; 429 does not count as one.
  Backoff backoff;
  // Of one attempt.
  absl::Duration call_timeout = absl::Seconds(60);
};

// Every call goes through the limiter. Thread-safe. What is passed in
// outlives it; Cancel() cancels the limiter as well.
class ApsClient : public Bim360Client {
 public:
  // INVALID_ARGUMENT, naming the flag, for a base URL that is none, or
  // credentials that are missing.
  static absl::StatusOr<std::unique_ptr<ApsClient>> Create(
      ApsClientOptions options, http::HttpTransport& transport,
      ApiLimiter& limiter, Clock& clock, Random& random);

  absl::StatusOr<HubList> ListHubs(const std::stop_token& cancel) override;
  absl::StatusOr<ProjectPage> ListProjects(
      absl::string_view hub_id, absl::string_view page_url,
      const std::stop_token& cancel) override;
  absl::StatusOr<FolderPage> ListTopFolders(
      absl::string_view hub_id, absl::string_view project_id,
      const std::stop_token& cancel) override;
  absl::StatusOr<FolderPage> ListFolderContents(
      absl::string_view project_id, absl::string_view folder_id,
      absl::string_view page_url, const std::stop_token& cancel) override;
  absl::StatusOr<SignedDownload> SignDownload(
      absl::string_view storage_urn, absl::Duration lifetime,
      const std::stop_token& cancel) override;
  absl::StatusOr<std::vector<absl::StatusOr<SignedDownload>>> SignDownloads(
      const std::vector<std::string>& storage_urns, absl::Duration lifetime,
      const std::stop_token& cancel) override;
  std::optional<absl::Duration> ClockSkew() const override;
  void Cancel() override;

 private:
  ApsClient(ApsClientOptions options, http::HttpTransport& transport,
            ApiLimiter& limiter, Clock& clock, Random& random);

  absl::StatusOr<http::Response> Send(absl::string_view what,
                                      EndpointClass endpoint_class,
                                      http::Request request,
                                      const std::stop_token& cancel);
  // Asks for `url` and parses the answer; once more where it is malformed.
  template <typename Answer>
  absl::StatusOr<Answer> Get(
      absl::string_view what, EndpointClass endpoint_class,
      const std::string& url, const std::stop_token& cancel,
      absl::StatusOr<Answer> (*parse)(absl::string_view json));

  // The URL to ask for: `page_url` where it is given and leads to the API's
  // own host, else `first_page` under the base.
  absl::StatusOr<std::string> PageUrl(absl::string_view first_page,
                                      absl::string_view page_url) const;
  std::string Resolved(const std::string& asked_url,
                       const std::string& link) const;
  void FinishSigned(absl::Duration expires, SignedDownload& download) const;
  void DropUnwanted(bool top_level, FolderPage& page) const;
  bool IsRoot(absl::string_view folder_id) const;
  absl::Status ExplainAccess(const absl::Status& status) const;

  const ApsClientOptions options_;
  ApiLimiter& limiter_;
  Clock& clock_;
  ApiCaller caller_;
  TokenSource tokens_;

  mutable Mutex mutex_;
  // The root folders of the listed projects: their contents are top folders.
  std::set<std::string> root_folders_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_APS_CLIENT_H_
