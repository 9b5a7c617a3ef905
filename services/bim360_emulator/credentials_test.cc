#include "services/bim360_emulator/credentials.h"

#include <algorithm>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"

namespace bimbackup::bim360_emulator {
namespace {

class CredentialsTest : public testing::Test {
 protected:
  UrlSigner::Verdict Verify(absl::string_view query) {
    return signer_.Verify("bucket", "key", query).verdict;
  }

  FakeClock fake_;
  ShiftedClock clock_{fake_};
  SeededRandom random_{1};
  SecretLedger ledger_;
  TokenStore tokens_{clock_, random_, ledger_};
  UrlSigner signer_{clock_, random_, ledger_};
};

TEST_F(CredentialsTest, TokensExpire) {
  const std::string token = tokens_.Issue(absl::Seconds(60), "data:read x:y");
  using Verdict = TokenStore::Verdict;
  EXPECT_EQ(tokens_.Check(token, "data:read"), Verdict::kGood);
  EXPECT_EQ(tokens_.Check(token, "data:write"), Verdict::kLacksScope);
  EXPECT_EQ(tokens_.Check(token + "x", "data:read"),
            Verdict::kUnknownOrExpired);
  fake_.Advance(absl::Seconds(60));
  EXPECT_EQ(tokens_.Check(token, "data:read"), Verdict::kUnknownOrExpired);
}

TEST_F(CredentialsTest, AllTokensCanBeEnded) {
  const std::string token = tokens_.Issue(absl::Seconds(60), "data:read");
  tokens_.ExpireAll();
  EXPECT_EQ(tokens_.Check(token, "data:read"),
            TokenStore::Verdict::kUnknownOrExpired);
}

TEST_F(CredentialsTest, SignaturesExpire) {
  const std::string query = signer_.Sign({"bucket", "key"}, absl::Minutes(2));
  EXPECT_EQ(Verify(query), UrlSigner::Verdict::kGood);
  fake_.Advance(absl::Seconds(119));
  EXPECT_EQ(Verify(query), UrlSigner::Verdict::kGood);
  fake_.Advance(absl::Seconds(2));
  EXPECT_EQ(Verify(query), UrlSigner::Verdict::kExpired);
  EXPECT_EQ(Verify(signer_.Sign({"bucket", "key"}, absl::Minutes(2), true)),
            UrlSigner::Verdict::kExpired);
}

TEST_F(CredentialsTest, AnAdministratorCanMoveTheClock) {
  const std::string query = signer_.Sign({"bucket", "key"}, absl::Minutes(60));
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(Verify(query), UrlSigner::Verdict::kExpired);
}

TEST_F(CredentialsTest, AnyAlterationIsNoticed) {
  const std::string query = signer_.Sign({"bucket", "key"}, absl::Minutes(2));
  for (size_t i = 0; i < query.size(); i += 7) {
    std::string altered = query;
    altered[i] ^= 1;
    EXPECT_EQ(Verify(altered), UrlSigner::Verdict::kBadSignature) << i;
  }
  EXPECT_EQ(Verify(absl::StrReplaceAll(query, {{"Expires=120", "Expires=9"}})),
            UrlSigner::Verdict::kBadSignature);
  EXPECT_EQ(Verify(""), UrlSigner::Verdict::kBadSignature);
  EXPECT_EQ(signer_.Verify("bucket", "other", query).verdict,
            UrlSigner::Verdict::kBadSignature);
}

TEST_F(CredentialsTest, PartsAreSignedToo) {
  const std::string query =
      signer_.Sign({"bucket", "key", 100, 199}, absl::Minutes(2));
  const UrlSigner::Check check = signer_.Verify("bucket", "key", query);
  EXPECT_EQ(check.verdict, UrlSigner::Verdict::kGood);
  EXPECT_EQ(check.first, 100);
  EXPECT_EQ(check.last, 199);
}

TEST_F(CredentialsTest, TheLedgerHoldsAllThatWasGivenOut) {
  const std::string token = tokens_.Issue(absl::Seconds(60), "data:read");
  const std::string query = signer_.Sign({"bucket", "key"}, absl::Minutes(2));
  const std::vector<std::string> secrets = ledger_.All();
  EXPECT_EQ(secrets, (std::vector<std::string>{token, query}));
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
