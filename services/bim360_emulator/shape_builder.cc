#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/bim360_emulator/ids.h"
#include "services/bim360_emulator/shape.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr int64_t kOldest = 1'640'995'200;  // 2022-01-01
constexpr int64_t kModifiedSpan = 1000LL * 86'400;

constexpr const char* kFolderNames[] = {
    "Architecture", "Structure", "MEP",       "Site",     "Drawings",
    "Models",       "Reports",   "Contracts", "Shared",   "Archive",
    "Coordination", "Schedules", "Photos",    "Surveys",  "Submittals",
    "Level",        "Zone",      "Package",   "Revision", "Details"};
constexpr const char* kFileNames[] = {
    "Floor Plan", "Elevation",  "Section",   "Detail",      "Schedule",
    "Report",     "Model",      "Site Plan", "Calculation", "Specification",
    "Minutes",    "Photograph", "Survey",    "Invoice"};
constexpr const char* kDisciplines[] = {"A", "S", "M", "E", "P", "C", "L"};
constexpr const char* kSmallExtensions[] = {"pdf", "docx", "xlsx", "jpg",
                                            "dwg", "txt",  "png"};
constexpr const char* kLargeExtensions[] = {"rvt", "ifc", "nwc", "dwg",
                                            "pdf", "rvt", "nwd", "zip"};
constexpr const char* kServiceNames[] = {"ProjectTb",  "Photos",
                                         "checklist_", "submittals-attachments",
                                         "dailylog_",  "issues_"};

// A deterministic sequence of numbers.
class Sequence {
 public:
  explicit Sequence(uint64_t seed) : state_(MixBits(seed)) {}

  uint64_t Next() { return MixBits(state_ += 0x9e3779b97f4a7c15); }
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Small numbers are likelier: a few folders hold much.
  uint64_t SkewedBelow(uint64_t bound) {
    const double unit = Unit();
    return static_cast<uint64_t>(unit * unit * static_cast<double>(bound));
  }
  template <size_t kCount>
  const char* Pick(const char* const (&from)[kCount]) {
    return from[Below(kCount)];
  }

 private:
  uint64_t state_;
};

// Splits `total` by `weights`, exactly.
std::vector<int64_t> Split(int64_t total, const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  std::vector<int64_t> parts;
  double before = 0;
  int64_t given = 0;
  for (const double weight : weights) {
    before += weight;
    const int64_t until = std::min<int64_t>(
        total, std::llround(static_cast<double>(total) * (before / sum)));
    parts.push_back(std::max<int64_t>(0, until - given));
    given += parts.back();
  }
  if (!parts.empty()) parts.back() += total - given;
  return parts;
}

// Many small files, few large ones (log-normal), none above `largest` as
// long as `total` can be met so.
std::vector<int64_t> FileSizes(int64_t count, int64_t total, int64_t largest,
                               Sequence& random) {
  std::vector<double> weights(count);
  for (double& weight : weights) {
    const double normal = std::sqrt(-2 * std::log(1 - random.Unit())) *
                          std::cos(2 * M_PI * random.Unit());
    weight = std::exp(1.5 * normal);
  }
  for (int round = 0; round < 20; ++round) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    const double cap =
        0.999 * sum * static_cast<double>(largest) / static_cast<double>(total);
    for (double& weight : weights) weight = std::min(weight, cap);
  }
  return Split(total, weights);
}

// Makes one project's folders and files.
class ProjectBuilder {
 public:
  ProjectBuilder(const Shape& shape, uint32_t project, ProjectKind kind,
                 Account& account)
      : shape_(shape),
        kind_(kind),
        account_(account),
        root_(account.RootFolder(project)),
        random_(account.seed() + project * 7919ULL) {}

  void AddFolders(int64_t count);
  void AddFiles(const int64_t* sizes, int64_t count);
  void AddExtras();

 private:
  struct Node {
    uint32_t index;
    int64_t depth;
    int64_t children = 0;
  };

  void AddBelow(size_t parent, bool deep);
  void AddFile(uint32_t folder, int64_t size);

  const Shape& shape_;
  const ProjectKind kind_;
  Account& account_;
  const uint32_t root_;
  Sequence random_;
  std::vector<Node> nodes_;
  // Positions in nodes_: where a shallow or deep folder may be put, and
  // where files go.
  std::vector<size_t> shallow_parents_;
  std::vector<size_t> deep_parents_;
  std::vector<uint32_t> shallow_;
  std::vector<uint32_t> deep_;
  uint32_t plans_ = 0;
  int64_t files_ = 0;
};

void ProjectBuilder::AddBelow(size_t parent, bool deep) {
  const std::string name = absl::StrFormat(
      "%s %02d", random_.Pick(kFolderNames), ++nodes_[parent].children);
  const uint32_t index =
      account_.AddFolder(nodes_[parent].index, name, FolderType::kNormal);
  const int64_t depth = nodes_[parent].depth + 1;
  nodes_.push_back({index, depth});
  const int64_t shallow_depth = std::max<int64_t>(1, shape_.depth / 2);
  (deep ? deep_ : shallow_).push_back(index);
  if (!deep && depth < shallow_depth) {
    shallow_parents_.push_back(nodes_.size() - 1);
  } else if (depth >= shallow_depth && depth < shape_.depth) {
    deep_parents_.push_back(nodes_.size() - 1);
  }
}

// Two thirds of the folders stand in the upper half of the levels, the other
// third, where nine files of ten go, below them: so the deepest third of
// the whole account is each project's deepest third.
void ProjectBuilder::AddFolders(int64_t count) {
  const auto add_top = [this](absl::string_view name, FolderType type) {
    nodes_.push_back({account_.AddFolder(root_, name, type), 1});
    return nodes_.back().index;
  };
  shallow_.push_back(add_top("Project Files", FolderType::kNormal));
  int64_t left = count - 1;
  if (kind_ == ProjectKind::kBim360 && left > 0) {
    plans_ = add_top("Plans", FolderType::kPlan);
    --left;
  }
  const int64_t deep_count = shape_.depth > 1 ? count / 3 : 0;
  const int64_t shallow_depth = std::max<int64_t>(1, shape_.depth / 2);
  if (shallow_depth > 1) shallow_parents_.push_back(0);
  if (shallow_depth == 1 && shape_.depth > 1) deep_parents_.push_back(0);
  for (; left > deep_count && !shallow_parents_.empty(); --left) {
    // The first ones form a chain, so that every level is there.
    const bool chain = nodes_.back().depth < shallow_depth &&
                       nodes_.size() < static_cast<size_t>(shallow_depth + 1);
    AddBelow(chain ? shallow_parents_.back()
                   : shallow_parents_[random_.Below(shallow_parents_.size())],
             /*deep=*/false);
  }
  if (deep_parents_.empty()) deep_parents_.push_back(nodes_.size() - 1);
  for (; left > 0; --left) {
    AddBelow(deep_parents_[random_.Below(deep_parents_.size())],
             /*deep=*/true);
  }
}

void ProjectBuilder::AddFile(uint32_t folder, int64_t size) {
  const bool large =
      size * 4 > shape_.bytes / std::max<int64_t>(1, shape_.files) * 3;
  const std::string extension =
      large ? random_.Pick(kLargeExtensions) : random_.Pick(kSmallExtensions);
  FileSpec spec;
  spec.size = size;
  spec.content = shape_.sparse ? ContentKind::kSparse : ContentKind::kGenerated;
  spec.modified = kOldest + static_cast<int64_t>(random_.Below(kModifiedSpan));
  if (extension == "rvt" && kind_ == ProjectKind::kAcc &&
      random_.Below(3) == 0) {
    spec.kind = ItemKind::kC4rModel;
  }
  account_.AddItem(
      folder,
      absl::StrFormat("%s-%03d %s.%s", random_.Pick(kDisciplines), ++files_,
                      random_.Pick(kFileNames), extension),
      spec);
}

void ProjectBuilder::AddFiles(const int64_t* sizes, int64_t count) {
  // Rounded up, so that small projects keep the account's share.
  const int64_t deep_count = deep_.empty() ? 0 : (count * 9 + 9) / 10;
  for (int64_t i = 0; i < count; ++i) {
    const bool deep = i < deep_count;
    const std::vector<uint32_t>& folders = deep ? deep_ : shallow_;
    AddFile(folders[random_.SkewedBelow(folders.size())], sizes[i]);
  }
}

void ProjectBuilder::AddExtras() {
  for (int64_t i = 0; i < shape_.service_folders; ++i) {
    const char* name = kServiceNames[i % std::size(kServiceNames)];
    account_.AddFolder(root_, name, FolderType::kService);
  }
  for (int64_t i = 0; i < shape_.plans_documents && plans_ != 0; ++i) {
    FileSpec spec;
    spec.content = ContentKind::kNone;
    spec.kind = ItemKind::kDocument;
    spec.size_known = false;
    spec.modified = kOldest + i;
    account_.AddItem(plans_, absl::StrFormat("A-%03d.pdf", i + 1), spec);
  }
}

ProjectKind KindOf(const Shape& shape, int64_t project) {
  switch (shape.kind) {
    case Shape::Kind::kAcc:
      return ProjectKind::kAcc;
    case Shape::Kind::kBim360:
      return ProjectKind::kBim360;
    case Shape::Kind::kMixed:
      return project % 3 == 1 ? ProjectKind::kBim360 : ProjectKind::kAcc;
  }
  return ProjectKind::kAcc;
}

int64_t Scaled(int64_t bytes, double scale) {
  return std::llround(static_cast<double>(bytes) * scale);
}

}  // namespace

void BuildShape(const Shape& shape, double size_scale, Account& account) {
  Sequence random(account.seed() ^ 0x5eedULL);
  std::vector<double> weights(shape.projects);
  for (double& weight : weights) weight = 0.3 + std::exp(1.2 * random.Unit());
  // Every project has its top folders; the rest goes by weight.
  std::vector<int64_t> folders(shape.projects, 0);
  int64_t tops = 0;
  for (int64_t i = 0; i < shape.projects; ++i) {
    folders[i] = KindOf(shape, i) == ProjectKind::kBim360 ? 2 : 1;
    tops += folders[i];
  }
  const std::vector<int64_t> more =
      Split(std::max<int64_t>(0, shape.folders - tops), weights);
  const std::vector<int64_t> files = Split(shape.files, weights);
  Shape scaled = shape;
  scaled.bytes = Scaled(shape.bytes, size_scale);
  scaled.largest = std::max<int64_t>(1, Scaled(shape.largest, size_scale));
  const std::vector<int64_t> sizes =
      FileSizes(shape.files, scaled.bytes, scaled.largest, random);
  const int64_t* next = sizes.data();
  for (int64_t i = 0; i < shape.projects; ++i) {
    const ProjectKind kind = KindOf(shape, i);
    const uint32_t project = account.AddProject(
        shape.projects == 1 ? "Riverside Tower"
                            : absl::StrFormat("Project %03d", i + 1),
        kind);
    ProjectBuilder builder(scaled, project, kind, account);
    builder.AddFolders(folders[i] + more[i]);
    builder.AddFiles(next, files[i]);
    builder.AddExtras();
    next += files[i];
  }
  account.SettleRollups();
}

}  // namespace bimbackup::bim360_emulator
