// Randomness as a thing that is passed in. Two sources: the machine's (keys, sessions) and a seeded
// one.
#pragma once

#include <cstdint>
#include <span>

namespace sterna {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  /// A number in [0, bound), bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
};

/// SplitMix64 (Steele, Lea, Flood 2014): for tests and simulations, reproducible from its seed.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// The operating system's random source (getrandom): sessions and incarnations.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

}  // namespace sterna
