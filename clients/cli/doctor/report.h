// What the doctor found, line by line.

#ifndef CLIENTS_CLI_DOCTOR_REPORT_H_
#define CLIENTS_CLI_DOCTOR_REPORT_H_

#include <iosfwd>

#include "absl/strings/string_view.h"

namespace bimbackup::cli::doctor {

enum class Verdict { kOk, kWarn, kFail };

// Prints findings as they come: `ok    token      …`, and what to do about
// one that is not ok on a line of its own; or one JSON object a line. Not
// thread-safe. The stream outlives it.
class Report {
 public:
  Report(std::ostream& out, bool json) : out_(out), json_(json) {}

  void Ok(absl::string_view check, absl::string_view detail);
  // `advice` says what to do about it.
  void Warn(absl::string_view check, absl::string_view detail,
            absl::string_view advice);
  void Fail(absl::string_view check, absl::string_view detail,
            absl::string_view advice);

  // Whether anything failed; warnings do not count.
  bool failed() const { return failed_; }

 private:
  void Add(Verdict verdict, absl::string_view check, absl::string_view detail,
           absl::string_view advice);

  std::ostream& out_;
  const bool json_;
  bool failed_ = false;
};

}  // namespace bimbackup::cli::doctor

#endif  // CLIENTS_CLI_DOCTOR_REPORT_H_
