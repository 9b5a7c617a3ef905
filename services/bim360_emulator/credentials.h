// What the emulator gives out to be let in: tokens and signed URLs. Both
// really expire and are really checked.

#ifndef SERVICES_BIM360_EMULATOR_CREDENTIALS_H_
#define SERVICES_BIM360_EMULATOR_CREDENTIALS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"

namespace bimbackup::bim360_emulator {

// A clock that an administrator can set forward: what expires does so by
// this. Thread-safe.
class ShiftedClock {
 public:
  explicit ShiftedClock(const Clock& clock) : clock_(clock) {}

  absl::Time Now() const;
  void Advance(absl::Duration duration);

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  absl::Duration shift_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

// Remembers every secret that was given out, so that tests can search logs
// for them; the newest 200,000. Thread-safe.
class SecretLedger {
 public:
  void Add(std::string secret);
  std::vector<std::string> All() const;

 private:
  mutable Mutex mutex_;
  std::deque<std::string> secrets_ ABSL_GUARDED_BY(mutex_);
};

// Access tokens. Thread-safe.
class TokenStore {
 public:
  // All outlive the store.
  TokenStore(const ShiftedClock& clock, Random& random, SecretLedger& ledger)
      : clock_(clock), random_(random), ledger_(ledger) {}

  // A new token for these scopes (space separated).
  std::string Issue(absl::Duration lifetime, absl::string_view scopes);

  enum class Verdict { kGood, kUnknownOrExpired, kLacksScope };
  Verdict Check(absl::string_view token, absl::string_view scope) const;

  // Ends every token now.
  void ExpireAll();

 private:
  struct Token {
    absl::Time expires;
    std::string scopes;
  };

  const ShiftedClock& clock_;
  Random& random_;
  SecretLedger& ledger_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Token> tokens_ ABSL_GUARDED_BY(mutex_);
};

// What a signed URL lets one read: an object, or a range of it that stands
// for an upload's part.
struct SignedObject {
  std::string bucket;
  std::string object_key;
  // The part's first and last byte; none where `last` is below `first`.
  int64_t first = 0;
  int64_t last = -1;
};

// Signs and checks the queries of storage URLs in the manner of S3.
// Thread-safe.
class UrlSigner {
 public:
  // All outlive the signer.
  UrlSigner(const ShiftedClock& clock, Random& random, SecretLedger& ledger);

  // The query, without its question mark. With `expired`, one that was good
  // until a second ago.
  std::string Sign(const SignedObject& object, absl::Duration lifetime,
                   bool expired = false) const;

  enum class Verdict { kGood, kExpired, kBadSignature };
  struct Check {
    Verdict verdict = Verdict::kBadSignature;
    int64_t first = 0;
    int64_t last = -1;
    absl::Time expires;
    int64_t lifetime_seconds = 0;
  };
  Check Verify(absl::string_view bucket, absl::string_view object_key,
               absl::string_view query) const;

 private:
  std::string Mac(absl::string_view text) const;

  const ShiftedClock& clock_;
  SecretLedger& ledger_;
  std::string key_;
  std::string session_;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_CREDENTIALS_H_
