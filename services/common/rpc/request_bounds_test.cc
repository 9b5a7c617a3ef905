#include "services/common/rpc/request_bounds.h"

#include <string>

#include "bimbackup/v1/coordinator_service.pb.h"
#include "bimbackup/v1/worker_pool_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/status_matchers.h"

namespace bimbackup::rpc {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

TEST(CheckRequestTest, TakesWhatIsWithinBounds) {
  v1::StartBackupRequest request;
  EXPECT_OK(CheckRequest(request));
  request.set_request_id(std::string(4096, 'x'));
  for (int i = 0; i < 1000; ++i)
    request.mutable_filter()->add_include("Tower/**");
  EXPECT_OK(CheckRequest(request));
}

TEST(CheckRequestTest, NamesTheTextThatIsTooLong) {
  v1::StartBackupRequest request;
  request.mutable_filter()->add_include("fine");
  request.mutable_filter()->add_include(std::string(1 << 20, '*'));
  EXPECT_THAT(CheckRequest(request),
              StatusIs(kInvalid,
                       "filter.include[1]: 1048576 bytes, over the limit "
                       "of 4096"));
  request.Clear();
  request.set_request_id(std::string(4097, 'x'));
  EXPECT_THAT(CheckRequest(request),
              StatusIs(kInvalid, HasSubstr("request_id: 4097 bytes")));
}

TEST(CheckRequestTest, NamesTheListThatIsTooLong) {
  v1::StartBackupRequest request;
  for (int i = 0; i < 1001; ++i) request.mutable_filter()->add_exclude("x");
  EXPECT_THAT(CheckRequest(request),
              StatusIs(kInvalid,
                       "filter.exclude: 1001 entries, over the limit of "
                       "1000"));
  EXPECT_OK(CheckRequest(request, {.max_elements = 2000}));
}

TEST(CheckRequestTest, LooksIntoMessagesWithin) {
  v1::SynchronizeRequest request;
  request.add_results();
  request.add_results()->set_message(std::string(5000, 'x'));
  EXPECT_THAT(CheckRequest(request),
              StatusIs(kInvalid, HasSubstr("results[1].message: 5000 bytes")));
  EXPECT_OK(CheckRequest(request, {.max_text_bytes = 5000}));
}

TEST(GrpcStatusTest, AMessageThatNoHeaderCouldHoldIsCut) {
  const grpc::Status status =
      ToGrpcStatus(absl::DataLossError(std::string(1 << 20, 'x') + "\n"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_LT(status.error_message().size(), 2100);
  EXPECT_THAT(status.error_message(), HasSubstr("(1048577 bytes)"));
  EXPECT_EQ(ToGrpcStatus(absl::NotFoundError("Pläne")).error_message(),
            "Pläne");
}

}  // namespace
}  // namespace bimbackup::rpc
