#include "services/download_worker/engine/part_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/download_worker/engine/byte_range_set.h"

namespace bimbackup::engine {
namespace {

// More than Autodesk's chunks of 5 MB and up make of its largest object.
constexpr size_t kMaxRanges = 100'000;

// What each range of the source adds to the file.
std::vector<storage::ByteRange> Borders(const Source& source, int64_t size) {
  std::vector<storage::ByteRange> borders;
  for (const SourceRange& range : source.ranges) {
    borders.push_back({range.first, range.last < 0 ? size : range.last + 1});
  }
  return borders;
}

}  // namespace

int64_t PartSizes::For(int64_t size) const {
  if (size < split_from) return std::max<int64_t>(1, size);
  if (spare_slots > 4) {
    return std::clamp(size / spare_slots, std::min(smallest_spare, smallest),
                      largest);
  }
  return std::clamp(size / 4, smallest, largest);
}

void CutParts(storage::ByteRange range, int64_t part_size,
              std::vector<Part>& parts) {
  for (int64_t begin = range.begin; begin < range.end; begin += part_size) {
    parts.push_back({.begin = begin,
                     .position = begin,
                     .end = std::min(range.end, begin + part_size),
                     .recorded = begin});
  }
}

absl::Status CheckSource(const Source& source) {
  if (source.ranges.empty()) {
    return absl::InvalidArgumentError("the source has no URL");
  }
  if (source.ranges.size() > kMaxRanges) {
    return absl::InvalidArgumentError("the source has too many URLs");
  }
  int64_t next = 0;
  for (size_t i = 0; i < source.ranges.size(); ++i) {
    const SourceRange& range = source.ranges[i];
    const bool open = range.last == -1 && i + 1 == source.ranges.size();
    if (range.first != next || (!open && range.last < range.first)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the source has a gap or an overlap at byte ", range.first));
    }
    next = range.last + 1;
  }
  const bool open = source.ranges.back().last == -1;
  if (source.size.has_value() &&
      (*source.size < 0 || (!open && *source.size != next) ||
       (open && *source.size < source.ranges.back().first))) {
    return absl::InvalidArgumentError(
        absl::StrCat("the source's ranges do not add up to its size, ",
                     *source.size, " bytes"));
  }
  return absl::OkStatus();
}

std::optional<int64_t> SourceSize(const Source& source) {
  if (source.size.has_value()) return source.size;
  if (source.ranges.empty() || source.ranges.back().last == -1) {
    return std::nullopt;
  }
  return source.ranges.back().last + 1;
}

std::vector<Part> PlanParts(const Source& source,
                            const std::vector<storage::ByteRange>& recovered,
                            const PartSizes& sizes) {
  const std::optional<int64_t> size = SourceSize(source);
  if (!size.has_value() || *size == 0) {
    return {{.end = size.has_value() && *size != 0 ? size : std::nullopt}};
  }
  const int64_t part_size = sizes.For(*size);
  ByteRangeSet have;
  for (const storage::ByteRange& range : recovered) have.Add(range);
  if (have.MissingIn({0, *size}).empty()) {
    have.Clear();
    have.Add({0, std::max<int64_t>(0, *size - part_size)});
  }
  std::vector<Part> parts;
  for (const storage::ByteRange& border : Borders(source, *size)) {
    for (const storage::ByteRange& missing : have.MissingIn(border)) {
      CutParts(missing, part_size, parts);
    }
  }
  return parts;
}

PartRequest NextRequest(const Source& source, const Part& part) {
  size_t index = 0;
  while (index + 1 < source.ranges.size() &&
         source.ranges[index + 1].first <= part.position) {
    ++index;
  }
  const SourceRange& range = source.ranges[index];
  PartRequest request{.begin = part.position,
                      .end = part.end,
                      .url_begin = range.first,
                      .range_index = index};
  request.url_end = range.last < 0 ? SourceSize(source)
                                   : std::optional<int64_t>(range.last + 1);
  if (request.url_end.has_value() &&
      (!request.end.has_value() || *request.end > *request.url_end)) {
    request.end = request.url_end;
  }
  return request;
}

}  // namespace bimbackup::engine
