#include "services/file_scan/reader/newline_kernels.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace bimbackup::file_scan::reader {
namespace {

std::vector<uint32_t> ReferenceIndex(const char* data, size_t size) {
  std::vector<uint32_t> offsets;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') offsets.push_back(i);
  }
  return offsets;
}

size_t LongestGap(const std::vector<uint32_t>& offsets) {
  size_t longest = 0;
  size_t begin = 0;
  for (const uint32_t offset : offsets) {
    longest = std::max<size_t>(longest, offset - begin);
    begin = offset + 1;
  }
  return longest;
}

void ExpectMatchesReference(const NewlineKernels& kernels,
                            const std::string& text, size_t begin) {
  const char* data = text.data() + begin;
  const size_t size = text.size() - begin;
  const std::vector<uint32_t> expected = ReferenceIndex(data, size);
  std::vector<uint32_t> offsets(size + kIndexSlack);
  offsets.resize(kernels.index(data, size, offsets.data()));
  ASSERT_EQ(offsets, expected) << kernels.name;
  const GapScan scan = kernels.scan(data, size);
  ASSERT_EQ(scan.newlines, expected.size()) << kernels.name;
  ASSERT_GE(scan.longest_gap, LongestGap(expected)) << kernels.name;
}

TEST(NewlineKernelsTest, AllAgreeWithTheReference) {
  std::mt19937_64 random(1);
  for (const NewlineKernels& kernels : SupportedNewlineKernels()) {
    for (int round = 0; round < 2000; ++round) {
      const int rarity = 1 + random() % 150;
      std::string text(random() % 500, 'x');
      for (char& byte : text) {
        if (random() % rarity == 0) byte = '\n';
      }
      ExpectMatchesReference(kernels, text, random() % (text.size() + 1));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(NewlineKernelsTest, NoOtherByteIsTakenForALineFeed) {
  std::string text;
  for (int round = 0; round < 3; ++round) {
    for (int byte = 0; byte < 256; ++byte) {
      text.push_back(static_cast<char>(byte));
      text.push_back(static_cast<char>(byte ^ 0x80));
    }
  }
  for (const NewlineKernels& kernels : SupportedNewlineKernels()) {
    for (size_t begin = 0; begin < 128; ++begin) {
      ExpectMatchesReference(kernels, text, begin);
    }
  }
}

TEST(NewlineKernelsTest, GapIsTightWhereLinesAreLong) {
  for (const NewlineKernels& kernels : SupportedNewlineKernels()) {
    for (size_t length = 62; length < 300; ++length) {
      std::string text(length, 'x');
      text += "\nshort\n";
      const GapScan scan = kernels.scan(text.data(), text.size());
      EXPECT_EQ(scan.longest_gap, length) << kernels.name;
    }
  }
}

TEST(NewlineKernelsTest, ScalarIsAlwaysThere) {
  EXPECT_STREQ(SupportedNewlineKernels().back().name, "scalar");
  EXPECT_STREQ(SupportedNewlineKernels().front().name,
               BestNewlineKernels().name);
}

}  // namespace
}  // namespace bimbackup::file_scan::reader
