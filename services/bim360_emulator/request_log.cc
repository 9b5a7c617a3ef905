#include "services/bim360_emulator/request_log.h"

namespace bimbackup::bim360_emulator {

void RequestLog::Add(Endpoint endpoint, absl::string_view subject,
                     bool answered, int64_t bytes) {
  const auto count = [&](Counts& counts) {
    ++counts.requests;
    counts.answered += answered;
    if (answered) counts.bytes += bytes;
  };
  MutexLock lock(mutex_);
  Entry& entry = entries_[static_cast<size_t>(endpoint)];
  count(entry.total);
  if (!subject.empty()) {
    count(entry.by_subject[std::string(subject.data(), subject.size())]);
  }
}

void RequestLog::Clear() {
  MutexLock lock(mutex_);
  for (Entry& entry : entries_) entry = Entry();
}

RequestLog::Counts RequestLog::Of(Endpoint endpoint) const {
  MutexLock lock(mutex_);
  return entries_[static_cast<size_t>(endpoint)].total;
}

std::map<std::string, RequestLog::Counts> RequestLog::BySubject(
    Endpoint endpoint) const {
  MutexLock lock(mutex_);
  const Entry& entry = entries_[static_cast<size_t>(endpoint)];
  return {entry.by_subject.begin(), entry.by_subject.end()};
}

}  // namespace bimbackup::bim360_emulator
