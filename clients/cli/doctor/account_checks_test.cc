#include "clients/cli/doctor/account_checks.h"

#include <sstream>
#include <string>

#include "clients/bim360/fake_bim360_client.h"
#include "clients/http/fake_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::cli::doctor {
namespace {

using bim360::FakeBim360Client;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class AccountChecksTest : public testing::Test {
 protected:
  AccountChecksTest() {
    settings_.base_url = "https://developer.api.autodesk.com";
    settings_.client_id = "client-7";
    settings_.hub_id = FakeBim360Client::kHubId;
    transport_.AddRule("storage", 206, "x");
  }

  void AddProjectWithFile() {
    bim360::Project project;
    project.id = "b.1";
    project.name = "Tower";
    client_.AddProject(project);
    const std::string folder = client_.AddFolder("b.1-root", "Plans");
    urn_ = client_.AddFile(client_.AddFolder(folder, "Deep"), "a.rvt", 9)
               .storage_urn;
    bim360::SignedDownload download;
    download.ranges = {
        {0, 8, "https://bucket.s3.amazonaws.com/storage?X-Signature=secret"}};
    client_.SetDownload(urn_, download);
  }

  std::string Check() {
    std::ostringstream out;
    Report report(out, false);
    CheckAccount(settings_, client_, transport_, http::HostPolicy::Default(),
                 report);
    failed_ = report.failed();
    return out.str();
  }

  AccountSettings settings_;
  FakeBim360Client client_;
  http::FakeTransport transport_;
  std::string urn_;
  bool failed_ = false;
};

TEST_F(AccountChecksTest, AllIsWellOnAnAccountWithAFile) {
  AddProjectWithFile();
  const std::string text = Check();
  EXPECT_FALSE(failed_) << text;
  EXPECT_THAT(text,
              AllOf(HasSubstr("ok    token"), HasSubstr("ok    hub"),
                    HasSubstr("ok    projects"), HasSubstr("ok    folder"),
                    HasSubstr("ok    first byte")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("FAIL")), Not(HasSubstr("warn")),
                          Not(HasSubstr("secret"))));
}

TEST_F(AccountChecksTest, OneByteIsAskedFor) {
  AddProjectWithFile();
  Check();
  ASSERT_EQ(transport_.Requests().size(), 1);
  const http::Request request = transport_.Requests()[0];
  EXPECT_EQ(http::FindHeader(request.headers, "range"), "bytes=0-0");
  EXPECT_EQ(http::FindHeader(request.headers, "authorization"), std::nullopt);
}

TEST_F(AccountChecksTest, ARefusedSecretSaysWhatToCompare) {
  client_.FailNext(FakeBim360Client::Call::kListHubs, "",
                   absl::UnauthenticatedError("HTTP 401"));
  EXPECT_THAT(Check(),
              AllOf(HasSubstr("FAIL  token"), HasSubstr("APS_CLIENT_SECRET")));
  EXPECT_TRUE(failed_);
}

TEST_F(AccountChecksTest, AnAppThatIsNotProvisionedIsToldWhere) {
  client_.FailNext(FakeBim360Client::Call::kListHubs, "",
                   absl::PermissionDeniedError("HTTP 403"));
  EXPECT_THAT(Check(), AllOf(HasSubstr("ok    token"), HasSubstr("FAIL  hub"),
                             HasSubstr("Account Admin > Custom Integrations"),
                             HasSubstr("client-7")));
}

TEST_F(AccountChecksTest, AnotherAccountIsNamed) {
  settings_.hub_id = "b.mistyped";
  EXPECT_THAT(Check(),
              AllOf(HasSubstr("FAIL  hub"), HasSubstr(FakeBim360Client::kHubId),
                    HasSubstr("APS_ACCOUNT_ID")));
}

TEST_F(AccountChecksTest, WithoutAnAccountIdTheChoiceIsShown) {
  settings_.hub_id = "";
  EXPECT_THAT(Check(), AllOf(HasSubstr("APS_ACCOUNT_ID is not set"),
                             HasSubstr(FakeBim360Client::kHubId)));
  EXPECT_TRUE(failed_);
}

TEST_F(AccountChecksTest, WarningsOfAutodeskAreShown) {
  AddProjectWithFile();
  bim360::Warning warning;
  warning.http_status = "403";
  warning.title = "Unable to get hubs from EMEA";
  client_.AddWarning(warning);
  EXPECT_THAT(Check(), ContainsRegex("warn  hub.*Unable to get hubs"));
  EXPECT_FALSE(failed_);
}

TEST_F(AccountChecksTest, AForeignHostIsNotAskedForTheByte) {
  AddProjectWithFile();
  bim360::SignedDownload download;
  download.ranges = {{0, 8, "https://evil.example/storage?secret"}};
  client_.SetDownload(urn_, download);
  EXPECT_THAT(Check(),
              AllOf(HasSubstr("FAIL  signed URL"), HasSubstr("evil.example"),
                    HasSubstr("--allowed_hosts"), Not(HasSubstr("secret"))));
  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(AccountChecksTest, ABlockedStorageHostIsAFirewallMatter) {
  AddProjectWithFile();
  bim360::SignedDownload download;
  download.ranges = {{0, 8, "https://bucket.s3.amazonaws.com/other?secret"}};
  client_.SetDownload(urn_, download);
  EXPECT_THAT(Check(), AllOf(HasSubstr("FAIL  first byte"),
                             HasSubstr("bucket.s3.amazonaws.com"),
                             Not(HasSubstr("secret"))));
}

TEST_F(AccountChecksTest, AnAccountWithoutProjectsOnlyWarns) {
  EXPECT_THAT(Check(), HasSubstr("warn  projects"));
  EXPECT_FALSE(failed_);
}

TEST_F(AccountChecksTest, AFolderThatIsClosedDoesNotEndTheSearch) {
  AddProjectWithFile();
  const std::string closed = client_.AddFolder("b.1-root", "Zz closed");
  client_.FailNext(FakeBim360Client::Call::kListFolderContents, closed,
                   absl::PermissionDeniedError("HTTP 403"), -1);
  const std::string text = Check();
  EXPECT_THAT(text,
              AllOf(HasSubstr("warn  folder"), HasSubstr("ok    first byte")));
  EXPECT_FALSE(failed_);
}

}  // namespace
}  // namespace bimbackup::cli::doctor
