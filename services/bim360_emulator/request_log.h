// Counts what was asked and answered, for tests to assert on.

#ifndef SERVICES_BIM360_EMULATOR_REQUEST_LOG_H_
#define SERVICES_BIM360_EMULATOR_REQUEST_LOG_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/bim360_emulator/endpoint.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360_emulator {

// Thread-safe.
class RequestLog {
 public:
  struct Counts {
    int64_t requests = 0;
    // Answered with 200 or 206, whole.
    int64_t answered = 0;
    // Of bodies promised in those answers.
    int64_t bytes = 0;
  };

  // `subject` tells requests of one endpoint apart: "FOLDER_ID page N" of
  // contents, the object's key of sign and storage; empty otherwise.
  void Add(Endpoint endpoint, absl::string_view subject, bool answered,
           int64_t bytes);
  void Clear();

  Counts Of(Endpoint endpoint) const;
  // Of contents, sign, storage; sorted.
  std::map<std::string, Counts> BySubject(Endpoint endpoint) const;

 private:
  struct Entry {
    Counts total;
    absl::flat_hash_map<std::string, Counts> by_subject;
  };

  mutable Mutex mutex_;
  std::array<Entry, static_cast<size_t>(Endpoint::kCount)> entries_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_REQUEST_LOG_H_
