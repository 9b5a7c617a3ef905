#include "services/common/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "services/common/flags.h"

namespace bimbackup {
namespace {

struct Failpoint {
  std::string name;
  int hits_left = 1;
};

Failpoint ReadFailpoint() {
  const std::string text = ReadEnvironment("BIMBACKUP_FAILPOINT");
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  Failpoint failpoint{.name = parts[0]};
  if (parts.size() > 1 && !absl::SimpleAtoi(parts[1], &failpoint.hits_left)) {
    failpoint.hits_left = 1;
  }
  return failpoint;
}

}  // namespace

void MaybeCrash(absl::string_view name) {
  static const Failpoint failpoint = ReadFailpoint();
  if (failpoint.name.empty() || failpoint.name != name) return;
  static std::atomic<int> hits_left = failpoint.hits_left;
  if (--hits_left == 0) kill(getpid(), SIGKILL);
}

}  // namespace bimbackup
