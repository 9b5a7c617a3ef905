#include "services/bim360_emulator/shape.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/common/flags.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {
namespace {

absl::Status SetKind(absl::string_view value, Shape& shape) {
  if (value == "acc") {
    shape.kind = Shape::Kind::kAcc;
  } else if (value == "bim360") {
    shape.kind = Shape::Kind::kBim360;
  } else if (value == "mixed") {
    shape.kind = Shape::Kind::kMixed;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("kind=", value, " is not acc, bim360 or mixed"));
  }
  return absl::OkStatus();
}

absl::Status SetMember(absl::string_view key, absl::string_view value,
                       Shape& shape) {
  if (key == "kind") return SetKind(value, shape);
  if (key == "sparse") {
    shape.sparse = value == "1" || value == "true";
    return absl::OkStatus();
  }
  const std::pair<absl::string_view, int64_t*> members[] = {
      {"projects", &shape.projects},
      {"folders", &shape.folders},
      {"files", &shape.files},
      {"bytes", &shape.bytes},
      {"depth", &shape.depth},
      {"largest", &shape.largest},
      {"service_folders", &shape.service_folders},
      {"plans_documents", &shape.plans_documents}};
  for (const auto& [name, member] : members) {
    if (key != name) continue;
    ABSL_ASSIGN_OR_RETURN(*member, ParseBytesFlag(value));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a custom account knows no \"", key, "\""));
}

absl::StatusOr<Shape> ParseCustom(absl::string_view pairs) {
  Shape shape;
  shape.largest = 0;
  for (const absl::string_view pair :
       absl::StrSplit(pairs, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    ABSL_RETURN_IF_ERROR(SetMember(parts.first, parts.second, shape));
  }
  if (shape.projects < 1 || shape.depth < 1 || shape.folders < 1) {
    return absl::InvalidArgumentError(
        "a custom account needs projects, folders and depth above 0");
  }
  const int64_t tops = shape.kind == Shape::Kind::kAcc ? 1 : 2;
  if (shape.folders < shape.projects * tops) {
    return absl::InvalidArgumentError(
        "a custom account needs folders for each project's top folders: one, "
        "or two unless kind=acc");
  }
  if (shape.largest == 0) shape.largest = shape.bytes;
  return shape;
}

}  // namespace

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  Shape shape;
  if (text == "demo") return shape;
  if (text == "large-project") {
    shape.files = 10'653;
    shape.folders = 973;
    shape.bytes = 26'000'000'000;
    shape.largest = 500'000'000;
    return shape;
  }
  if (text == "account") {
    shape.projects = 170;
    shape.files = 40'230;
    shape.folders = 11'737;
    shape.bytes = 100'000'000'000;
    shape.largest = 1'000'000'000;
    shape.kind = Shape::Kind::kMixed;
    return shape;
  }
  if (absl::ConsumePrefix(&text, "custom:")) return ParseCustom(text);
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text,
      "\" is not demo, large-project, account, custom:... or dir:PATH"));
}

}  // namespace bimbackup::bim360_emulator
