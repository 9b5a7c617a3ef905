#include "services/coordinator/snapshot/manifest_builder.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/snapshot/entry_status.h"

namespace bimbackup::snapshot {
namespace {

using catalog::FileRecord;
using catalog::FolderChildren;
using catalog::FolderRecord;
using catalog::ProjectRecord;
using storage::format::EntryKind;
using storage::format::ManifestEntry;
using storage::format::ManifestWriter;
using storage::format::NamedChild;
using storage::format::NameOptions;

// Deeper than any crawl goes: only a catalog with a cycle gets here.
constexpr size_t kMaxDepth = 1000;

// One child of a folder, in order of its stored name.
struct Child {
  std::string stored_name;
  // Index into the folders; behind them, into the files.
  size_t index = 0;
};

std::vector<Child> NameChildren(const FolderChildren& children,
                                const NameOptions& options) {
  std::vector<NamedChild> named;
  named.reserve(children.folders.size() + children.files.size());
  for (const FolderRecord& folder : children.folders) {
    named.push_back({folder.name, folder.folder_id});
  }
  for (const FileRecord& file : children.files) {
    named.push_back({file.name, file.item_id});
  }
  std::vector<std::string> names =
      storage::format::AssignStoredNames(named, options);
  std::vector<Child> ordered;
  ordered.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    ordered.push_back({std::move(names[i]), i});
  }
  std::sort(ordered.begin(), ordered.end(), [](const Child& a, const Child& b) {
    return a.stored_name < b.stored_name;
  });
  return ordered;
}

// Goes through one project, depth first.
class ProjectLines {
 public:
  ProjectLines(catalog::TreeStore& tree, const NameOptions& names,
               const ProjectRecord& project, ManifestWriter& writer)
      : tree_(tree), names_(names), project_(project), writer_(writer) {}

  absl::Status Write(absl::string_view stored_name) {
    stored_path_ = std::string(stored_name.data(), stored_name.size());
    const Inherited inherited = InheritFrom(project_);
    ABSL_RETURN_IF_ERROR(AppendFolder(project_.root_folder_id, inherited));
    return AppendChildren("", inherited);
  }

 private:
  ManifestEntry MakeEntry(EntryKind kind, absl::string_view id) const {
    ManifestEntry entry;
    entry.kind = kind;
    entry.project_id = project_.project_id;
    entry.project_name = project_.name;
    entry.path = path_;
    entry.stored_path = stored_path_;
    entry.item_id = std::string(id.data(), id.size());
    return entry;
  }

  absl::Status AppendFolder(absl::string_view folder_id,
                            const Inherited& inherited) {
    ManifestEntry entry = MakeEntry(EntryKind::kFolder, folder_id);
    JudgeFolder(inherited, entry);
    return writer_.Append(entry);
  }

  absl::Status AppendFile(const FileRecord& file, const Inherited& inherited) {
    ManifestEntry entry = MakeEntry(EntryKind::kFile, file.item_id);
    DescribeFile(file, inherited, entry);
    return writer_.Append(entry);
  }

  absl::Status AppendSubtree(const FolderRecord& folder,
                             const Inherited& above) {
    const Inherited inherited = InheritFrom(above, folder);
    ABSL_RETURN_IF_ERROR(AppendFolder(folder.folder_id, inherited));
    return AppendChildren(folder.folder_id, inherited);
  }

  absl::Status AppendChildren(absl::string_view folder_id,
                              const Inherited& inherited) {
    if (path_.size() > kMaxDepth) {
      return absl::InternalError(absl::StrCat("folder ", folder_id, " lies ",
                                              path_.size(), " folders deep"));
    }
    ABSL_ASSIGN_OR_RETURN(const FolderChildren children,
                          tree_.ListChildren(project_.project_id, folder_id));
    const size_t parent_size = stored_path_.size();
    for (const Child& child : NameChildren(children, names_)) {
      absl::StrAppend(&stored_path_, "/", child.stored_name);
      ABSL_RETURN_IF_ERROR(AppendChild(children, child.index, inherited));
      stored_path_.resize(parent_size);
    }
    return absl::OkStatus();
  }

  absl::Status AppendChild(const FolderChildren& children, size_t index,
                           const Inherited& inherited) {
    const size_t folders = children.folders.size();
    absl::Status status;
    if (index < folders) {
      path_.push_back(children.folders[index].name);
      status = AppendSubtree(children.folders[index], inherited);
    } else {
      path_.push_back(children.files[index - folders].name);
      status = AppendFile(children.files[index - folders], inherited);
    }
    path_.pop_back();
    return status;
  }

  catalog::TreeStore& tree_;
  const NameOptions& names_;
  const ProjectRecord& project_;
  ManifestWriter& writer_;
  std::vector<std::string> path_;
  std::string stored_path_;
};

}  // namespace

absl::StatusOr<BuiltManifest> ManifestBuilder::Build(
    const ProjectRecord& project, absl::string_view stored_name) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ManifestWriter> writer,
                        ManifestWriter::Create(storage_));
  ProjectLines lines(tree_, names_, project, *writer);
  ABSL_RETURN_IF_ERROR(lines.Write(stored_name));
  BuiltManifest built;
  ABSL_ASSIGN_OR_RETURN(built.sha256, writer->Commit());
  built.counts = writer->counts();
  return built;
}

}  // namespace bimbackup::snapshot
