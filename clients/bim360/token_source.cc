#include "clients/bim360/token_source.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/answers.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

constexpr absl::Duration kFailureLife = absl::Seconds(5);

}  // namespace

TokenSource::TokenSource(std::string base_url, std::string client_id,
                         Secret client_secret, ApiCaller& caller, Clock& clock)
    : base_url_(std::move(base_url)),
      client_id_(std::move(client_id)),
      client_secret_(std::move(client_secret)),
      caller_(caller),
      clock_(clock) {}

absl::StatusOr<Secret> TokenSource::Get(const std::stop_token& cancel) {
  const std::stop_callback wake(cancel, [this] {
    MutexLock lock(mutex_);
    changed_.NotifyAll();
  });
  {
    MutexLock lock(mutex_);
    // The fetch itself is bounded by its caller's attempts and deadlines.
    while (fetching_ && !cancel.stop_requested()) changed_.Wait(mutex_);
    if (cancel.stop_requested()) {
      return absl::CancelledError("the call to Autodesk was cancelled");
    }
    const absl::Duration now = clock_.Monotonic();
    if (!token_.empty() && now < expires_) return token_;
    if (!failure_.ok() && now < failure_expires_) return failure_;
    fetching_ = true;
  }
  absl::Duration expires;
  absl::StatusOr<Secret> fetched = Fetch(cancel, expires);
  MutexLock lock(mutex_);
  fetching_ = false;
  token_ = fetched.ok() ? *fetched : Secret();
  expires_ = expires;
  failure_ =
      absl::IsCancelled(fetched.status()) ? absl::OkStatus() : fetched.status();
  failure_expires_ = clock_.Monotonic() + kFailureLife;
  changed_.NotifyAll();
  return fetched;
}

void TokenSource::Invalidate(const Secret& token) {
  MutexLock lock(mutex_);
  if (token_.Reveal() == token.Reveal()) token_ = Secret();
}

absl::StatusOr<Secret> TokenSource::Fetch(const std::stop_token& cancel,
                                          absl::Duration& expires) {
  ApiCall call;
  call.cancel = cancel;
  call.what = "fetch an access token";
  call.endpoint_class = EndpointClass::kToken;
  call.max_body_bytes = 64 << 10;
  call.request.method = "POST";
  call.request.url = base_url_ + "/authentication/v2/token";
  // The header only: with the id in the body as well, Autodesk answers 400.
  call.request.headers = {
      {"Content-Type", "application/x-www-form-urlencoded"},
      {"Accept", "application/json"},
      {"Authorization",
       "Basic " + absl::Base64Escape(
                      absl::StrCat(client_id_, ":", client_secret_.Reveal()))}};
  call.request.body = "grant_type=client_credentials&scope=data%3Aread";
  const absl::Duration start = clock_.Monotonic();
  const absl::StatusOr<http::Response> response = caller_.Send(call, nullptr);
  if (!response.ok()) return Explain(response.status());
  ABSL_ASSIGN_OR_RETURN(Token token, ParseToken(response->body));
  expires = start + 0.9 * token.expires_in;
  return std::move(token.access_token);
}

absl::Status TokenSource::Explain(const absl::Status& status) const {
  if (!absl::IsUnauthenticated(status) && !absl::IsPermissionDenied(status) &&
      !absl::IsInvalidArgument(status)) {
    return status;
  }
  return absl::UnauthenticatedError(absl::StrCat(
      status.message(), ": Autodesk refuses the client id ", client_id_,
      " or its secret; check APS_CLIENT_ID and APS_CLIENT_SECRET against the "
      "app's page at https://aps.autodesk.com/myapps"));
}

}  // namespace bimbackup::bim360
