#include "clients/cli/retention/retention_commands.h"

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "services/common/flags.h"
#include "services/common/mutex.h"
#include "services/common/rpc/grpc_server.h"

namespace bimbackup::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Forgets one of two snapshots, whatever it is asked.
class Coordinator : public v1::CoordinatorService::Service {
 public:
  grpc::Status ForgetSnapshots(
      grpc::ServerContext*, const v1::ForgetSnapshotsRequest* request,
      grpc::ServerWriter<v1::ForgetSnapshotsResponse>* writer) override {
    MutexLock lock(mutex_);
    forgets_.push_back(*request);
    v1::ForgetSnapshotsResponse response;
    v1::SnapshotDecision& stays = *response.add_decisions();
    stays.mutable_snapshot()->set_name("snapshots/2");
    stays.set_kept(true);
    stays.add_reasons("newest");
    stays.add_reasons("daily");
    response.add_decisions()->mutable_snapshot()->set_name("snapshots/1");
    writer->Write(response);
    response.Clear();
    response.set_snapshots_removed(1);
    response.set_manifests_removed(2);
    writer->Write(response);
    if (!end_.ok()) return end_;
    response.set_blobs_removed(1234);
    response.set_bytes_removed(5'000'000);
    response.set_blobs_kept(3);
    response.set_done(true);
    writer->Write(response);
    return grpc::Status::OK;
  }

  grpc::Status ProtectSnapshot(grpc::ServerContext*,
                               const v1::ProtectSnapshotRequest* request,
                               v1::ProtectSnapshotResponse* response) override {
    response->mutable_snapshot()->set_name(request->name());
    response->mutable_snapshot()->set_is_protected(request->is_protected());
    return grpc::Status::OK;
  }

  void EndWith(grpc::Status status) {
    MutexLock lock(mutex_);
    end_ = std::move(status);
  }
  std::vector<v1::ForgetSnapshotsRequest> forgets() {
    MutexLock lock(mutex_);
    return forgets_;
  }

 private:
  Mutex mutex_;
  std::vector<v1::ForgetSnapshotsRequest> forgets_ ABSL_GUARDED_BY(mutex_);
  grpc::Status end_ ABSL_GUARDED_BY(mutex_);
};

class RetentionCommandsTest : public testing::Test {
 protected:
  int Run(std::vector<const char*> arguments) {
    out_.str("");
    err_.str("");
    CLI::App app("test", "bimbackup");
    CommandAction chosen;
    AddForgetCommand(app, chosen);
    AddProtectCommand(app, chosen);
    arguments.insert(arguments.begin(), "bimbackup");
    if (const auto code = ParseFlags(app, static_cast<int>(arguments.size()),
                                     arguments.data())) {
      return *code;
    }
    context_.coordinator = rpc::Target(server_->address());
    context_.out = &out_;
    context_.err = &err_;
    return chosen(context_);
  }

  Coordinator coordinator_;
  const std::unique_ptr<rpc::GrpcServer> server_ =
      *rpc::GrpcServer::Start("127.0.0.1:0", {&coordinator_});
  CommandContext context_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(RetentionCommandsTest, ForgetPassesThePolicyOn) {
  EXPECT_EQ(Run({"forget", "--keep-last", "1", "--keep-daily=2",
                 "--keep_weekly", "3", "--keep-monthly", "4", "--keep-yearly",
                 "5", "--keep-within", "1y6m", "--dry-run"}),
            0);
  ASSERT_EQ(coordinator_.forgets().size(), 1);
  const v1::ForgetSnapshotsRequest request = coordinator_.forgets()[0];
  EXPECT_EQ(request.policy().keep_last(), 1);
  EXPECT_EQ(request.policy().keep_daily(), 2);
  EXPECT_EQ(request.policy().keep_weekly(), 3);
  EXPECT_EQ(request.policy().keep_monthly(), 4);
  EXPECT_EQ(request.policy().keep_yearly(), 5);
  EXPECT_EQ(request.policy().keep_within(), "1y6m");
  EXPECT_TRUE(request.validate_only());
  EXPECT_FALSE(request.sweep_only());
}

TEST_F(RetentionCommandsTest, ForgetShowsWhatStaysAndGoesAndComesOfIt) {
  EXPECT_EQ(Run({"forget", "--keep-daily", "1"}), 0);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("stays  newest, daily"), HasSubstr("goes"),
                    HasSubstr("removed 1 snapshots, 2 manifests, 1,234 blobs "
                              "of 5.0 MB; 3 blobs stay")));
  EXPECT_EQ(Run({"forget", "--keep-daily", "1", "--dry-run"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("would go"),
                                HasSubstr("would remove 1 snapshots"),
                                HasSubstr("nothing was removed")));
}

TEST_F(RetentionCommandsTest, ForgetTakesNamesOrSweeps) {
  EXPECT_EQ(Run({"forget", "1", "snapshots/2"}), 0);
  EXPECT_EQ(Run({"forget", "--sweep"}), 0);
  ASSERT_EQ(coordinator_.forgets().size(), 2);
  EXPECT_THAT(coordinator_.forgets()[0].names(),
              ElementsAre("snapshots/1", "snapshots/2"));
  EXPECT_TRUE(coordinator_.forgets()[1].sweep_only());
}

TEST_F(RetentionCommandsTest, ForgetWithoutJustOneOfThemIsAUsageError) {
  EXPECT_EQ(Run({"forget"}), 2);
  EXPECT_EQ(Run({"forget", "--keep-last", "0"}), 2);
  EXPECT_EQ(Run({"forget", "1", "--keep-last", "1"}), 2);
  EXPECT_EQ(Run({"forget", "1", "--sweep"}), 2);
  EXPECT_EQ(Run({"forget", "--keep-last", "-1"}), 2);
  EXPECT_EQ(Run({"forget", "--keep-last", "many"}), 2);
  EXPECT_TRUE(coordinator_.forgets().empty());
}

TEST_F(RetentionCommandsTest, ForgetThatFailsSaysWhatWasDecidedAndWhy) {
  coordinator_.EndWith(
      grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "manifest x"));
  EXPECT_EQ(Run({"forget", "--keep-last", "1"}), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("goes"), Not(HasSubstr("removed"))));
  EXPECT_THAT(err_.str(), HasSubstr("manifest x"));
  coordinator_.EndWith(
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no span"));
  EXPECT_EQ(Run({"forget", "--keep-within", "1w"}), 2);
}

TEST_F(RetentionCommandsTest, ProtectSaysWhatItDid) {
  EXPECT_EQ(Run({"protect", "7"}), 0);
  EXPECT_EQ(out_.str(), "snapshots/7 is protected\n");
  EXPECT_EQ(Run({"protect", "latest", "--off"}), 0);
  EXPECT_EQ(out_.str(), "snapshots/- is no longer protected\n");
  EXPECT_EQ(Run({"protect"}), 2);
}

}  // namespace
}  // namespace bimbackup::cli
