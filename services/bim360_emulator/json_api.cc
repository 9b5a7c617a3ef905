#include "services/bim360_emulator/json_api.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr absl::string_view kWebHost = "https://acc.autodesk.com/docs/files";

}  // namespace

JsonApi::JsonApi(Options options, const IdCodec& ids)
    : options_(std::move(options)),
      ids_(ids),
      hub_id_(absl::StrCat("b.", options_.account_id)),
      json_(options_.omitted) {}

void JsonApi::Begin(absl::string_view self) {
  json_.BeginObject();
  json_.Raw(R"("jsonapi":{"version":"1.0"})");
  if (!self.empty()) Links({absl::StrCat(options_.base, self), "", "", ""});
}

std::string JsonApi::End() { return json_.EndObject().Take(); }

void JsonApi::Href(absl::string_view key, absl::string_view path) {
  json_.Key(key).BeginObject();
  json_.Field("href", absl::StrCat(options_.base, path));
  json_.EndObject();
}

void JsonApi::Related(absl::string_view key, absl::string_view path) {
  json_.Key(key).BeginObject().Key("links").BeginObject();
  Href("related", path);
  json_.EndObject().EndObject();
}

void JsonApi::SelfAndRelated(absl::string_view key, absl::string_view path,
                             bool related) {
  json_.Key(key).BeginObject().Key("links").BeginObject();
  Href("self", absl::StrCat(path, "/relationships/", key));
  if (related) Href("related", absl::StrCat(path, "/", key));
  json_.EndObject().EndObject();
}

void JsonApi::Data(absl::string_view type, absl::string_view id) {
  json_.Key("data").BeginObject();
  json_.Field("type", type).Field("id", id).EndObject();
}

void JsonApi::MetaLink(absl::string_view path) {
  json_.Key("meta").BeginObject();
  Href("link", path);
  json_.EndObject();
}

void JsonApi::Links(const PageLinks& links) {
  json_.Key("links").BeginObject();
  const std::pair<absl::string_view, const std::string*> all[] = {
      {"self", &links.self},
      {"first", &links.first},
      {"prev", &links.prev},
      {"next", &links.next}};
  for (const auto& [key, href] : all) {
    if (href->empty()) continue;
    json_.Key(key).BeginObject().Field("href", *href).EndObject();
  }
  json_.EndObject();
}

void JsonApi::Size(absl::string_view key, int64_t size) {
  json_.Key(key);
  if (options_.huge_size) {
    json_.Raw("9223372036854775808");
  } else {
    json_.Int(size);
  }
}

void JsonApi::BeginExtension(absl::string_view type,
                             absl::string_view version) {
  json_.Key("extension").BeginObject();
  json_.Field("type", type).Field("version", version);
  json_.Key("schema").BeginObject();
  json_.Field("href", absl::StrCat(options_.base, "/schema/v1/versions/",
                                   UrlEncode(type), "-", version));
  json_.EndObject();
  json_.Key("data").BeginObject();
}

void JsonApi::EndExtension() { json_.EndObject().EndObject(); }

std::string JsonApi::ProjectPath(const ProjectView& project) const {
  return absl::StrCat("/project/v1/hubs/", hub_id_, "/projects/b.",
                      project.guid);
}

std::string JsonApi::DataPath(const ProjectView& project) const {
  return absl::StrCat("/data/v1/projects/b.", project.guid);
}

void JsonApi::WriteHub() {
  const std::string path = absl::StrCat("/project/v1/hubs/", hub_id_);
  json_.BeginObject().Field("type", "hubs").Field("id", hub_id_);
  json_.Key("attributes").BeginObject().Field("name", "Emulated account");
  BeginExtension("hubs:autodesk.bim360:Account", "1.0");
  EndExtension();
  json_.Field("region", options_.region).EndObject();
  json_.Key("relationships").BeginObject();
  Related("projects", absl::StrCat(path, "/projects"));
  json_.EndObject();
  json_.Key("links").BeginObject();
  Href("self", path);
  json_.EndObject().EndObject();
}

std::string JsonApi::Hubs(bool empty, bool warnings) {
  Begin("/project/v1/hubs");
  json_.Key("data").BeginArray();
  if (!empty) WriteHub();
  json_.EndArray();
  if (warnings) {
    json_.Key("meta").BeginObject().Key("warnings").BeginArray();
    json_.BeginObject().Key("Id").Raw("null");
    json_.Field("HttpStatusCode", "403").Field("ErrorCode", "BIM360DM_ERROR");
    json_.Field("Title", "Unable to get hubs from BIM360DM EMEA.");
    json_.Field("Detail", "You don't have permission to access this API");
    json_.Key("AboutLink").Raw("null").Key("Source").BeginArray().EndArray();
    json_.Key("meta").BeginArray().EndArray().EndObject();
    json_.EndArray().EndObject();
  }
  return End();
}

std::string JsonApi::Hub() {
  Begin(absl::StrCat("/project/v1/hubs/", hub_id_));
  json_.Key("data");
  WriteHub();
  return End();
}

void JsonApi::WriteProjectRelations(const ProjectView& project) {
  const std::string path = ProjectPath(project);
  json_.Key("relationships").BeginObject();
  json_.Key("hub").BeginObject();
  Data("hubs", hub_id_);
  json_.Key("links").BeginObject();
  Href("related", absl::StrCat("/project/v1/hubs/", hub_id_));
  json_.EndObject().EndObject();
  const std::string root = ids_.FolderId(project.root_key);
  json_.Key("rootFolder").BeginObject();
  Data("folders", root);
  MetaLink(absl::StrCat(DataPath(project), "/folders/", UrlEncode(root)));
  json_.EndObject();
  Related("topFolders", absl::StrCat(path, "/topFolders"));
  for (const absl::string_view tool : {"issues", "submittals", "rfis"}) {
    json_.Key(tool).BeginObject();
    Data(absl::StrCat(tool, "ContainerId"), project.guid);
    MetaLink(absl::StrCat("/", tool, "/v1/containers/", project.guid));
    json_.EndObject();
  }
  json_.EndObject();
}

void JsonApi::WriteProject(const ProjectView& project) {
  json_.BeginObject().Field("type", "projects");
  json_.Field("id", absl::StrCat("b.", project.guid));
  json_.Key("attributes").BeginObject().Field("name", project.name);
  json_.Key("scopes").BeginArray();
  json_.String(absl::StrCat("b360project.", project.guid));
  json_.String("O2tenant.1000001").EndArray();
  BeginExtension("projects:autodesk.bim360:Project", "1.0");
  json_.Field("projectType",
              project.kind == ProjectKind::kAcc ? "ACC" : "BIM360");
  EndExtension();
  json_.EndObject();
  WriteProjectRelations(project);
  json_.Key("links").BeginObject();
  Href("self", ProjectPath(project));
  json_.EndObject().EndObject();
}

std::string JsonApi::Projects(const std::vector<ProjectView>& projects,
                              const PageLinks& links) {
  Begin("");
  Links(links);
  json_.Key("data").BeginArray();
  for (const ProjectView& project : projects) WriteProject(project);
  json_.EndArray();
  return End();
}

std::string JsonApi::Project(const ProjectView& project) {
  Begin(ProjectPath(project));
  json_.Key("data");
  WriteProject(project);
  return End();
}

std::string JsonApi::TopFolders(const ProjectView& project,
                                const std::vector<FolderView>& folders) {
  Begin(absl::StrCat(ProjectPath(project), "/topFolders"));
  json_.Key("data").BeginArray();
  for (const FolderView& folder : folders) WriteFolder(project, folder);
  json_.EndArray();
  return End();
}

void JsonApi::WriteFolderExtension(const FolderView& folder) {
  BeginExtension("folders:autodesk.bim360:Folder", "1.0");
  json_.Key("visibleTypes")
      .Raw(folder.type == FolderType::kPlan
               ? R"(["items:autodesk.bim360:Document"])"
               : R"(["items:autodesk.bim360:File"])");
  json_.Key("actions").Raw(R"(["CONVERT"])");
  json_.Key("allowedTypes")
      .Raw(
          R"(["items:autodesk.bim360:File","folders:autodesk.bim360:Folder"])");
  if (folder.is_top || folder.is_root) {
    json_.BoolField("isRoot", folder.is_root);
    json_.Field("folderType",
                folder.type == FolderType::kPlan ? "plan" : "normal");
    json_.Key("folderParents").BeginArray().EndArray();
    json_.Key("namingStandardIds").BeginArray().EndArray();
  }
  EndExtension();
}

void JsonApi::WriteFolder(const ProjectView& project,
                          const FolderView& folder) {
  const std::string id = ids_.FolderId(folder.key);
  const std::string path =
      absl::StrCat(DataPath(project), "/folders/", UrlEncode(id));
  json_.BeginObject().Field("type", "folders").Field("id", id);
  json_.Key("attributes").BeginObject();
  json_.Field("name", folder.name).Field("displayName", folder.name);
  Times(folder.created, folder.modified, /*named_users=*/false);
  Time("lastModifiedTimeRollup", folder.rollup);
  json_.IntField("objectCount", folder.object_count);
  json_.BoolField("hidden", folder.hidden);
  WriteFolderExtension(folder);
  json_.EndObject();
  json_.Key("links").BeginObject();
  Href("self", path);
  json_.Key("webView").BeginObject();
  json_.Field("href", absl::StrCat(kWebHost, "/projects/", project.guid,
                                   "?folderUrn=", UrlEncode(id)));
  json_.EndObject().EndObject();
  json_.Key("relationships").BeginObject();
  Related("contents", absl::StrCat(path, "/contents"));
  json_.Key("parent").BeginObject();
  Data("folders",
       ids_.FolderId(folder.is_root ? folder.key : folder.parent_key));
  json_.Key("links").BeginObject();
  Href("related", absl::StrCat(path, "/parent"));
  json_.EndObject().EndObject();
  SelfAndRelated("refs", path, /*related=*/true);
  SelfAndRelated("links", path, /*related=*/false);
  json_.EndObject().EndObject();
}

std::string JsonApi::Folder(const ProjectView& project,
                            const FolderView& folder) {
  Begin(absl::StrCat(DataPath(project), "/folders/",
                     UrlEncode(ids_.FolderId(folder.key))));
  json_.Key("data");
  WriteFolder(project, folder);
  return End();
}

std::string JsonApi::Contents(const ProjectView& project,
                              const ContentsPage& page, const PageLinks& links,
                              bool cycle) {
  Begin("");
  Links(links);
  json_.Key("data").BeginArray();
  if (cycle) WriteFolder(project, page.folder);
  for (const FolderView& folder : page.folders) WriteFolder(project, folder);
  for (const ItemView& item : page.items) WriteItem(project, item);
  json_.EndArray();
  if (!page.items.empty()) {
    json_.Key("included").BeginArray();
    for (const ItemView& item : page.items) WriteVersion(project, item);
    json_.EndArray();
  }
  return End();
}

}  // namespace bimbackup::bim360_emulator
