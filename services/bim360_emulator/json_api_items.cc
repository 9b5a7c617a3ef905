#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/bim360_emulator/http_message.h"
#include "services/bim360_emulator/json_api.h"

namespace bimbackup::bim360_emulator {
namespace {

void AppendDigits(int value, int digits, std::string& out) {
  const size_t end = out.size() + digits;
  out.resize(end);
  for (int i = 1; i <= digits; ++i, value /= 10) {
    out[end - i] = static_cast<char>('0' + value % 10);
  }
}

// absl::FormatTime takes ten times as long, and a page holds a thousand.
std::string FormatTimestamp(int64_t unix_seconds, int fraction_digits) {
  const time_t seconds = unix_seconds;
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::string out;
  AppendDigits(parts.tm_year + 1900, 4, out);
  out.push_back('-');
  AppendDigits(parts.tm_mon + 1, 2, out);
  out.push_back('-');
  AppendDigits(parts.tm_mday, 2, out);
  out.push_back('T');
  AppendDigits(parts.tm_hour, 2, out);
  out.push_back(':');
  AppendDigits(parts.tm_min, 2, out);
  out.push_back(':');
  AppendDigits(parts.tm_sec, 2, out);
  if (fraction_digits > 0) {
    out.push_back('.');
    out.append(fraction_digits, '0');
  }
  out.push_back('Z');
  return out;
}

absl::string_view MimeType(absl::string_view extension, ItemKind kind) {
  if (kind == ItemKind::kC4rModel) return "application/vnd.autodesk.r360";
  if (extension == "pdf") return "application/pdf";
  if (extension == "jpg") return "image/jpeg";
  if (extension == "png") return "image/png";
  if (extension == "txt") return "text/plain";
  return "application/octet-stream";
}

absl::string_view ExtensionType(ItemKind kind) {
  switch (kind) {
    case ItemKind::kFile:
      return "autodesk.bim360:File";
    case ItemKind::kDocument:
      return "autodesk.bim360:Document";
    case ItemKind::kC4rModel:
      return "autodesk.bim360:C4RModel";
  }
  return "autodesk.bim360:File";
}

absl::string_view WithoutExtension(absl::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == absl::string_view::npos || dot == 0 ? name
                                                    : name.substr(0, dot);
}

}  // namespace

void JsonApi::Time(absl::string_view key, int64_t unix_seconds) {
  json_.Field(key, FormatTimestamp(unix_seconds, options_.fraction_digits));
}

void JsonApi::Times(int64_t created, int64_t modified, bool named_users) {
  const absl::string_view id = named_users ? "EMULATORUSER" : "";
  const absl::string_view name = named_users ? "Emma Lator" : "";
  Time("createTime", created);
  json_.Field("createUserId", id).Field("createUserName", name);
  Time("lastModifiedTime", modified);
  json_.Field("lastModifiedUserId", id).Field("lastModifiedUserName", name);
}

std::string JsonApi::VersionIdOf(const ItemView& item) const {
  return ids_.VersionId(item.version_key, item.tip.number + item.hidden);
}

void JsonApi::WriteItem(const ProjectView& project, const ItemView& item) {
  const std::string id = ids_.ItemId(item.key);
  const std::string path =
      absl::StrCat(DataPath(project), "/items/", UrlEncode(id));
  json_.BeginObject().Field("type", "items").Field("id", id);
  json_.Key("attributes").BeginObject();
  json_.Field("displayName", item.kind == ItemKind::kDocument
                                 ? WithoutExtension(item.name)
                                 : absl::string_view(item.name));
  // The version is processed after the item is made, and dated a little
  // later.
  Times(item.created, item.tip.modified - 1, /*named_users=*/true);
  json_.BoolField("hidden", item.hidden).BoolField("reserved", false);
  BeginExtension(absl::StrCat("items:", ExtensionType(item.kind)), "1.0");
  json_.Field("sourceFileName", item.name);
  EndExtension();
  json_.EndObject();
  json_.Key("links").BeginObject();
  Href("self", path);
  json_.EndObject();
  json_.Key("relationships").BeginObject();
  json_.Key("tip").BeginObject();
  Data("versions", VersionIdOf(item));
  json_.Key("links").BeginObject();
  Href("related", absl::StrCat(path, "/tip"));
  json_.EndObject().EndObject();
  Related("versions", absl::StrCat(path, "/versions"));
  json_.Key("parent").BeginObject();
  Data("folders", ids_.FolderId(item.folder_key));
  json_.Key("links").BeginObject();
  Href("related", absl::StrCat(path, "/parent"));
  json_.EndObject().EndObject();
  SelfAndRelated("refs", path, /*related=*/true);
  SelfAndRelated("links", path, /*related=*/false);
  json_.EndObject().EndObject();
}

void JsonApi::WriteVersionAttributes(const ProjectView& project,
                                     const ItemView& item) {
  const bool stored = item.tip.content != ContentKind::kNone && !item.hidden;
  const std::string extension = PlainExtension(item.name);
  // A deleted item's tip is a version with a GUID for a name.
  const std::string name =
      item.hidden ? ids_.ObjectKey(item.tip.storage_key) : item.name;
  json_.Key("attributes").BeginObject();
  json_.Field("name", name).Field("displayName", name);
  Times(item.created, item.tip.modified, /*named_users=*/true);
  json_.IntField("versionNumber", item.tip.number + item.hidden);
  if (stored) {
    json_.Field("mimeType", MimeType(extension, item.kind));
    if (item.tip.size_known) Size("storageSize", item.tip.size);
    if (!extension.empty()) json_.Field("fileType", extension);
  }
  if (item.hidden) {
    BeginExtension("versions:autodesk.core:Deleted", "1.0");
    json_.Field("originalName", item.name);
  } else {
    BeginExtension(absl::StrCat("versions:", ExtensionType(item.kind)), "1.0");
    json_.Field("processState", "PROCESSING_COMPLETE");
    json_.Field("extractionState", "SUCCESS");
    json_.Field("revisionDisplayLabel", absl::StrCat(item.tip.number));
    json_.Field("sourceFileName", item.name);
    json_.Field("conformingStatus", "NONE");
    if (item.kind == ItemKind::kC4rModel) {
      json_.Field("projectGuid", project.guid);
      json_.Field("modelType", "multiuser");
    }
  }
  EndExtension();
  json_.EndObject();
}

void JsonApi::WriteStorage(const ProjectView& project, const ItemView& item) {
  const std::string key = ids_.ObjectKey(item.tip.storage_key);
  json_.Key("storage").BeginObject();
  Data("objects",
       absl::StrCat("urn:adsk.objects:os.object:", kBucket, "/", key));
  MetaLink(absl::StrCat("/oss/v2/buckets/", kBucket, "/objects/", key,
                        "?scopes=b360project.", project.guid,
                        ",O2tenant.1000001"));
  json_.EndObject();
}

void JsonApi::WriteVersion(const ProjectView& project, const ItemView& item) {
  const std::string id = VersionIdOf(item);
  const std::string path =
      absl::StrCat(DataPath(project), "/versions/", UrlEncode(id));
  json_.BeginObject().Field("type", "versions").Field("id", id);
  WriteVersionAttributes(project, item);
  json_.Key("links").BeginObject();
  Href("self", path);
  json_.EndObject();
  json_.Key("relationships").BeginObject();
  json_.Key("item").BeginObject();
  Data("items", ids_.ItemId(item.key));
  json_.Key("links").BeginObject();
  Href("related", absl::StrCat(path, "/item"));
  json_.EndObject().EndObject();
  SelfAndRelated("refs", path, /*related=*/true);
  SelfAndRelated("links", path, /*related=*/false);
  if (item.tip.content != ContentKind::kNone && !item.hidden) {
    WriteStorage(project, item);
  }
  Related("downloadFormats", absl::StrCat(path, "/downloadFormats"));
  json_.EndObject().EndObject();
}

std::string JsonApi::Item(const ProjectView& project, const ItemView& item) {
  Begin(absl::StrCat(DataPath(project), "/items/",
                     UrlEncode(ids_.ItemId(item.key))));
  json_.Key("data");
  WriteItem(project, item);
  json_.Key("included").BeginArray();
  WriteVersion(project, item);
  json_.EndArray();
  return End();
}

std::string JsonApi::Tip(const ProjectView& project, const ItemView& item) {
  const std::string self =
      absl::StrCat(options_.base, DataPath(project), "/items/",
                   UrlEncode(ids_.ItemId(item.key)), "/tip");
  Begin("");
  // Alone among all answers, its schema has a bare `href`.
  json_.Key("links").BeginObject().Field("href", self);
  json_.Key("self").BeginObject().Field("href", self).EndObject();
  json_.EndObject().Key("data");
  WriteVersion(project, item);
  return End();
}

std::string JsonApi::Version(const ProjectView& project, const ItemView& item) {
  Begin(absl::StrCat(DataPath(project), "/versions/",
                     UrlEncode(VersionIdOf(item))));
  json_.Key("data");
  WriteVersion(project, item);
  return End();
}

std::string JsonApi::Versions(const ProjectView& project,
                              const std::vector<ItemView>& versions,
                              const PageLinks& links) {
  Begin("");
  Links(links);
  json_.Key("data").BeginArray();
  for (const ItemView& version : versions) WriteVersion(project, version);
  json_.EndArray();
  return End();
}

}  // namespace bimbackup::bim360_emulator
