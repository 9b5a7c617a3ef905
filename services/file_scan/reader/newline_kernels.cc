#include "services/file_scan/reader/newline_kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "services/file_scan/reader/newline_isa.h"

namespace bimbackup::file_scan::reader {
namespace {

#if defined(__x86_64__)
// LZCNT runs as another instruction, with another result, where it is
// missing, and compilers do not agree on a name to ask for it.
bool HasLzcnt() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0 &&
         (ecx & (1u << 5)) != 0;
}

bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("popcnt") && HasLzcnt();
}
#endif

}  // namespace

std::vector<NewlineKernels> SupportedNewlineKernels() {
  std::vector<NewlineKernels> kernels;
#if defined(__x86_64__)
  if (HasAvx2() && __builtin_cpu_supports("avx512bw")) {
    kernels.push_back({"avx512", ScanAvx512, IndexAvx512});
  }
  if (HasAvx2()) kernels.push_back({"avx2", ScanAvx2, IndexAvx2});
  kernels.push_back({"sse2", ScanSse2, IndexSse2});
#elif defined(__aarch64__)
  kernels.push_back({"neon", ScanNeon, IndexNeon});
#endif
  kernels.push_back({"scalar", ScanScalar, IndexScalar});
  return kernels;
}

const NewlineKernels& BestNewlineKernels() {
  static const NewlineKernels best = SupportedNewlineKernels().front();
  return best;
}

}  // namespace bimbackup::file_scan::reader
