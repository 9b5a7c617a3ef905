#include "clients/verify/blob_checker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::verify {
namespace {

constexpr int64_t kBufferBytes = 1 << 20;
constexpr int64_t kLeastBytes = 4096;
constexpr absl::Duration kLongestWait = absl::Milliseconds(200);
// How much unused time may be made up for: what a read itself took.
constexpr absl::Duration kBurst = absl::Milliseconds(200);

// A slow reader takes small pieces, so that it never waits for long.
int64_t PieceBytes(int64_t max_bandwidth) {
  if (max_bandwidth == 0) return kBufferBytes;
  return std::clamp(max_bandwidth / 10, kLeastBytes, kBufferBytes);
}

BlobFault WrongSize(int64_t found, int64_t expected) {
  return {DamageKind::kWrongSize,
          absl::StrCat("it has ", found, " bytes instead of ", expected)};
}

BlobFault Unreadable(const absl::Status& status) {
  if (absl::IsNotFound(status)) {
    return {DamageKind::kMissingBlob, "it is not there"};
  }
  return {DamageKind::kUnreadableBlob,
          absl::StrCat("it cannot be read: ", status.message())};
}

}  // namespace

BlobChecker::BlobChecker(storage::Storage& storage, Clock& clock,
                         int64_t max_bandwidth, OnBytes on_bytes)
    : storage_(storage),
      clock_(clock),
      max_bandwidth_(max_bandwidth),
      on_bytes_(std::move(on_bytes)),
      buffer_(static_cast<size_t>(PieceBytes(max_bandwidth)), '\0') {}

absl::StatusOr<std::optional<BlobFault>> BlobChecker::Check(
    absl::string_view sha256, std::optional<int64_t> size, bool read) {
  const absl::StatusOr<int64_t> found = storage_.GetBlobSize(sha256);
  if (!found.ok()) return Unreadable(found.status());
  if (size.has_value() && *found != *size) return WrongSize(*found, *size);
  if (!read) return std::nullopt;
  return Read(sha256, *found);
}

absl::StatusOr<std::optional<BlobFault>> BlobChecker::Read(
    absl::string_view sha256, int64_t size) {
  const auto reader = storage_.OpenBlob(sha256);
  if (!reader.ok()) return Unreadable(reader.status());
  Digest digest(DigestKind::kSha256);
  int64_t offset = 0;
  while (true) {
    const absl::StatusOr<size_t> got =
        (*reader)->ReadAt(offset, buffer_.data(), buffer_.size());
    if (!got.ok()) return Unreadable(got.status());
    if (*got == 0) break;
    digest.Update(absl::string_view(buffer_.data(), *got));
    offset += static_cast<int64_t>(*got);
    ABSL_RETURN_IF_ERROR(Account(static_cast<int64_t>(*got)));
  }
  if (offset != size) return WrongSize(offset, size);
  const std::string is = digest.FinishHex();
  if (is == sha256) return std::nullopt;
  return BlobFault{DamageKind::kWrongDigest,
                   absl::StrCat("its bytes have the SHA-256 ", is)};
}

absl::Status BlobChecker::Account(int64_t bytes) {
  ABSL_RETURN_IF_ERROR(on_bytes_(bytes));
  if (max_bandwidth_ == 0) return absl::OkStatus();
  const absl::Duration cost =
      absl::Seconds(1) *
      (static_cast<double>(bytes) / static_cast<double>(max_bandwidth_));
  absl::Duration now = clock_.Monotonic();
  paid_until_ = std::max(paid_until_, now - kBurst) + cost;
  while (now < paid_until_) {
    {
      MutexLock lock(mutex_);
      clock_.WaitUntil(mutex_, never_,
                       std::min(paid_until_, now + kLongestWait));
    }
    ABSL_RETURN_IF_ERROR(on_bytes_(0));
    now = clock_.Monotonic();
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::verify
