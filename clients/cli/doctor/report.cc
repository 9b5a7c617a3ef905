#include "clients/cli/doctor/report.h"

#include <ostream>
#include <string>

#include "absl/strings/str_format.h"
#include "clients/cli/format.h"

namespace bimbackup::cli::doctor {
namespace {

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      break;
  }
  return "FAIL";
}

// A JSON string; control characters were made printable before.
std::string Quoted(absl::string_view text) {
  std::string result = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\"";
}

}  // namespace

void Report::Ok(absl::string_view check, absl::string_view detail) {
  Add(Verdict::kOk, check, detail, "");
}

void Report::Warn(absl::string_view check, absl::string_view detail,
                  absl::string_view advice) {
  Add(Verdict::kWarn, check, detail, advice);
}

void Report::Fail(absl::string_view check, absl::string_view detail,
                  absl::string_view advice) {
  failed_ = true;
  Add(Verdict::kFail, check, detail, advice);
}

void Report::Add(Verdict verdict, absl::string_view check,
                 absl::string_view detail, absl::string_view advice) {
  const char* name = VerdictName(verdict);
  if (json_) {
    out_ << absl::StrFormat(
        "{\"verdict\":\"%s\",\"check\":%s,\"detail\":%s,\"advice\":%s}\n", name,
        Quoted(check), Quoted(detail), Quoted(advice));
  } else {
    out_ << absl::StrFormat("%-4s  %-12s  %s\n", name, check,
                            Printable(detail));
    if (!advice.empty()) {
      out_ << absl::StrFormat("%20s-> %s\n", "", Printable(advice));
    }
  }
  out_.flush();
}

}  // namespace bimbackup::cli::doctor
