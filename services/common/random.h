// The randomness seam.

#ifndef SERVICES_COMMON_RANDOM_H_
#define SERVICES_COMMON_RANDOM_H_

#include <cstdint>
#include <random>
#include <string>

#include "services/common/mutex.h"

namespace bimbackup {

// A source of uniformly distributed numbers. Thread-safe. Outlives what it is
// given to. Not for keys or secrets.
class Random {
 public:
  virtual ~Random() = default;

  // Any 64-bit value.
  virtual uint64_t Next() = 0;

  // A value in [0, 1).
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  // A random (version 4) UUID in lower case.
  std::string NextUuid();
};

// A pseudo-random sequence from a seed; without one, from the machine's
// entropy.
class SeededRandom : public Random {
 public:
  SeededRandom() : SeededRandom(EntropySeed()) {}
  explicit SeededRandom(uint64_t seed) : engine_(seed) {}

  uint64_t Next() override {
    MutexLock lock(mutex_);
    return engine_();
  }

 private:
  static uint64_t EntropySeed();

  Mutex mutex_;
  std::mt19937_64 engine_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup

#endif  // SERVICES_COMMON_RANDOM_H_
