#include "clients/cli/commands.h"

#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "clients/cli/fake_coordinator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/flags.h"

namespace bimbackup::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const grpc::Status kGone(grpc::StatusCode::UNAVAILABLE, "restarting");

class CommandsTest : public testing::Test {
 protected:
  // Runs the command line `arguments` against the fake; returns its exit
  // code.
  int Run(std::vector<const char*> arguments) {
    CLI::App app("test", "bimbackup");
    CommandAction chosen;
    AddBackupCommand(app, chosen);
    AddWatchCommand(app, chosen);
    AddRecordCommands(app, chosen);
    AddWorkersCommand(app, chosen);
    AddSnapshotCommands(app, chosen);
    AddLimitsCommand(app, chosen);
    AddAcceptCommand(app, chosen);
    AddRebuildLatestCommand(app, chosen);
    AddHealthCommand(app, chosen);
    arguments.insert(arguments.begin(), "bimbackup");
    if (const auto code = ParseFlags(app, arguments.size(), arguments.data())) {
      return *code;
    }
    context_.coordinator = target_;
    context_.out = &out_;
    context_.err = &err_;
    return chosen(context_);
  }

  FakeCoordinator coordinator_;
  std::string target_ = coordinator_.address();
  CommandContext context_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CommandsTest, BackupWithoutWaitReturnsAtOnce) {
  EXPECT_EQ(Run({"backup"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("started backups/7"));
}

TEST_F(CommandsTest, BackupPassesOnWhatItIsAskedFor) {
  EXPECT_EQ(Run({"backup", "--project", "A", "--project=B", "--include", "A/**",
                 "--exclude", "*.bak", "--full-recheck"}),
            0);
  ASSERT_EQ(coordinator_.starts().size(), 1);
  const v1::StartBackupRequest request = coordinator_.starts()[0];
  EXPECT_THAT(request.filter().projects(), ElementsAre("A", "B"));
  EXPECT_THAT(request.filter().include(), ElementsAre("A/**"));
  EXPECT_THAT(request.filter().exclude(), ElementsAre("*.bak"));
  EXPECT_FALSE(request.validate_only());
  EXPECT_TRUE(request.full_recheck());
  EXPECT_FALSE(request.request_id().empty());
}

TEST_F(CommandsTest, BackupThatLosesItsAnswerIsRepeatedUnderOneRequestId) {
  coordinator_.LoseNextStart();
  EXPECT_EQ(Run({"backup"}), 0);
  ASSERT_EQ(coordinator_.starts().size(), 2);
  EXPECT_EQ(coordinator_.starts()[0].request_id(),
            coordinator_.starts()[1].request_id());
}

TEST_F(CommandsTest, BackupWaitEndsWithTheCodeOfTheState) {
  const auto exit_code_of = [this](v1::BackupState state) {
    coordinator_.AddWatch(
        {{v1::BACKUP_STATE_CRAWLING, state}, grpc::Status::OK});
    return Run({"backup", "--wait"});
  };
  EXPECT_EQ(exit_code_of(v1::BACKUP_STATE_SUCCEEDED), 0);
  EXPECT_EQ(exit_code_of(v1::BACKUP_STATE_PARTIAL), 3);
  EXPECT_EQ(exit_code_of(v1::BACKUP_STATE_FAILED), 1);
  EXPECT_EQ(exit_code_of(v1::BACKUP_STATE_CANCELLED), 1);
}

TEST_F(CommandsTest, ADryRunIsFollowedToItsEnd) {
  coordinator_.AddWatch(
      {{v1::BACKUP_STATE_CRAWLING, v1::BACKUP_STATE_SUCCEEDED},
       grpc::Status::OK});
  EXPECT_EQ(Run({"backup", "--dry-run"}), 0);
  ASSERT_EQ(coordinator_.starts().size(), 1);
  EXPECT_TRUE(coordinator_.starts()[0].validate_only());
  EXPECT_THAT(out_.str(), HasSubstr("backups/7 succeeded"));
}

TEST_F(CommandsTest, WatchGoesOnWhenTheCoordinatorComesBack) {
  coordinator_.AddWatch({{v1::BACKUP_STATE_CRAWLING}, kGone});
  coordinator_.AddWatch({{}, kGone});
  coordinator_.AddWatch({{v1::BACKUP_STATE_SUCCEEDED}, grpc::Status::OK});
  EXPECT_EQ(Run({"watch"}), 0);
  // Asked for the newest first, for the one that it was afterwards.
  EXPECT_THAT(coordinator_.watched(),
              ElementsAre("backups/-", "backups/7", "backups/7"));
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("trying again"), HasSubstr("answers again")));
}

TEST_F(CommandsTest, WatchGivesUpWhenTheCoordinatorStaysAway) {
  coordinator_.AddWatch({{v1::BACKUP_STATE_CRAWLING}, kGone});
  EXPECT_EQ(Run({"watch", "--patience", "1s"}), 4);
}

TEST_F(CommandsTest, WatchDoesNotRepeatWhatCannotSucceed) {
  coordinator_.AddWatch(
      {{}, grpc::Status(grpc::StatusCode::NOT_FOUND, "no backup 9")});
  EXPECT_EQ(Run({"watch", "9"}), 1);
  EXPECT_THAT(coordinator_.watched(), ElementsAre("backups/9"));
  EXPECT_THAT(err_.str(), HasSubstr("no backup 9"));
}

TEST_F(CommandsTest, AServerThatIsNotThereIsCodeFour) {
  target_ = "127.0.0.1:1";
  EXPECT_EQ(Run({"list"}), 4);
  EXPECT_EQ(Run({"health"}), 4);
}

TEST_F(CommandsTest, ListsAreReadToTheirEnd) {
  EXPECT_EQ(Run({"workers"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("worker "), HasSubstr("worker2"),
                                HasSubstr("worker3")));
}

TEST_F(CommandsTest, DrainSaysWhatTheWorkerStillHolds) {
  EXPECT_EQ(Run({"workers", "drain", "w1"}), 0);
  EXPECT_EQ(out_.str(), "w1 drains; it holds 5 transfers\n");
}

TEST_F(CommandsTest, AcceptPassesOnWhatIsAccepted) {
  EXPECT_EQ(Run({"accept", "-", "deletions", "--project", "A", "--project=B"}),
            0);
  const v1::AcceptChangesRequest request = coordinator_.accept_request();
  EXPECT_EQ(request.name(), "backups/-");
  EXPECT_EQ(request.kind(), v1::ACCEPT_KIND_DELETIONS);
  EXPECT_THAT(request.projects(), ElementsAre("A", "B"));
  EXPECT_EQ(out_.str(),
            "150 files and 2 folders in 1 project are gone from the next "
            "snapshot on\n");
  EXPECT_EQ(Run({"accept", "backups/7", "denied"}), 0);
  EXPECT_EQ(coordinator_.accept_request().kind(), v1::ACCEPT_KIND_DENIED);
  EXPECT_EQ(Run({"accept", "-"}), 2);
  EXPECT_EQ(Run({"accept", "-", "everything"}), 2);
}

TEST_F(CommandsTest, FailuresSayWhatCanBeAccepted) {
  EXPECT_EQ(Run({"failures"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("Tower/Plans: HTTP 403; guarded"),
                                HasSubstr("`bimbackup accept - deletions"),
                                HasSubstr("`bimbackup accept - denied"),
                                testing::Not(HasSubstr("HTTP 404  17"))));
  EXPECT_EQ(Run({"failures", "--attempts"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("w1  TRANSFER_OUTCOME_NOT_FOUND"),
                                HasSubstr("HTTP 404"), HasSubstr("(late)")));
}

TEST_F(CommandsTest, RebuildLatestIsFollowedToItsEnd) {
  EXPECT_EQ(Run({"rebuild-latest"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("snapshots/7: 9 of 9 entries"));
}

TEST_F(CommandsTest, LimitsPassOnOnlyWhatIsGiven) {
  EXPECT_EQ(Run({"limits", "--max_bandwidth=20MB", "--worker", "w"}), 0);
  EXPECT_EQ(coordinator_.limits_request().max_bandwidth(), 20'000'000);
  EXPECT_EQ(coordinator_.limits_request().worker_id(), "w");
  EXPECT_FALSE(coordinator_.limits_request().has_api_budget());
  EXPECT_EQ(Run({"limits", "--api_budget", "50%"}), 0);
  EXPECT_EQ(coordinator_.limits_request().api_budget(), "50%");
  EXPECT_FALSE(coordinator_.limits_request().has_max_bandwidth());
  EXPECT_EQ(Run({"limits", "--max_bandwidth=unlimited"}), 0);
  EXPECT_TRUE(coordinator_.limits_request().has_max_bandwidth());
  EXPECT_EQ(coordinator_.limits_request().max_bandwidth(), 0);
}

TEST_F(CommandsTest, LimitsWithoutFlagsAreShown) {
  EXPECT_EQ(Run({"limits"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("API budget: 90%"),
                                HasSubstr("bandwidth of all workers: unlim")));
  EXPECT_EQ(Run({"limits", "--worker", "w"}), 2);
  EXPECT_EQ(Run({"limits", "--max_bandwidth", "fast"}), 2);
}

TEST_F(CommandsTest, AListWithoutEndIsRefused) {
  EXPECT_EQ(Run({"snapshots"}), 1);
}

TEST_F(CommandsTest, HealthOfARunningServer) {
  EXPECT_EQ(Run({"health"}), 0);
  EXPECT_EQ(out_.str(), "SERVING\n");
}

TEST_F(CommandsTest, BadFlagsAreUsageErrors) {
  EXPECT_EQ(Run({"watch", "--patience", "soon"}), 2);
  EXPECT_EQ(Run({"backup", "--nonsense"}), 2);
  EXPECT_EQ(Run({"list", "--limit", "0"}), 2);
  EXPECT_EQ(Run({"workers", "drain"}), 2);
}

}  // namespace
}  // namespace bimbackup::cli
