// The shapes of accounts that the emulator can make, and how they are made.

#ifndef SERVICES_BIM360_EMULATOR_SHAPE_H_
#define SERVICES_BIM360_EMULATOR_SHAPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/bim360_emulator/account.h"

namespace bimbackup::bim360_emulator {

// Counts and totals over the whole account, met exactly. Folders are those
// under the projects' root folders, top folders such as "Project Files"
// included.
struct Shape {
  enum class Kind { kAcc, kBim360, kMixed };

  int64_t projects = 1;
  int64_t folders = 30;
  int64_t files = 136;
  int64_t bytes = 300'000'000;
  // Of folders, top folders being at depth 1; less where there are too few.
  int64_t depth = 8;
  // No file is larger than this, as long as the total can be met.
  int64_t largest = 20'000'000;
  Kind kind = Kind::kAcc;
  // Service folders (ProjectTb, Photos, ...) per project, on top of
  // `folders`.
  int64_t service_folders = 0;
  // Documents in Plans without storage per project, on top of `files`.
  int64_t plans_documents = 0;
  // All content but the first 64 KiB of a file is zeros.
  bool sparse = false;
};

// "demo", "large-project", "account", or "custom:" and key=value pairs with
// commas between them, over the members above: projects, folders, files,
// bytes, depth, largest, kind (acc, bim360, mixed), service_folders,
// plans_documents, sparse. INVALID_ARGUMENT otherwise.
absl::StatusOr<Shape> ParseShape(absl::string_view text);

// Fills the empty `account`, the same for the same shape, scale and seed.
// `size_scale` shrinks or grows all bytes.
void BuildShape(const Shape& shape, double size_scale, Account& account);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_SHAPE_H_
