#include "services/bim360_emulator/credentials.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr size_t kMaxSecrets = 200'000;
constexpr absl::string_view kSignatureField = "&X-Amz-Signature=";
constexpr char kAmzDate[] = "%E4Y%m%dT%H%M%SZ";

std::string RandomText(Random& random, int words) {
  std::string bytes;
  for (int i = 0; i < words; ++i) {
    const uint64_t word = random.Next();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  std::string text;
  absl::WebSafeBase64Escape(bytes, &text);
  return text;
}

}  // namespace

absl::Time ShiftedClock::Now() const {
  MutexLock lock(mutex_);
  return clock_.Now() + shift_;
}

void ShiftedClock::Advance(absl::Duration duration) {
  MutexLock lock(mutex_);
  shift_ += duration;
}

void SecretLedger::Add(std::string secret) {
  MutexLock lock(mutex_);
  secrets_.push_back(std::move(secret));
  if (secrets_.size() > kMaxSecrets) secrets_.pop_front();
}

std::vector<std::string> SecretLedger::All() const {
  MutexLock lock(mutex_);
  return {secrets_.begin(), secrets_.end()};
}

std::string TokenStore::Issue(absl::Duration lifetime,
                              absl::string_view scopes) {
  // Of the length and look of a JWT, which clients treat as opaque.
  std::string token =
      absl::StrCat("eyJhbGciOiJSUzI1NiJ9.", RandomText(random_, 24), ".",
                   RandomText(random_, 32));
  ledger_.Add(token);
  MutexLock lock(mutex_);
  tokens_[token] = {clock_.Now() + lifetime,
                    std::string(scopes.data(), scopes.size())};
  return token;
}

TokenStore::Verdict TokenStore::Check(absl::string_view token,
                                      absl::string_view scope) const {
  MutexLock lock(mutex_);
  const auto found = tokens_.find(std::string(token.data(), token.size()));
  if (found == tokens_.end() || found->second.expires <= clock_.Now()) {
    return Verdict::kUnknownOrExpired;
  }
  for (const absl::string_view has :
       absl::StrSplit(found->second.scopes, ' ')) {
    if (has == scope) return Verdict::kGood;
  }
  return Verdict::kLacksScope;
}

void TokenStore::ExpireAll() {
  MutexLock lock(mutex_);
  tokens_.clear();
}

UrlSigner::UrlSigner(const ShiftedClock& clock, Random& random,
                     SecretLedger& ledger)
    : clock_(clock),
      ledger_(ledger),
      key_(RandomText(random, 4)),
      session_(UrlEncode(RandomText(random, 12))) {}

std::string UrlSigner::Mac(absl::string_view text) const {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key_.data(), key_.size(),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac,
       &size);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(mac), size));
}

std::string UrlSigner::Sign(const SignedObject& object, absl::Duration lifetime,
                            bool expired) const {
  absl::Time from = clock_.Now();
  if (expired) from -= lifetime + absl::Seconds(1);
  const std::string date =
      absl::FormatTime(kAmzDate, from, absl::UTCTimeZone());
  std::string query = absl::StrCat(
      "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=ASIAEMULATOR%2F",
      date.substr(0, 8), "%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=", date,
      "&X-Amz-Expires=", absl::ToInt64Seconds(lifetime),
      "&X-Amz-Security-Token=", session_, "&X-Amz-SignedHeaders=host");
  if (object.last >= object.first) {
    absl::StrAppend(&query, "&part=", object.first, "-", object.last);
  }
  const std::string mac =
      Mac(absl::StrCat(object.bucket, "/", object.object_key, "?", query));
  absl::StrAppend(&query, kSignatureField, mac);
  ledger_.Add(query);
  return query;
}

UrlSigner::Check UrlSigner::Verify(absl::string_view bucket,
                                   absl::string_view object_key,
                                   absl::string_view query) const {
  Check check;
  const size_t at = query.rfind(kSignatureField);
  if (at == absl::string_view::npos) return check;
  const absl::string_view given = query.substr(at + kSignatureField.size());
  const absl::string_view text = query.substr(0, at);
  const std::string mac = Mac(absl::StrCat(bucket, "/", object_key, "?", text));
  if (given.size() != mac.size() ||
      CRYPTO_memcmp(given.data(), mac.data(), mac.size()) != 0) {
    return check;
  }
  absl::Time from;
  std::string error;
  if (!absl::ParseTime(kAmzDate, FormValue(text, "X-Amz-Date"), &from,
                       &error) ||
      !absl::SimpleAtoi(FormValue(text, "X-Amz-Expires"),
                        &check.lifetime_seconds)) {
    return check;
  }
  const std::string part = FormValue(text, "part");
  if (!part.empty()) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    if (!absl::SimpleAtoi(ends.first, &check.first) ||
        !absl::SimpleAtoi(ends.second, &check.last)) {
      return check;
    }
  }
  check.expires = from + absl::Seconds(check.lifetime_seconds);
  check.verdict =
      clock_.Now() < check.expires ? Verdict::kGood : Verdict::kExpired;
  return check;
}

}  // namespace bimbackup::bim360_emulator
