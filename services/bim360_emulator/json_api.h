// Autodesk's answers about hubs, projects, folders, items and versions, in
// JSON:API, as its published schemas and recorded answers have them.

#ifndef SERVICES_BIM360_EMULATOR_JSON_API_H_
#define SERVICES_BIM360_EMULATOR_JSON_API_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/bim360_emulator/account_nodes.h"
#include "services/bim360_emulator/ids.h"
#include "services/bim360_emulator/json_writer.h"

namespace bimbackup::bim360_emulator {

// The bucket that all objects are in.
inline constexpr absl::string_view kBucket = "wip.dm.prod";

// The links of a listing; empty ones are left out.
struct PageLinks {
  std::string self;
  std::string first;
  std::string prev;
  std::string next;
};

// Writes one answer. Not thread-safe; made for each request.
class JsonApi {
 public:
  struct Options {
    // Scheme and host before every href; may be empty, for relative ones.
    std::string base;
    std::string account_id;
    std::string region = "US";
    int fraction_digits = 7;
    // Tells 2^63 for every size.
    bool huge_size = false;
    std::vector<std::string> omitted;
  };

  // `ids` outlives this.
  JsonApi(Options options, const IdCodec& ids);

  std::string Hubs(bool empty, bool warnings);
  std::string Hub();
  std::string Projects(const std::vector<ProjectView>& projects,
                       const PageLinks& links);
  std::string Project(const ProjectView& project);
  std::string TopFolders(const ProjectView& project,
                         const std::vector<FolderView>& folders);
  std::string Folder(const ProjectView& project, const FolderView& folder);
  // With `cycle`, the folder is among its own children.
  std::string Contents(const ProjectView& project, const ContentsPage& page,
                       const PageLinks& links, bool cycle);
  std::string Item(const ProjectView& project, const ItemView& item);
  std::string Tip(const ProjectView& project, const ItemView& item);
  std::string Version(const ProjectView& project, const ItemView& item);
  // The item once for each version, in place of its tip.
  std::string Versions(const ProjectView& project,
                       const std::vector<ItemView>& versions,
                       const PageLinks& links);

 private:
  void Begin(absl::string_view self);
  std::string End();
  void Href(absl::string_view key, absl::string_view path);
  // {"links": {"related": {"href": ...}}} as member `key`.
  void Related(absl::string_view key, absl::string_view path);
  void SelfAndRelated(absl::string_view key, absl::string_view path,
                      bool related);
  void Data(absl::string_view type, absl::string_view id);
  void MetaLink(absl::string_view path);
  void Links(const PageLinks& links);
  void Time(absl::string_view key, int64_t unix_seconds);
  void Times(int64_t created, int64_t modified, bool named_users);
  void Size(absl::string_view key, int64_t size);
  void BeginExtension(absl::string_view type, absl::string_view version);
  void EndExtension();

  void WriteHub();
  void WriteProject(const ProjectView& project);
  void WriteProjectRelations(const ProjectView& project);
  void WriteFolder(const ProjectView& project, const FolderView& folder);
  void WriteFolderExtension(const FolderView& folder);
  void WriteItem(const ProjectView& project, const ItemView& item);
  void WriteVersion(const ProjectView& project, const ItemView& item);
  void WriteVersionAttributes(const ProjectView& project, const ItemView& item);
  void WriteStorage(const ProjectView& project, const ItemView& item);

  std::string ProjectPath(const ProjectView& project) const;
  std::string DataPath(const ProjectView& project) const;
  std::string VersionIdOf(const ItemView& item) const;

  const Options options_;
  const IdCodec& ids_;
  const std::string hub_id_;
  JsonWriter json_;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_JSON_API_H_
