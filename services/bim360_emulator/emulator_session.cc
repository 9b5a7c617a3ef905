#include "services/bim360_emulator/emulator_session.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace bimbackup::bim360_emulator {

Json::Json(absl::string_view text)
    : parser_(std::make_unique<simdjson::dom::parser>()) {
  valid_ =
      parser_->parse(text.data(), text.size()).get(root_) == simdjson::SUCCESS;
}

std::string Json::Text(const std::string& pointer) const {
  std::string_view text;
  if (!valid_ || root_.at_pointer(pointer).get(text) != simdjson::SUCCESS) {
    return "";
  }
  return std::string(text);
}

int64_t Json::Number(const std::string& pointer) const {
  int64_t number = -1;
  if (!valid_ || root_.at_pointer(pointer).get(number) != simdjson::SUCCESS) {
    return -1;
  }
  return number;
}

int64_t Json::Size(const std::string& pointer) const {
  simdjson::dom::array array;
  if (!valid_ || root_.at_pointer(pointer).get(array) != simdjson::SUCCESS) {
    return -1;
  }
  return array.size();
}

bool Json::Has(const std::string& pointer) const {
  return valid_ && root_.at_pointer(pointer).error() == simdjson::SUCCESS;
}

EmulatorSession::EmulatorSession(EmulatorOptions options) {
  auto started = Emulator::Start(std::move(options));
  if (!started.ok()) {
    std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
    std::abort();
  }
  emulator_ = *std::move(started);
  probe_ = std::make_unique<HttpProbe>(emulator_->base_url());
  token_ = emulator_->tokens().Issue(absl::Hours(1), "data:read");
}

ProbeResult EmulatorSession::Token(absl::string_view body,
                                   const HttpHeaders& headers) {
  HttpHeaders all = headers;
  all.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  return probe_->Send("POST", "/authentication/v2/token", all, body);
}

ProbeResult EmulatorSession::Get(absl::string_view target,
                                 HttpHeaders headers) {
  headers.emplace_back("Authorization", absl::StrCat("Bearer ", token_));
  return probe_->Get(target, headers);
}

ProbeResult EmulatorSession::Admin(absl::string_view method,
                                   absl::string_view target,
                                   absl::string_view body) {
  return probe_->Send(method, absl::StrCat("/admin/", target), {}, body);
}

void EmulatorSession::AddFault(Endpoint endpoint, FaultAction action,
                               FaultMatch match) {
  match.endpoint = endpoint;
  (void)emulator_->faults().Add(std::move(match), std::move(action));
}

std::string EmulatorSession::HubPath() const {
  return absl::StrCat("/project/v1/hubs/b.", emulator_->options().account_id);
}

std::string EmulatorSession::TopFolderPath() {
  Account& account = emulator_->account();
  const ProjectView project = account.ListProjects().at(0);
  const FolderView folder = account.TopFolders(project.index)->at(0);
  return absl::StrCat("/data/v1/projects/b.", project.guid, "/folders/",
                      UrlEncode(account.ids().FolderId(folder.key)));
}

TreeEntry EmulatorSession::FirstFile() {
  TreeEntry first;
  first.is_folder = true;
  emulator_->account().VisitTree([&first](const TreeEntry& entry) {
    if (first.is_folder && !entry.is_folder) first = entry;
  });
  return first;
}

std::string EmulatorSession::SignPath() {
  const TreeEntry file = FirstFile();
  return absl::StrCat(
      "/oss/v2/buckets/wip.dm.prod/objects/",
      emulator_->account().ids().ObjectKey(file.tip.storage_key),
      "/signeds3download");
}

std::string EmulatorSession::SignedUrl() {
  return Json(Get(SignPath()).body).Text("/url");
}

std::string EmulatorSession::FirstBytes() {
  const TreeEntry file = FirstFile();
  const auto content = emulator_->account().OpenObject(file.tip.storage_key);
  std::string bytes(file.tip.size, '\0');
  if (content.ok()) (*content)->Read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace bimbackup::bim360_emulator
