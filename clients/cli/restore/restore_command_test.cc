// The command line over storages alone; what comes through a coordinator is
// tested where the coordinator is.

#include "clients/cli/restore/restore_command.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "clients/cli/commands.h"
#include "clients/snapshots/snapshots_fixture.h"
#include "gmock/gmock.h"
#include "services/common/flags.h"

namespace bimbackup::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RestoreCommandTest : public testing::Test {
 protected:
  RestoreCommandTest() {
    for (const int version : {1, 2}) {
      storage_.PutSnapshot(
          version,
          {storage_.PutManifest(
              {storage_.Folder(""), storage_.Folder("Plans"),
               storage_.File("Plans/a.dwg", version == 1 ? "first" : "second",
                             version),
               storage_.File("b.txt", "text")})});
    }
  }

  // Runs `bimbackup` with these arguments; returns its exit code.
  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    CLI::App app("test", "bimbackup");
    app.fallthrough();
    CommandAction chosen;
    AddSnapshotCommands(app, chosen);
    AddRestoreCommand(app, chosen);
    std::vector<const char*> pointers = {"bimbackup"};
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

  int Restore(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "restore");
    arguments.push_back("--to=" + to_);
    arguments.push_back("--storage=file://" + storage_.path());
    return Run(std::move(arguments));
  }

  std::string Read(const std::string& path) {
    return storage::ReadWholeFile(absl::StrCat(to_, "/", path));
  }

  snapshots::SnapshotsFixture storage_;
  storage::TempFolder folder_;
  std::string to_ = folder_ / "to";
  CommandContext context_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(RestoreCommandTest, RestoresTheNewestSnapshotByEachOfItsNames) {
  for (const char* name : {"-", "latest", "snapshots/-", "snapshots/latest"}) {
    EXPECT_EQ(Restore({name}), 0) << err_.str();
    EXPECT_EQ(Read("Tower/Plans/a.dwg"), "second");
    std::filesystem::remove_all(to_);
  }
  EXPECT_THAT(out_.str(), HasSubstr("restored 2 files"));
}

TEST_F(RestoreCommandTest, RestoresAnOlderSnapshotByItsId) {
  EXPECT_EQ(Restore({storage_.Id(1), "Tower/Plans"}), 0);
  EXPECT_EQ(Read("Tower/Plans/a.dwg"), "first");
  EXPECT_FALSE(std::filesystem::exists(to_ + "/Tower/b.txt"));
  EXPECT_EQ(Restore({"snapshots/" + storage_.Id(1), "**/b.*"}), 0);
  EXPECT_EQ(Read("Tower/b.txt"), "text");
}

TEST_F(RestoreCommandTest, OverwritesAsItIsTold) {
  EXPECT_EQ(Restore({"-"}), 0);
  storage::WriteWholeFile(to_ + "/Tower/b.txt", "mine");
  EXPECT_EQ(Restore({"-", "--overwrite=never"}), 0);
  EXPECT_EQ(Read("Tower/b.txt"), "mine");
  EXPECT_EQ(Restore({"-", "--overwrite=if-different"}), 0);
  EXPECT_EQ(Read("Tower/b.txt"), "text");
  EXPECT_EQ(Restore({"-", "--overwrite=always"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("restored 2 files"));
}

TEST_F(RestoreCommandTest, DryRunListsAndWritesNothing) {
  EXPECT_EQ(Restore({"-", "--dry-run"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("restored    Tower/b.txt"),
                                HasSubstr("would restore 2 files")));
  EXPECT_FALSE(std::filesystem::exists(to_));
}

TEST_F(RestoreCommandTest, RestoresEveryVersionOfAnItemByPathOrId) {
  EXPECT_EQ(Restore({"-", "--item=Tower/Plans/a.dwg"}), 0) << err_.str();
  EXPECT_EQ(Read("a (version 1).dwg"), "first");
  EXPECT_EQ(Read("a (version 2).dwg"), "second");
  std::filesystem::remove_all(to_);
  EXPECT_EQ(Restore({"-", "--item=item:Plans_x"}), 1);
  EXPECT_EQ(Restore({"-", "--item=Tower/Plans"}), 2);
  EXPECT_EQ(Restore({"-", "--item=Tower/none"}), 1);
  EXPECT_EQ(Restore({"-", "Tower", "--item=item:b.txt"}), 2);
  EXPECT_FALSE(std::filesystem::exists(to_));
  EXPECT_EQ(Restore({"-", "--item=item:b.txt"}), 0);
  EXPECT_EQ(Read("b (version 1).txt"), "text");
}

TEST_F(RestoreCommandTest, DamageIsNamedAndMakesThree) {
  const std::string blob = storage_.BlobPath(Sha256Hex("second"));
  storage_.Overwrite(blob, "sekond");
  EXPECT_EQ(Restore({"-"}), 3);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("damaged     Tower/Plans/a.dwg"),
                                HasSubstr("restored 1 file")));
}

TEST_F(RestoreCommandTest, JsonIsOneObjectALine) {
  context_.output = Output::kJson;
  EXPECT_EQ(Restore({"-", "Tower/b.txt"}), 0);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr(R"({"outcome":"restored","localPath":)"),
                    HasSubstr(R"("bytes":4)")));
}

TEST_F(RestoreCommandTest, SaysInOneLineWhatCannotBe) {
  EXPECT_EQ(Restore({"20200101T000000Z-00000000"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("there is no snapshot 2020"));
  EXPECT_EQ(Restore({"-", "Tower/none"}), 1);
  EXPECT_EQ(Restore({"-", "Tower/["}), 2);
  EXPECT_EQ(Run({"restore", "-", "--to=" + to_, "--storage=s3://x"}), 2);
  EXPECT_EQ(Run({"restore", "-", "--to=" + to_, "--storage=/nowhere"}), 1);
  EXPECT_EQ(Run({"restore", "-"}), 2);
  EXPECT_EQ(Run({"restore", "--to=" + to_}), 2);
  EXPECT_EQ(Restore({"-", "--overwrite=perhaps"}), 2);
  to_ = folder_ / "no/parent";
  EXPECT_EQ(Restore({"-"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no/parent"));
}

TEST_F(RestoreCommandTest, ACoordinatorThatIsNotThereIsFour) {
  EXPECT_EQ(Run({"restore", "-", "--to=" + to_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("cannot reach the coordinator"));
  EXPECT_FALSE(std::filesystem::exists(to_));
}

TEST_F(RestoreCommandTest, ListsAStorageWithoutACoordinator) {
  storage_.PutSnapshot(3, {});
  storage_.Overwrite(storage_.SnapshotPath(storage_.Id(3)), "{");
  const std::string flag = "--storage=" + storage_.path();
  EXPECT_EQ(Run({"snapshots", flag}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(storage_.Id(1)),
                                HasSubstr(storage_.Id(3) + "  DAMAGED")));
  EXPECT_EQ(Run({"ls", "latest", flag}), 1);
  EXPECT_THAT(err_.str(), HasSubstr(storage_.Id(3)));
  EXPECT_EQ(Restore({"-"}), 1);
  EXPECT_EQ(Run({"ls", storage_.Id(2), flag}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("Tower/Plans/\n"),
                                HasSubstr("Tower/Plans/a.dwg\n")));
  EXPECT_EQ(Run({"ls", storage_.Id(2), "**/*.txt", flag}), 0);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("Tower/b.txt"), Not(HasSubstr("a.dwg"))));
  EXPECT_EQ(Run({"ls", storage_.Id(2), "[", flag}), 2);
  EXPECT_EQ(Restore({storage_.Id(2)}), 0);
}

}  // namespace
}  // namespace bimbackup::cli
