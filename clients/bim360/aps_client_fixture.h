// An ApsClient in front of scripted answers, for its tests.

#ifndef CLIENTS_BIM360_APS_CLIENT_FIXTURE_H_
#define CLIENTS_BIM360_APS_CLIENT_FIXTURE_H_

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/aps_client.h"
#include "clients/http/fake_transport.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {

inline constexpr char kToken[] = "/authentication/v2/token";
inline constexpr char kEmptyPage[] = R"({"data":[]})";
class ApsClientTest : public testing::Test {
 protected:
  ApsClientTest() { options_ = Options(); }

  static ApsClientOptions Options() {
    ApsClientOptions options;
    options.base_url = "https://api.test";
    options.client_id = "the-client";
    options.client_secret = Secret("the-secret");
    // No waits between attempts: the fake clock stands still.
    options.backoff.initial = absl::ZeroDuration();
    return options;
  }

  void AddToken(int times = -1) {
    transport_.AddRule(
        [](const http::Request& r) { return absl::EndsWith(r.url, kToken); },
        [this](const http::Request&) {
          http::FakeTransport::Answer answer;
          answer.response = {
              200,
              {},
              absl::StrCat(R"({"access_token":"token-)", ++tokens_,
                           R"(","expires_in":3599})")};
          return answer;
        },
        times);
  }

  // The next `times` calls to URLs with `part` get this answer.
  void Answer(absl::string_view part, int status, absl::string_view body,
              http::Headers headers = {}, int times = -1) {
    http::FakeTransport::Answer answer;
    answer.response = {status, std::move(headers),
                       std::string(body.data(), body.size())};
    transport_.AddRule(
        [part = std::string(part.data(), part.size())](const http::Request& r) {
          return absl::StrContains(r.url, part);
        },
        answer, times);
  }

  ApsClient& client() {
    if (client_ == nullptr) {
      auto client =
          ApsClient::Create(options_, transport_, limiter_, clock_, random_);
      EXPECT_OK(client);
      client_ = *std::move(client);
    }
    return *client_;
  }

  absl::StatusOr<FolderPage> List() {
    return client().ListFolderContents("b.p", "urn:f:co.-x", "", {});
  }

  // Runs `call` on a thread and moves time to the end of every pause until it
  // has ended; returns how much time that took.
  absl::Duration Elapse(const std::function<void()>& call) {
    const absl::Duration start = clock_.Monotonic();
    std::atomic<bool> done = false;
    std::jthread caller([&] {
      call();
      done = true;
    });
    while (!done) {
      const ApiLimiter::Usage usage =
          limiter_.GetUsage(EndpointClass::kFolders);
      const absl::Duration left = usage.paused_until - clock_.Monotonic();
      if (usage.waiting > 0 && left > absl::ZeroDuration()) {
        clock_.Advance(left);
      }
      std::this_thread::yield();
    }
    return clock_.Monotonic() - start;
  }

  FakeClock clock_;
  SeededRandom random_{7};
  ApiLimiter limiter_{std::numeric_limits<double>::infinity(), clock_};
  http::FakeTransport transport_;
  ApsClientOptions options_;
  std::atomic<int> tokens_ = 0;
  std::unique_ptr<ApsClient> client_;
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_APS_CLIENT_FIXTURE_H_
