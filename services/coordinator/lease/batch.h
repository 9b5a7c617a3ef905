// How much one call of a worker is granted.

#ifndef SERVICES_COORDINATOR_LEASE_BATCH_H_
#define SERVICES_COORDINATOR_LEASE_BATCH_H_

#include <cstdint>
#include <optional>

namespace bimbackup::lease {

inline constexpr int kMaxBatchFiles = 32;
inline constexpr int64_t kMaxBatchBytes = int64_t{2} << 30;
// What a transfer of unknown size counts for.
inline constexpr int64_t kUnknownSize = int64_t{256} << 20;

// min(32, what remains ÷ (2 × workers)), rounded up, at least 1 and at most
// `free_slots`: the end of a run is shared evenly.
int BatchFiles(int64_t remaining, int workers, int free_slots);

// Adds up one batch: at most 2 GiB, one larger transfer alone. A value.
class BatchBuilder {
 public:
  explicit BatchBuilder(int max_files) : max_files_(max_files) {}

  // Takes the transfer, or returns false where the batch has no room for it.
  bool Take(std::optional<int64_t> size);

  bool full() const { return files_ >= max_files_ || bytes_ >= kMaxBatchBytes; }

 private:
  int max_files_;
  int files_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_BATCH_H_
