// The command line over storages alone, and what is shown; what comes through
// a coordinator is tested where the coordinator is.

#include "clients/cli/verify/verify_command.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "clients/cli/verify/verify_report.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/flags.h"
#include "services/common/status_matchers.h"

namespace bimbackup::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class VerifyCommandTest : public testing::Test {
 protected:
  // Runs `bimbackup verify` with these arguments; returns its exit code.
  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    CLI::App app("test", "bimbackup");
    app.fallthrough();
    CommandAction chosen;
    AddVerifyCommand(app, chosen);
    std::vector<const char*> pointers = {"bimbackup", "verify"};
    for (const std::string& argument : arguments) {
      pointers.push_back(argument.c_str());
    }
    if (const auto code = ParseFlags(app, static_cast<int>(pointers.size()),
                                     pointers.data())) {
      return *code;
    }
    context_.coordinator = rpc::Target("127.0.0.1:1");
    context_.out = &out_;
    context_.err = &err_;
    return chosen(context_);
  }

  // A snapshot of one project whose manifest is missing, or of none.
  void MakeSnapshot(bool damaged) {
    storage::OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    const auto storage = *storage::OpenStorage(options);
    storage::format::Snapshot snapshot;
    snapshot.id = "1";
    snapshot.backup_id = "1";
    snapshot.state = "SUCCEEDED";
    snapshot.start_time = snapshot.end_time = absl::FromUnixSeconds(1.7e9);
    if (damaged) {
      auto& project = snapshot.projects.emplace_back();
      project.project_id = "b.1";
      project.name = "Tower\x1b[31m";
      project.manifest_sha256 = std::string(64, 'a');
    }
    ASSERT_OK(storage::format::WriteSnapshot(*storage, snapshot));
  }

  std::string storage_flag() const { return "--storage=" + folder_.path(); }

  storage::TempFolder folder_;
  CommandContext context_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(VerifyCommandTest, AWholeSnapshotIsSuccess) {
  MakeSnapshot(/*damaged=*/false);
  EXPECT_EQ(Run({storage_flag()}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("snapshots/1: whole"));
  EXPECT_EQ(Run({"1", storage_flag()}), 0);
  EXPECT_EQ(Run({"snapshots/1", storage_flag(), "--part=3/30",
                 "--max_bandwidth=50MB"}),
            0);
  EXPECT_EQ(Run({"2", storage_flag()}), 1);
}

TEST_F(VerifyCommandTest, DamageIsNamedAndHasAnExitCodeOfItsOwn) {
  MakeSnapshot(/*damaged=*/true);
  EXPECT_EQ(Run({storage_flag()}), 3);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("damaged: manifest of Tower\\x1b[31m"),
                    HasSubstr("manifests/sha256/aaa/"),
                    HasSubstr("snapshots/1: 1 damaged"), Not(HasSubstr("\x1b")),
                    Not(HasSubstr("next backup"))));
  context_.output = Output::kJson;
  EXPECT_EQ(Run({storage_flag()}), 3);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\"DAMAGE_KIND_MANIFEST\""),
                                HasSubstr("\"done\":true")));
}

TEST_F(VerifyCommandTest, BadInputIsOneLineAndAUsageError) {
  for (const char* bad :
       {"--part=0/3", "--part=4/3", "--part=3", "--part=a/b", "--percent=0",
        "--percent=101", "--max_bandwidth=fast", "--storage=s3://x"}) {
    EXPECT_EQ(Run({bad}), 2) << bad;
  }
  EXPECT_EQ(Run({"--percent=5", "--part=1/2"}), 2);
  EXPECT_EQ(Run({"--storage=/nowhere"}), 1);
  EXPECT_EQ(Run({"backups/1", storage_flag()}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("'backups/1' is no snapshot"));
}

TEST_F(VerifyCommandTest, ACoordinatorThatIsNotThereIsUnreachable) {
  EXPECT_EQ(Run({}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("cannot reach the coordinator at "));
}

TEST(VerifyReportTest, DamageSaysWhatFollows) {
  v1::Damage damage;
  damage.set_kind(v1::DAMAGE_KIND_WRONG_SIZE);
  damage.set_key("blobs/sha256/abc/abc");
  damage.set_project_name("Tower");
  damage.add_path("Plans");
  damage.add_path("a.dwg");
  damage.set_files(3);
  damage.set_message("it has 2 bytes instead of 5");
  damage.set_will_be_fetched(true);
  EXPECT_EQ(RenderDamage(damage, /*offline=*/false),
            "damaged: Tower/Plans/a.dwg (and 2 more): it has 2 bytes instead "
            "of 5 [blobs/sha256/abc/abc]; the next backup fetches it again");
  damage.set_kind(v1::DAMAGE_KIND_SNAPSHOT);
  damage.set_will_be_fetched(false);
  EXPECT_THAT(RenderDamage(damage, false),
              AllOf(HasSubstr("snapshot file"), HasSubstr("cannot mend")));
}

TEST(VerifyReportTest, ATerminalKeepsDamageAboveTheBar) {
  FakeClock clock;
  std::ostringstream out;
  CommandContext context;
  context.terminal = true;
  context.out = &out;
  VerifyReport report(context, clock, /*offline=*/false);
  v1::VerifySnapshotResponse response;
  response.set_name("snapshots/1");
  response.set_bytes_to_read(200);
  response.set_bytes_read(100);
  report.Show(response);
  EXPECT_THAT(out.str(), HasSubstr("50 %"));
  response.add_damage()->set_key("blobs/x");
  response.set_damaged(1);
  report.Show(response);
  EXPECT_THAT(out.str(), HasSubstr("\r\x1b[Kdamaged: "));
  response.clear_damage();
  response.set_done(true);
  report.Show(response);
  EXPECT_EQ(report.Finish(), 3);
  EXPECT_THAT(out.str(), HasSubstr("snapshots/1: 1 damaged"));
}

}  // namespace
}  // namespace bimbackup::cli
