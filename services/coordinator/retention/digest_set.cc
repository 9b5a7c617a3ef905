#include "services/coordinator/retention/digest_set.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/escaping.h"
#include "services/common/status_macros.h"

namespace bimbackup::retention {
namespace {

constexpr size_t kBytes = sizeof(BinaryDigest);

int BucketOf(const BinaryDigest& digest) {
  return static_cast<unsigned char>(digest[0]);
}

bool Less(const BinaryDigest& a, const BinaryDigest& b) {
  return std::memcmp(a.data(), b.data(), kBytes) < 0;
}

void SortUnique(std::vector<BinaryDigest>& digests) {
  std::sort(digests.begin(), digests.end(), Less);
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
}

}  // namespace

BinaryDigest ToBinary(absl::string_view sha256) {
  const std::string bytes = absl::HexStringToBytes(sha256);
  BinaryDigest digest = {};
  std::memcpy(digest.data(), bytes.data(), std::min(bytes.size(), kBytes));
  return digest;
}

std::string ToHex(const BinaryDigest& digest) {
  return absl::BytesToHexString(absl::string_view(digest.data(), kBytes));
}

absl::Status DigestSet::Add(absl::string_view sha256) {
  if (in_memory_.size() >= max_in_memory_) {
    SortUnique(in_memory_);
    // Where most were there twice there is room again.
    if (in_memory_.size() > max_in_memory_ / 2) ABSL_RETURN_IF_ERROR(Spill());
  }
  in_memory_.push_back(ToBinary(sha256));
  return absl::OkStatus();
}

absl::Status DigestSet::Spill() {
  if (file_ == nullptr) {
    ABSL_ASSIGN_OR_RETURN(file_, ScratchFile::Create(folder_));
  }
  Run run;
  run.begins.fill(0);
  for (const BinaryDigest& digest : in_memory_) {
    ++run.begins[BucketOf(digest) + 1];
  }
  for (int i = 0; i < kBuckets; ++i) run.begins[i + 1] += run.begins[i];
  ABSL_ASSIGN_OR_RETURN(
      run.offset, file_->Append(absl::string_view(in_memory_.front().data(),
                                                  in_memory_.size() * kBytes)));
  runs_.push_back(run);
  in_memory_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BinaryDigest>> DigestSet::ReadBucket(int bucket) {
  std::vector<BinaryDigest> digests;
  for (const Run& run : runs_) {
    const size_t count = run.begins[bucket + 1] - run.begins[bucket];
    if (count == 0) continue;
    digests.resize(digests.size() + count);
    ABSL_RETURN_IF_ERROR(file_->ReadAt(
        run.offset + static_cast<int64_t>(run.begins[bucket] * kBytes),
        digests[digests.size() - count].data(), count * kBytes));
  }
  std::copy_if(
      in_memory_.begin(), in_memory_.end(), std::back_inserter(digests),
      [&](const BinaryDigest& digest) { return BucketOf(digest) == bucket; });
  SortUnique(digests);
  return digests;
}

}  // namespace bimbackup::retention
