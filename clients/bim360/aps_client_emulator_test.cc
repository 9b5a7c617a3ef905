// The client against the emulator, over real HTTP.

#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clients/bim360/aps_client.h"
#include "clients/bim360/page_loop_guard.h"
#include "clients/http/curl_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;
using bim360_emulator::Emulator;
using bim360_emulator::EmulatorOptions;

class ApsClientEmulatorTest : public testing::Test {
 protected:
  void Start(EmulatorOptions emulator_options, double budget) {
    emulator_options.threads = 2;
    ASSERT_OK_AND_ASSIGN(emulator_,
                         Emulator::Start(std::move(emulator_options)));
    http::CurlTransportOptions transport_options;
    transport_options.accept_gzip = true;
    ASSERT_OK_AND_ASSIGN(transport_,
                         http::CurlTransport::Create(transport_options));
    limiter_ = std::make_unique<ApiLimiter>(budget, clock_);
    ApsClientOptions options;
    options.base_url = emulator_->base_url();
    options.client_id = emulator_->options().client_id;
    options.client_secret = Secret(emulator_->options().client_secret);
    ASSERT_OK_AND_ASSIGN(
        client_, ApsClient::Create(std::move(options), *transport_, *limiter_,
                                   clock_, random_));
    hub_ = "b." + emulator_->options().account_id;
  }

  // Lists everything below the first project's top folders.
  void ListProject() {
    ASSERT_OK_AND_ASSIGN(const ProjectPage projects,
                         client_->ListProjects(hub_, "", {}));
    ASSERT_FALSE(projects.projects.empty());
    const Project& project = projects.projects[0];
    ASSERT_OK_AND_ASSIGN(FolderPage top,
                         client_->ListTopFolders(hub_, project.id, {}));
    std::deque<Folder> frontier(top.folders.begin(), top.folders.end());
    while (!frontier.empty()) {
      folders_.push_back(frontier.front());
      frontier.pop_front();
      std::string page_url;
      PageLoopGuard guard;
      do {
        ASSERT_OK_AND_ASSIGN(const FolderPage page,
                             client_->ListFolderContents(
                                 project.id, folders_.back().id, page_url, {}));
        EXPECT_THAT(page.defects, testing::IsEmpty());
        frontier.insert(frontier.end(), page.folders.begin(),
                        page.folders.end());
        items_.insert(items_.end(), page.items.begin(), page.items.end());
        page_url = page.next_page_url;
        if (!page_url.empty()) {
          ASSERT_OK(guard.Visit(page_url));
        }
      } while (!page_url.empty());
    }
  }

  SystemClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<Emulator> emulator_;
  std::unique_ptr<http::CurlTransport> transport_;
  std::unique_ptr<ApiLimiter> limiter_;
  std::unique_ptr<ApsClient> client_;
  std::string hub_;
  std::vector<Folder> folders_;
  std::vector<Item> items_;
};

TEST_F(ApsClientEmulatorTest, ListsTheWholeDemoAccountAndFetchesAFile) {
  EmulatorOptions options;
  options.limits = false;
  options.size_scale = 0.001;
  ASSERT_NO_FATAL_FAILURE(
      Start(options, std::numeric_limits<double>::infinity()));
  ASSERT_OK_AND_ASSIGN(const HubList hubs, client_->ListHubs({}));
  ASSERT_EQ(hubs.hubs.size(), 1);
  EXPECT_EQ(hubs.hubs[0].id, hub_);
  ASSERT_NO_FATAL_FAILURE(ListProject());
  EXPECT_EQ(folders_.size(), 30);
  EXPECT_EQ(items_.size(), 136);
  for (const Folder& folder : folders_) EXPECT_NE(folder.rollup, "");
  for (const Item& item : items_) {
    EXPECT_NE(item.version_id, "");
    EXPECT_NE(item.last_modified, absl::InfinitePast());
  }
  ASSERT_TRUE(items_[0].size);
  ASSERT_OK_AND_ASSIGN(
      const SignedDownload download,
      client_->SignDownload(items_[0].storage_urn, absl::Minutes(5), {}));
  ASSERT_EQ(download.ranges.size(), 1);
  http::Request request;
  request.url = download.ranges[0].url;
  ASSERT_OK_AND_ASSIGN(const http::Response response,
                       http::Fetch(*transport_, request, 100 << 20));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body.size(), *items_[0].size);
  Digest digest(DigestKind::kSha1);
  digest.Update(response.body);
  EXPECT_EQ(digest.FinishHex(), download.sha1);
  ASSERT_TRUE(client_->ClockSkew());
  EXPECT_LE(absl::AbsDuration(*client_->ClockSkew()), absl::Seconds(5));
}

TEST_F(ApsClientEmulatorTest, StaysWithinTheRatesAtAFullBudget) {
  EmulatorOptions options;
  options.time_scale = 200;
  options.size_scale = 0.001;
  ASSERT_NO_FATAL_FAILURE(Start(options, /*budget=*/200));
  // Three windows' worth of the 50 calls.
  for (int i = 0; i < 150; ++i) {
    ASSERT_OK(client_->ListProjects(hub_, "", {}));
  }
  // Each 429 would have cost a call more. On a machine that stops us between
  // turn and call, one may come.
  EXPECT_LE(limiter_->GetUsage(EndpointClass::kProjects).calls, 152);
}

TEST_F(ApsClientEmulatorTest, WrongCredentialsAreRefused) {
  EmulatorOptions options;
  options.client_secret = "another";
  ASSERT_NO_FATAL_FAILURE(Start(options, 1));
  ApsClientOptions wrong;
  wrong.base_url = emulator_->base_url();
  wrong.client_id = options.client_id;
  wrong.client_secret = Secret("wrong");
  ASSERT_OK_AND_ASSIGN(const auto client,
                       ApsClient::Create(std::move(wrong), *transport_,
                                         *limiter_, clock_, random_));
  EXPECT_THAT(client->ListHubs({}),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       testing::HasSubstr("APS_CLIENT_ID")));
}

TEST_F(ApsClientEmulatorTest, SignsSeveralObjectsWithOneCall) {
  EmulatorOptions options;
  options.batch_sign = true;
  Start(std::move(options), std::numeric_limits<double>::infinity());
  ListProject();
  std::vector<std::string> urns;
  for (const Item& item : items_) {
    if (!item.storage_urn.empty() && urns.size() < 3) {
      urns.push_back(item.storage_urn);
    }
  }
  ASSERT_EQ(urns.size(), 3u);
  urns.push_back(urns[0].substr(0, urns[0].find('/')) + "/no \"such\" key");
  ASSERT_OK_AND_ASSIGN(const auto downloads,
                       client_->SignDownloads(urns, absl::Minutes(5), {}));
  ASSERT_EQ(downloads.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(downloads[i]);
    ASSERT_OK_AND_ASSIGN(const SignedDownload alone,
                         client_->SignDownload(urns[i], absl::Minutes(5), {}));
    EXPECT_EQ(downloads[i]->size, alone.size);
    EXPECT_EQ(downloads[i]->sha1, alone.sha1);
    EXPECT_GT(downloads[i]->expires, clock_.Monotonic());
  }
  EXPECT_THAT(downloads[3], StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ApsClientEmulatorTest, SaysThatBatchesAreForTheBucketsOwner) {
  Start(EmulatorOptions(), std::numeric_limits<double>::infinity());
  ListProject();
  EXPECT_THAT(
      client_->SignDownloads({items_[0].storage_urn}, absl::Minutes(5), {}),
      StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(client_->SignDownloads({}, absl::Minutes(5), {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace bimbackup::bim360
