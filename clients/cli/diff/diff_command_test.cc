// The command line over a storage alone; what comes through a coordinator is
// tested with one.

#include "clients/cli/diff/diff_command.h"

#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "clients/snapshots/snapshots_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/flags.h"

namespace bimbackup::cli {
namespace {

using testing::HasSubstr;

class DiffCommandTest : public testing::Test,
                        protected snapshots::SnapshotsFixture {
 protected:
  DiffCommandTest() {
    PutSnapshot(1, {PutManifest({Folder(""), File("a.txt", "a")})});
    PutSnapshot(
        2, {PutManifest({Folder(""), File("a.txt", "b", 2), Folder("new\n")})});
    PutSnapshot(3, {PutManifest({Folder("")})});
  }

  int Run(std::vector<std::string> arguments, bool offline = true) {
    out_.str("");
    err_.str("");
    CLI::App app("test", "bimbackup");
    CommandAction chosen;
    AddDiffCommand(app, chosen);
    arguments.insert(arguments.begin(), {"bimbackup", "diff"});
    if (offline) arguments.push_back("--storage=" + path());
    std::vector<const char*> pointers;
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

  CommandContext context_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DiffCommandTest, TheNewestAgainstTheOneBeforeWhereNoneIsNamed) {
  EXPECT_EQ(Run({}), 0);
  EXPECT_EQ(out_.str(), "- Tower/a.txt\n- Tower/new\\x0a/\n");
}

TEST_F(DiffCommandTest, NamedSnapshotsAndAGlob) {
  EXPECT_EQ(Run({Id(1), "snapshots/" + Id(2)}), 0);
  EXPECT_EQ(out_.str(), "M Tower/a.txt\n+ Tower/new\\x0a/\n");
  EXPECT_EQ(Run({Id(1), Id(2), "Tower/*.txt"}), 0);
  EXPECT_EQ(out_.str(), "M Tower/a.txt\n");
  EXPECT_EQ(Run({Id(1), "--glob=Tower/*.txt"}), 0);
  EXPECT_EQ(out_.str(), "- Tower/a.txt\n");
}

TEST_F(DiffCommandTest, JsonHoldsTheMessages) {
  context_.output = Output::kJson;
  EXPECT_EQ(Run({Id(1), Id(2)}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\"kind\":\"CHANGE_KIND_CHANGED\""));
}

TEST_F(DiffCommandTest, ExitCodes) {
  EXPECT_EQ(Run({Id(1), Id(9)}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("there is no snapshots/" + Id(9)));
  EXPECT_EQ(Run({Id(1), Id(2), "["}), 2);
  EXPECT_EQ(Run({}, /*offline=*/false), 4);
  EXPECT_EQ(Run({"a", "b", "c", "d"}), 2);
}

}  // namespace
}  // namespace bimbackup::cli
