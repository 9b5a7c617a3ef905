#include "services/bim360_emulator/faults.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr std::pair<FaultType, absl::string_view> kNames[] = {
    {FaultType::kStatus, "status"},
    {FaultType::kStall, "stall"},
    {FaultType::kReset, "reset"},
    {FaultType::kShort, "short"},
    {FaultType::kTruncate, "truncate"},
    {FaultType::kCorrupt, "corrupt"},
    {FaultType::kDrip, "drip"},
    {FaultType::kDelay, "delay"},
    {FaultType::kExpired, "expired"},
    {FaultType::kMalformedJson, "malformed_json"},
    {FaultType::kTransferChunked, "transfer_chunked"},
    {FaultType::kChunkedUrls, "chunked_urls"},
    {FaultType::kFallback, "fallback"},
    {FaultType::kOmit, "omit"},
    {FaultType::kNextLoop, "next_loop"},
    {FaultType::kNextForeign, "next_foreign"},
    {FaultType::kNextRelative, "next_relative"},
    {FaultType::kCycle, "cycle"},
    {FaultType::kRedirect, "redirect"},
    {FaultType::kFractionDigits, "fraction_digits"},
    {FaultType::kHugeSize, "huge_size"},
    {FaultType::kEmpty, "empty"},
    {FaultType::kWarnings, "warnings"},
    {FaultType::kIgnoreRange, "ignore_range"},
    {FaultType::kNoRange, "no_range"},
    {FaultType::kWrongTotal, "wrong_total"},
    {FaultType::kWrongRange, "wrong_range"},
    {FaultType::kNewETag, "new_etag"},
    {FaultType::kIgnoreIfMatch, "ignore_if_match"},
    {FaultType::kGzip, "gzip"},
    {FaultType::kWrongSha1, "wrong_sha1"},
    {FaultType::kForeignUrl, "foreign_url"},
    {FaultType::kDeepJson, "deep_json"},
    {FaultType::kHugeJson, "huge_json"},
    {FaultType::kDuplicate, "duplicate"},
    {FaultType::kEmptyPage, "empty_page"},
};

}  // namespace

absl::string_view FaultTypeName(FaultType type) {
  for (const auto& [value, name] : kNames) {
    if (value == type) return name;
  }
  return "unknown";
}

absl::StatusOr<FaultType> ParseFaultType(absl::string_view name) {
  for (const auto& [value, known] : kNames) {
    if (known == name) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no fault type \"", name, "\""));
}

absl::StatusOr<int64_t> Faults::Add(FaultMatch match, FaultAction action) {
  Rule rule;
  if (!match.path_regex.empty()) {
    try {
      rule.path.emplace(match.path_regex, std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
      return absl::InvalidArgumentError(
          absl::StrCat("path ", match.path_regex, ": ", error.what()));
    }
  }
  rule.match = std::move(match);
  rule.action = std::move(action);
  MutexLock lock(mutex_);
  rule.id = next_id_++;
  rules_.push_back(std::move(rule));
  rule_count_ = rules_.size();
  return rules_.back().id;
}

bool Faults::Remove(int64_t id) {
  MutexLock lock(mutex_);
  const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                 [id](const Rule& r) { return r.id == id; });
  if (rule == rules_.end()) return false;
  rules_.erase(rule);
  rule_count_ = rules_.size();
  return true;
}

void Faults::Clear() {
  MutexLock lock(mutex_);
  rules_.clear();
  rule_count_ = 0;
}

bool Faults::Matches(const Rule& rule, const FaultSubject& subject) {
  const FaultMatch& match = rule.match;
  if (match.endpoint.has_value() && *match.endpoint != subject.endpoint) {
    return false;
  }
  if (!match.method.empty() && match.method != subject.method) return false;
  if (!match.name.empty() && match.name != subject.name) return false;
  if (!match.id.empty() && std::find(subject.ids->begin(), subject.ids->end(),
                                     match.id) == subject.ids->end()) {
    return false;
  }
  return !rule.path.has_value() ||
         std::regex_search(subject.target.begin(), subject.target.end(),
                           *rule.path);
}

std::optional<FaultAction> Faults::Find(const FaultSubject& subject) {
  MutexLock lock(mutex_);
  for (Rule& rule : rules_) {
    if (!Matches(rule, subject)) continue;
    ++rule.matched;
    if (rule.matched < rule.match.nth) continue;
    if (rule.match.count >= 0 && rule.applied >= rule.match.count) continue;
    if (rule.match.probability < 1 &&
        random_.NextDouble() >= rule.match.probability) {
      continue;
    }
    ++rule.applied;
    return rule.action;
  }
  return std::nullopt;
}

std::vector<Faults::Listed> Faults::List() const {
  MutexLock lock(mutex_);
  std::vector<Listed> listed;
  for (const Rule& rule : rules_) {
    listed.push_back({rule.id, rule.matched, rule.applied});
  }
  return listed;
}

}  // namespace bimbackup::bim360_emulator
