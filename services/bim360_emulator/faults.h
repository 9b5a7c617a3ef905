// Faults by rule: which requests to spoil, and how.

#ifndef SERVICES_BIM360_EMULATOR_FAULTS_H_
#define SERVICES_BIM360_EMULATOR_FAULTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/bim360_emulator/endpoint.h"
#include "services/common/mutex.h"
#include "services/common/random.h"

namespace bimbackup::bim360_emulator {

enum class FaultType {
  kStatus,           // `status`, `retry_after`, `body`.
  kStall,            // Stops after `bytes` of the body; never answers below 0.
  kReset,            // Resets after `bytes` of the body; at once below 0.
  kShort,            // Closes after `bytes` of a longer Content-Length.
  kTruncate,         // A whole answer, but of only `bytes` bytes.
  kCorrupt,          // Alters the byte at `bytes`, same length.
  kDrip,             // `bytes` a second.
  kDelay,            // `delay` before the answer.
  kExpired,          // sign: URLs that are past their time.
  kMalformedJson,    // The answer's text, cut in the middle.
  kTransferChunked,  // Chunked transfer coding, no Content-Length.
  kChunkedUrls,      // sign: parts of `bytes` (or a URL if fallback is asked).
  kFallback,         // sign: an OSS URL, asked for or not.
  kOmit,             // Leaves out the JSON members named in `keys`.
  kNextLoop,         // contents: `next` leads to the same page.
  kNextForeign,      // contents, projects: `next` leads to another host.
  kNextRelative,     // contents, projects: links without scheme and host.
  kCycle,            // contents: the folder holds itself.
  kRedirect,         // 302 to `location`.
  kFractionDigits,   // `bytes` digits after the second, 0 to 9.
  kHugeSize,         // storageSize and size are 2^63.
  kEmpty,            // hubs, projects, top_folders: no data.
  kWarnings,         // hubs: meta.warnings, as for a region out of reach.
  kIgnoreRange,      // storage: 200 and the whole, whatever Range says.
  kNoRange,          // storage: 206 without Content-Range.
  kWrongTotal,       // storage: Content-Range's total is `bytes` off.
  kWrongRange,       // storage: Content-Range's range is `bytes` off.
  kNewETag,          // storage: the object has another ETag.
  kIgnoreIfMatch,    // storage: as kNewETag, and If-Match is not looked at.
  kGzip,             // A body in gzip that nobody asked for.
  kWrongSha1,        // sign: the digest of something else.
  kForeignUrl,       // sign: URLs below `location` instead of storage's.
  kDeepJson,         // A member that is nested `bytes` deep.
  kHugeJson,         // `bytes` blanks after the answer's text.
  kDuplicate,        // contents, projects: every entry twice.
  kEmptyPage,        // contents, projects: an empty page before the asked one.
  kLast = kEmptyPage,
};

struct FaultAction {
  FaultType type = FaultType::kStatus;
  int status = 500;
  // A number of seconds, or "date:SECONDS" for an HTTP date that far ahead.
  std::string retry_after;
  std::string body;
  int64_t bytes = -1;
  absl::Duration delay = absl::ZeroDuration();
  std::vector<std::string> keys;
  std::string location;
};

// Every member that is set must match.
struct FaultMatch {
  std::optional<Endpoint> endpoint;
  std::string method;
  // Searched for in the decoded path and query.
  std::string path_regex;
  // An identifier in the path: of a project, folder, item, version or object.
  std::string id;
  // The name of the folder that is listed, or of the file whose object is
  // signed or read.
  std::string name;
  // Of what matches otherwise: from this one (1 is the first) on...
  int64_t nth = 1;
  // ...so many; below zero for ever.
  int64_t count = -1;
  double probability = 1;
};

// What a rule is matched with.
struct FaultSubject {
  Endpoint endpoint = Endpoint::kUnknown;
  absl::string_view method;
  absl::string_view target;  // Decoded.
  const std::vector<std::string>* ids = nullptr;
  absl::string_view name;
};

// The rules, the oldest first; the first that matches is taken. Thread-safe.
class Faults {
 public:
  explicit Faults(Random& random) : random_(random) {}

  // The rule's number. INVALID_ARGUMENT for a bad regular expression.
  absl::StatusOr<int64_t> Add(FaultMatch match, FaultAction action);
  // Whether there was such a rule.
  bool Remove(int64_t id);
  void Clear();

  // Without a lock, so that no rule costs nothing.
  bool empty() const { return rule_count_ == 0; }
  std::optional<FaultAction> Find(const FaultSubject& subject);

  struct Listed {
    int64_t id = 0;
    int64_t matched = 0;
    int64_t applied = 0;
  };
  std::vector<Listed> List() const;

 private:
  struct Rule {
    int64_t id = 0;
    FaultMatch match;
    std::optional<std::regex> path;
    FaultAction action;
    int64_t matched = 0;
    int64_t applied = 0;
  };
  static bool Matches(const Rule& rule, const FaultSubject& subject);

  Random& random_;
  std::atomic<int64_t> rule_count_{0};
  mutable Mutex mutex_;
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<Rule> rules_ ABSL_GUARDED_BY(mutex_);
};

// "status", "stall", "next_loop", ...: a type's name in admin requests.
absl::string_view FaultTypeName(FaultType type);
absl::StatusOr<FaultType> ParseFaultType(absl::string_view name);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_FAULTS_H_
