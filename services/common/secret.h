// Values that must never be printed, and URLs without their secret part.

#ifndef SERVICES_COMMON_SECRET_H_
#define SERVICES_COMMON_SECRET_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace bimbackup {

// A string that no log, status or metric can hold by accident: it converts to
// nothing and has no stream operator. Thread-compatible.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  // The value, for the one place that sends it.
  const std::string& Reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

// `url` up to its query or fragment: what may be logged of a signed URL.
inline std::string WithoutQuery(absl::string_view url) {
  const absl::string_view kept = url.substr(0, url.find_first_of("?#"));
  return std::string(kept.data(), kept.size());
}

}  // namespace bimbackup

#endif  // SERVICES_COMMON_SECRET_H_
