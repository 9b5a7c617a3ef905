// How a file is cut finer for slots that nobody else can use.

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/download_worker/engine/engine_fixture.h"

namespace bimbackup::engine {
namespace {

using testing::Each;
using testing::SizeIs;

constexpr int64_t kPart = 16 << 10;

// A file of four parts, of which the third fails until the others have been
// answered, and three times more: then it alone may be asked for.
class SpareSlotsTest : public EngineFixture {
 protected:
  // Which of the four parts the request's first byte lies in.
  static int64_t PartOf(const http::Request& request) {
    const auto range = http::FindHeader(request.headers, "Range");
    if (!range.has_value()) return -1;
    const std::vector<std::string> limits =
        absl::StrSplit(absl::StripPrefix(*range, "bytes="), '-');
    int64_t begin = 0;
    EXPECT_TRUE(absl::SimpleAtoi(limits[0], &begin));
    return begin / kPart;
  }

  void FailThirdPart() {
    http::FakeTransport::Answer answer;
    answer.response.status = 503;
    origin_.transport().AddRule(
        [this](const http::Request& request) {
          if (PartOf(request) == 2) return others_ < 3 || failures_left_-- > 0;
          ++others_;
          return false;
        },
        answer);
  }

  std::vector<http::Request> RequestsFor(int64_t part) {
    std::vector<http::Request> requests;
    for (const http::Request& request : origin_.transport().Requests()) {
      if (PartOf(request) == part) requests.push_back(request);
    }
    return requests;
  }

  void Start() {
    EngineOptions options = QuickOptions();
    options.parts.smallest_spare = kPart / 4;
    options.backoff.max_attempts = 1000;
    StartEngine(options);
  }

  // Of the transport's thread.
  int others_ = 0;
  int failures_left_ = 3;
};

TEST_F(SpareSlotsTest, APartThatMustWaitIsNotAskedForByHalves) {
  const TransferTask task = Put(1, "file", AperiodicBytes(4 * kPart, 1));
  FailThirdPart();
  http::FakeTransport::Answer later;
  later.response.status = 503;
  later.response.headers = {{"Retry-After", "3600"}};
  origin_.transport().AddRule(
      [](const http::Request& request) { return PartOf(request) == 1; }, later);
  Start();
  Submit(task);
  EXPECT_TRUE(Eventually(
      [this] { return engine_->Progress().at(0).bytes_done == 3 * kPart; }));
  EXPECT_THAT(RequestsFor(1), SizeIs(1));
}

TEST_F(SpareSlotsTest, HalvesOfAPartHaveFailedAsOftenAsIt) {
  const std::string bytes = AperiodicBytes(4 * kPart, 1);
  const TransferTask task = Put(1, "file", bytes);
  FailThirdPart();
  Start();
  ExpectStored(Run(task), bytes);
  std::vector<http::Request> requests = RequestsFor(2);
  ASSERT_GT(requests.size(), 5u) << "it was not cut";
  requests.erase(requests.begin());
  EXPECT_THAT(requests,
              Each(testing::Field(&http::Request::fresh_connection, true)));
}

}  // namespace
}  // namespace bimbackup::engine
