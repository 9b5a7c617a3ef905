#include "services/common/flags.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;

TEST(FlagsTest, UnknownFlagIsAUsageError) {
  CLI::App app("test", "program");
  const char* argv[] = {"program", "--no_such_flag"};
  EXPECT_EQ(ParseFlags(app, 2, argv), kExitUsage);
}

TEST(FlagsTest, EnvironmentTwinIsReadAndTheFlagWins) {
  setenv("BIMBACKUP_FLAGS_TEST", "from environment", 1);
  std::string value;
  CLI::App app("test", "program");
  app.add_option("--value", value)->envname("BIMBACKUP_FLAGS_TEST");
  const char* argv[] = {"program", "--value=from flag"};
  EXPECT_EQ(ParseFlags(app, 1, argv), std::nullopt);
  EXPECT_EQ(value, "from environment");
  EXPECT_EQ(ParseFlags(app, 2, argv), std::nullopt);
  EXPECT_EQ(value, "from flag");
  unsetenv("BIMBACKUP_FLAGS_TEST");
}

TEST(FlagsTest, LastOfTwoValuesWinsAndListsKeepAll) {
  std::string value;
  std::vector<std::string> list;
  CLI::App app("test", "program");
  app.add_option("--value", value);
  app.add_subcommand("run")->add_option("--item", list);
  const char* argv[] = {"program", "--value=1", "--value=2",
                        "run",     "--item=a",  "--item=b"};
  EXPECT_EQ(ParseFlags(app, 6, argv), std::nullopt);
  EXPECT_EQ(value, "2");
  EXPECT_EQ(list, (std::vector<std::string>{"a", "b"}));
}

TEST(FlagsTest, Durations) {
  EXPECT_THAT(ParseDurationFlag("1h30m"), IsOkAndHolds(absl::Minutes(90)));
  EXPECT_THAT(ParseDurationFlag("0"), IsOkAndHolds(absl::ZeroDuration()));
  for (const char* bad : {"", "5", "5 minutes", "-5m", "m"}) {
    EXPECT_THAT(ParseDurationFlag(bad),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
}

TEST(FlagsTest, Bytes) {
  EXPECT_THAT(ParseBytesFlag("0"), IsOkAndHolds(0));
  EXPECT_THAT(ParseBytesFlag("64KiB"), IsOkAndHolds(65536));
  EXPECT_THAT(ParseBytesFlag("8MB/s"), IsOkAndHolds(8'000'000));
  EXPECT_THAT(ParseBytesFlag("1.5 GiB"), IsOkAndHolds(1610612736));
  for (const char* bad : {"", "MB", "-1", "1e30", "12 parsecs", "nan"}) {
    EXPECT_THAT(ParseBytesFlag(bad),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
}

TEST(FlagsTest, Shares) {
  EXPECT_THAT(ParseShareFlag("90%"), IsOkAndHolds(0.9));
  EXPECT_THAT(ParseShareFlag("1000%"), IsOkAndHolds(10));
  EXPECT_TRUE(std::isinf(ParseShareFlag("unlimited").value()));
  for (const char* bad : {"", "90", "0%", "-5%", "%", "inf%", "1e-322%"}) {
    EXPECT_THAT(ParseShareFlag(bad),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
}

TEST(FlagsTest, SecretComesFromTheEnvironmentOrAFileButNotBoth) {
  EXPECT_THAT(ReadSecretFromEnvironment("BIMBACKUP_TEST_SECRET"),
              StatusIs(absl::StatusCode::kNotFound));
  const std::string path = testing::TempDir() + "flags_test_secret";
  std::ofstream(path) << "s3cret\n";
  setenv("BIMBACKUP_TEST_SECRET_FILE", path.c_str(), 1);
  ASSERT_OK_AND_ASSIGN(const Secret secret,
                       ReadSecretFromEnvironment("BIMBACKUP_TEST_SECRET"));
  EXPECT_EQ(secret.Reveal(), "s3cret");
  setenv("BIMBACKUP_TEST_SECRET", "other", 1);
  EXPECT_THAT(ReadSecretFromEnvironment("BIMBACKUP_TEST_SECRET"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  unsetenv("BIMBACKUP_TEST_SECRET");
  setenv("BIMBACKUP_TEST_SECRET_FILE", "/no/such/file", 1);
  EXPECT_THAT(ReadSecretFromEnvironment("BIMBACKUP_TEST_SECRET"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  unsetenv("BIMBACKUP_TEST_SECRET_FILE");
}

}  // namespace
}  // namespace bimbackup
