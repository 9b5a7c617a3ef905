// An emulator in this process and a client that is logged in to it. For
// tests only.

#ifndef SERVICES_BIM360_EMULATOR_EMULATOR_SESSION_H_
#define SERVICES_BIM360_EMULATOR_EMULATOR_SESSION_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "services/bim360_emulator/emulator.h"
#include "services/bim360_emulator/http_probe.h"
#include "simdjson.h"

namespace bimbackup::bim360_emulator {

// A JSON document that owns its text.
class Json {
 public:
  explicit Json(absl::string_view text);

  // The string, number, or size of the array at a JSON pointer such as
  // "/data/0/id"; empty or -1 when there is none.
  std::string Text(const std::string& pointer) const;
  int64_t Number(const std::string& pointer) const;
  int64_t Size(const std::string& pointer) const;
  bool Has(const std::string& pointer) const;
  bool valid() const { return valid_; }

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element root_;
  bool valid_ = false;
};

class EmulatorSession {
 public:
  // Dies when the emulator does not start.
  explicit EmulatorSession(EmulatorOptions options);

  Emulator& emulator() { return *emulator_; }
  HttpProbe& probe() { return *probe_; }

  // POSTs the form `body` to the token endpoint.
  ProbeResult Token(absl::string_view body, const HttpHeaders& headers = {});
  // With the session's token.
  ProbeResult Get(absl::string_view target, HttpHeaders headers = {});
  ProbeResult Admin(absl::string_view method, absl::string_view target,
                    absl::string_view body = "");
  void AddFault(Endpoint endpoint, FaultAction action, FaultMatch match = {});

  std::string HubPath() const;
  // The paths of the first project's "Project Files" and of the first file's
  // signeds3download.
  std::string TopFolderPath();
  std::string SignPath();
  // A signed URL for that file.
  std::string SignedUrl();
  // That file in the account, and its bytes.
  TreeEntry FirstFile();
  std::string FirstBytes();

 private:
  std::unique_ptr<Emulator> emulator_;
  std::unique_ptr<HttpProbe> probe_;
  std::string token_;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_EMULATOR_SESSION_H_
