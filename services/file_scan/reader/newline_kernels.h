// Finding line feeds, many bytes at a time.

#ifndef SERVICES_FILE_SCAN_READER_NEWLINE_KERNELS_H_
#define SERVICES_FILE_SCAN_READER_NEWLINE_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bimbackup::file_scan::reader {

// What one pass over some bytes tells about their line feeds.
struct GapScan {
  // Line feeds found.
  size_t newlines = 0;
  // At least the bytes between the start, or a line feed, and the next line
  // feed, wherever those are most. Never below 62 where there are two line
  // feeds, since those that are so close together are not told apart.
  size_t longest_gap = 0;
};

// How many entries more than the bytes given the array for
// NewlineKernels::index must have.
inline constexpr size_t kIndexSlack = 8;

// The functions of one instruction set. Thread-safe.
struct NewlineKernels {
  const char* name;
  // Counts the line feeds of data[0, size) and measures their gaps.
  GapScan (*scan)(const char* data, size_t size);
  // Writes the offset of each line feed of data[0, size) to `offsets`, which
  // has room for size + kIndexSlack entries; returns how many there are.
  // `size` fits 32 bits.
  size_t (*index)(const char* data, size_t size, uint32_t* offsets);
};

// The fastest kernels that this processor runs.
const NewlineKernels& BestNewlineKernels();

// All kernels that this processor runs, the fastest first.
std::vector<NewlineKernels> SupportedNewlineKernels();

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_NEWLINE_KERNELS_H_
