#include "services/download_worker/options.h"

#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::download_worker {
namespace {

ParsedOptions Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "bimbackup-worker");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(OptionsTest, NeedsAStorage) {
  EXPECT_EQ(Parse({}).exit_code, 2);
  const ParsedOptions parsed = Parse({"--storage=/backup"});
  EXPECT_FALSE(parsed.exit_code.has_value());
  EXPECT_EQ(parsed.options.storage, "/backup");
  EXPECT_EQ(parsed.options.coordinator, "127.0.0.1:50051");
  EXPECT_EQ(parsed.options.listen, "127.0.0.1:50052");
}

TEST(OptionsTest, ReadsTheEnvironment) {
  setenv("BIMBACKUP_STORAGE", "file:///backup", 1);
  setenv("BIMBACKUP_COORDINATOR", "coordinator:50051", 1);
  const ParsedOptions parsed = Parse({});
  unsetenv("BIMBACKUP_STORAGE");
  unsetenv("BIMBACKUP_COORDINATOR");
  EXPECT_FALSE(parsed.exit_code.has_value());
  EXPECT_EQ(parsed.options.storage, "file:///backup");
  EXPECT_EQ(parsed.options.coordinator, "coordinator:50051");
}

TEST(OptionsTest, ReadsSizesTimesAndHosts) {
  const ParsedOptions parsed =
      Parse({"--storage=/b", "--max_bandwidth=20MB/s", "--idle_limit=5s",
             "--allowed_hosts=*.example.com", "--max_transfers=7"});
  ASSERT_FALSE(parsed.exit_code.has_value());
  EXPECT_EQ(parsed.options.max_bandwidth, 20'000'000);
  EXPECT_EQ(parsed.options.idle_limit, absl::Seconds(5));
  EXPECT_EQ(parsed.options.max_transfers, 7);
  EXPECT_OK(parsed.options.allowed_hosts.Check("https://a.example.com/x"));
}

TEST(OptionsTest, RefusesBadValuesWithTheExitCodeOfAUsageError) {
  for (const char* bad :
       {"--max_transfers=0", "--max_transfers=many", "--max_bandwidth=fast",
        "--idle_limit=0", "--allowed_hosts=*", "--log_level=loud",
        "--unknown=1", "--drain_grace=-1s"}) {
    SCOPED_TRACE(bad);
    EXPECT_EQ(Parse({"--storage=/b", bad}).exit_code, 2);
  }
}

TEST(OptionsTest, EndsWellAfterHelp) {
  EXPECT_EQ(Parse({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace bimbackup::download_worker
