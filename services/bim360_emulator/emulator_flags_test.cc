#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "services/bim360_emulator/emulator_options.h"
#include "services/common/flags.h"

namespace bimbackup::bim360_emulator {
namespace {

class EmulatorFlagsTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name :
         {"APS_CLIENT_ID", "APS_CLIENT_SECRET", "APS_CLIENT_SECRET_FILE",
          "APS_ACCOUNT_ID", "BIM360_EMULATOR_ACCOUNT"}) {
      unsetenv(name);
    }
  }
  std::optional<int> Parse(std::vector<const char*> flags) {
    flags.insert(flags.begin(), "bim360-emulator");
    return ParseEmulatorFlags(static_cast<int>(flags.size()), flags.data(),
                              options_);
  }

  EmulatorOptions options_;
};

TEST_F(EmulatorFlagsTest, DefaultsAreThoseOfThePublicContract) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(options_.listen, "127.0.0.1:8360");
  EXPECT_EQ(options_.account, "demo");
  EXPECT_TRUE(options_.limits);
  EXPECT_FALSE(options_.batch_sign);
  EXPECT_EQ(options_.client_id, "emulator");
  EXPECT_EQ(options_.client_secret, "emulator");
  EXPECT_EQ(options_.account_id, "00000000-0000-4000-8000-000000000001");
  EXPECT_EQ(options_.token_lifetime, absl::Seconds(3599));
}

TEST_F(EmulatorFlagsTest, EveryFlagIsRead) {
  EXPECT_EQ(Parse({"--listen=127.0.0.1:0", "--account=account", "--seed=7",
                   "--time_scale=60", "--size_scale=0.001", "--limits=off",
                   "--api_latency=150ms", "--first_byte_latency=100ms",
                   "--connection_bandwidth=10MB/s", "--rollup=late",
                   "--rollup_delay=5s", "--rollup_delay_pages=9",
                   "--batch_sign=on", "--token_lifetime=10s",
                   "--public_url=http://emulator:8360", "--retry_after=date"}),
            std::nullopt);
  EXPECT_EQ(options_.account, "account");
  EXPECT_EQ(options_.seed, 7);
  EXPECT_EQ(options_.time_scale, 60);
  EXPECT_EQ(options_.size_scale, 0.001);
  EXPECT_FALSE(options_.limits);
  EXPECT_EQ(options_.api_latency, absl::Milliseconds(150));
  EXPECT_EQ(options_.first_byte_latency, absl::Milliseconds(100));
  EXPECT_EQ(options_.connection_bandwidth, 10'000'000);
  EXPECT_EQ(options_.rollup, RollupMode::kLate);
  EXPECT_EQ(options_.rollup_delay, absl::Seconds(5));
  EXPECT_EQ(options_.rollup_delay_pages, 9);
  EXPECT_TRUE(options_.batch_sign);
  EXPECT_EQ(options_.token_lifetime, absl::Seconds(10));
  EXPECT_EQ(options_.public_url, "http://emulator:8360");
  EXPECT_TRUE(options_.retry_after_date);
}

TEST_F(EmulatorFlagsTest, TheEnvironmentIsRead) {
  setenv("APS_CLIENT_ID", "id", 1);
  setenv("APS_CLIENT_SECRET", "secret", 1);
  setenv("APS_ACCOUNT_ID", "account", 1);
  setenv("BIM360_EMULATOR_ACCOUNT", "large-project", 1);
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(options_.client_id, "id");
  EXPECT_EQ(options_.client_secret, "secret");
  EXPECT_EQ(options_.account_id, "account");
  EXPECT_EQ(options_.account, "large-project");
}

TEST_F(EmulatorFlagsTest, BadValuesAreUsageErrors) {
  for (const char* bad :
       {"--limits=maybe", "--rollup=sometimes", "--api_latency=5",
        "--connection_bandwidth=fast", "--retry_after=never", "--time_scale=x",
        "--no_such_flag"}) {
    EXPECT_EQ(Parse({bad}), kExitUsage) << bad;
  }
  setenv("APS_CLIENT_SECRET", "secret", 1);
  setenv("APS_CLIENT_SECRET_FILE", "/no/such/file", 1);
  EXPECT_EQ(Parse({}), kExitUsage);
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
