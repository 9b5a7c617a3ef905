#include "services/common/rpc/certificate.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/rpc/test_certificates.h"
#include "services/common/status_matchers.h"

namespace bimbackup::rpc {
namespace {

using absl_testing::StatusIs;
using testing::AllOf;
using testing::HasSubstr;

auto Refuses(absl::string_view flag, absl::string_view why) {
  return StatusIs(absl::StatusCode::kInvalidArgument,
                  AllOf(HasSubstr(std::string(flag.data(), flag.size())),
                        HasSubstr(std::string(why.data(), why.size()))));
}

class CertificateTest : public testing::Test {
 protected:
  std::string Write(absl::string_view name, absl::string_view text) {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

  ScratchFolder folder_;
  TestCa ca_;
  TlsFiles files_ = ca_.Issue(folder_ / "one");
};

TEST_F(CertificateTest, ReadsWhatBelongsTogether) {
  ASSERT_OK_AND_ASSIGN(const Identity identity, ReadIdentity(files_));
  EXPECT_EQ(
      X509_check_private_key(identity.certificate.get(), identity.key.get()),
      1);
}

TEST_F(CertificateTest, KnowsHowLongItIsGood) {
  CertificateWish wish;
  wish.until = absl::Hours(50);
  ASSERT_OK_AND_ASSIGN(const Identity identity,
                       ReadIdentity(ca_.Issue(folder_ / "long", wish)));
  const absl::Duration left = TimeLeft(*identity.certificate);
  EXPECT_LE(left, absl::Hours(50));
  EXPECT_GT(left, absl::Hours(49));
}

TEST_F(CertificateTest, OneFileMayHoldCertificateAndKey) {
  std::ofstream both(folder_ / "both.pem");
  both << std::ifstream(files_.key).rdbuf()
       << std::ifstream(files_.cert).rdbuf();
  both.close();
  files_.cert = files_.key = folder_ / "both.pem";
  EXPECT_OK(ReadIdentity(files_));
}

TEST_F(CertificateTest, AllThreeOrNone) {
  TlsFiles files = files_;
  files.key.clear();
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_key is missing", "together"));
  files = files_;
  files.ca.clear();
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_ca is missing", "together"));
  files = files_;
  files.cert.clear();
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_cert is missing", "togeth"));
}

TEST_F(CertificateTest, NamesTheFileThatCannotBeRead) {
  files_.key = folder_ / "missing.pem";
  EXPECT_THAT(ReadIdentity(files_),
              Refuses("--tls_key", "missing.pem cannot be read: No such"));
  files_.key = folder_ / "one";
  EXPECT_THAT(ReadIdentity(files_), Refuses("--tls_key", "cannot be read"));
}

TEST_F(CertificateTest, NamesTheFileThatHoldsSomethingElse) {
  const std::string junk = Write("junk.pem", "hello\n");
  TlsFiles files = files_;
  files.cert = junk;
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_cert", "no PEM certificate"));
  files = files_;
  files.ca = junk;
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_ca", "no PEM certificate"));
  files = files_;
  files.key = files_.cert;
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_key", "no PEM key"));
  files = files_;
  files.ca = Write("long.pem", std::string(2 << 20, 'x'));
  EXPECT_THAT(ReadIdentity(files), Refuses("--tls_ca", "too long"));
}

TEST_F(CertificateTest, RefusesTheKeyOfAnotherCertificate) {
  files_.key = ca_.Issue(folder_ / "two").key;
  EXPECT_THAT(ReadIdentity(files_), Refuses("--tls_key", "is not the key of"));
}

TEST_F(CertificateTest, RefusesAForeignCa) {
  TestCa other;
  files_.ca = other.Issue(folder_ / "other").ca;
  EXPECT_THAT(ReadIdentity(files_), Refuses("--tls_cert", "--tls_ca"));
}

TEST_F(CertificateTest, RefusesWhatIsOverOrHasNotBegun) {
  CertificateWish wish;
  wish.until = -absl::Minutes(1);
  EXPECT_THAT(ReadIdentity(ca_.Issue(folder_ / "old", wish)),
              Refuses("--tls_cert", "expired"));
  wish.from = absl::Hours(1);
  wish.until = absl::Hours(2);
  EXPECT_THAT(ReadIdentity(ca_.Issue(folder_ / "new", wish)),
              Refuses("--tls_cert", "not yet valid"));
}

}  // namespace
}  // namespace bimbackup::rpc
