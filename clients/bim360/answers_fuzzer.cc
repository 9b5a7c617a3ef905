// Fuzzes the reading of Autodesk's listings, tokens and errors: whatever the
// bytes, what comes out is within its bounds, UTF-8, and complete where it
// counts as good.

#include <string>
#include <vector>

#include "clients/bim360/answers.h"
#include "services/common/fuzzing.h"

namespace bimbackup::bim360 {
namespace {

void RequireName(const std::string& name) {
  FUZZ_REQUIRE(!name.empty());
  FUZZ_REQUIRE(name.size() <= kMaxNameBytes);
  FUZZ_REQUIRE(IsUtf8(name));
}

void RequireId(const std::string& id) {
  FUZZ_REQUIRE(id.size() <= kMaxIdBytes);
  FUZZ_REQUIRE(IsUtf8(id));
}

void RequireDefects(const std::vector<std::string>& defects) {
  for (const std::string& defect : defects) {
    FUZZ_REQUIRE(!defect.empty());
    FUZZ_REQUIRE(defect.size() < 1000);
    FUZZ_REQUIRE(IsOneLine(defect));
  }
}

void RequireFailure(const absl::Status& status) {
  FUZZ_REQUIRE(absl::IsDataLoss(status));
  FUZZ_REQUIRE(status.message().size() < 1000);
  FUZZ_REQUIRE(IsOneLine(status.message()));
}

void CheckFolderPage(absl::string_view json) {
  const auto page = ParseFolderPage(json);
  if (!page.ok()) return RequireFailure(page.status());
  FUZZ_REQUIRE(page->folders.size() + page->items.size() <= kMaxEntries);
  FUZZ_REQUIRE(page->next_page_url.size() <= kMaxUrlBytes);
  for (const Folder& folder : page->folders) {
    FUZZ_REQUIRE(!folder.id.empty());
    RequireId(folder.id);
    RequireId(folder.rollup);
    RequireId(folder.folder_type);
    RequireName(folder.name);
    FUZZ_REQUIRE(folder.parent_names.size() <= kMaxParents);
    for (const std::string& name : folder.parent_names) {
      FUZZ_REQUIRE(name.size() <= kMaxNameBytes);
    }
  }
  for (const Item& item : page->items) {
    FUZZ_REQUIRE(!item.item_id.empty());
    RequireId(item.item_id);
    RequireId(item.version_id);
    RequireId(item.storage_urn);
    RequireName(item.name);
    FUZZ_REQUIRE(item.version_number >= 0);
    FUZZ_REQUIRE(!item.size || *item.size >= 0);
  }
  RequireDefects(page->defects);
}

void CheckProjects(absl::string_view json) {
  const auto page = ParseProjects(json);
  if (!page.ok()) return RequireFailure(page.status());
  for (const Project& project : page->projects) {
    FUZZ_REQUIRE(!project.id.empty());
    RequireId(project.id);
    RequireId(project.kind);
    RequireId(project.root_folder_id);
    RequireName(project.name);
  }
  RequireDefects(page->defects);
}

void CheckHubs(absl::string_view json) {
  const auto list = ParseHubs(json);
  if (!list.ok()) return RequireFailure(list.status());
  for (const Hub& hub : list->hubs) {
    FUZZ_REQUIRE(!hub.id.empty());
    RequireId(hub.id);
  }
  for (const Warning& warning : list->warnings) {
    FUZZ_REQUIRE(IsOneLine(warning.title));
    FUZZ_REQUIRE(IsOneLine(warning.detail));
  }
}

void CheckToken(absl::string_view json) {
  const auto token = ParseToken(json);
  if (!token.ok()) return RequireFailure(token.status());
  FUZZ_REQUIRE(!token->access_token.empty());
  FUZZ_REQUIRE(token->expires_in >= absl::ZeroDuration());
}

void CheckErrorBody(absl::string_view json) {
  const std::string line = ParseErrorBody(json);
  FUZZ_REQUIRE(line.size() < 400);
  FUZZ_REQUIRE(IsOneLine(line));
}

}  // namespace

void FuzzOne(absl::string_view json) {
  CheckFolderPage(json);
  CheckProjects(json);
  CheckHubs(json);
  CheckToken(json);
  CheckErrorBody(json);
  ParseTimestamp(json);
}

}  // namespace bimbackup::bim360

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::bim360::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
