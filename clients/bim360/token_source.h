// The access token, shared by all calls of a client.

#ifndef CLIENTS_BIM360_TOKEN_SOURCE_H_
#define CLIENTS_BIM360_TOKEN_SOURCE_H_

#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/bim360/api_caller.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/secret.h"

namespace bimbackup::bim360 {

// Fetches a two-legged token of the scope data:read, again at 90 % of its
// life or after a 401: one fetch at a time, for everybody. A failed fetch is
// remembered for five seconds, so that many callers do not hammer a server
// that refuses; one whose caller was cancelled is begun anew by the next.
// Thread-safe; what is passed in outlives it.
class TokenSource : public BearerSource {
 public:
  // `base_url` without a trailing slash.
  TokenSource(std::string base_url, std::string client_id, Secret client_secret,
              ApiCaller& caller, Clock& clock);

  // UNAUTHENTICATED when the credentials are refused, with what to do about
  // it; else as ApiCaller::Send.
  absl::StatusOr<Secret> Get(const std::stop_token& cancel) override;

  // No effect when that token has been replaced already.
  void Invalidate(const Secret& token) override;

 private:
  absl::StatusOr<Secret> Fetch(const std::stop_token& cancel,
                               absl::Duration& expires);
  absl::Status Explain(const absl::Status& status) const;

  const std::string base_url_;
  const std::string client_id_;
  const Secret client_secret_;
  ApiCaller& caller_;
  Clock& clock_;

  Mutex mutex_;
  CondVar changed_;
  bool fetching_ ABSL_GUARDED_BY(mutex_) = false;
  Secret token_ ABSL_GUARDED_BY(mutex_);
  absl::Duration expires_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  absl::Duration failure_expires_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_TOKEN_SOURCE_H_
