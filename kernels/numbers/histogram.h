// How the elements of a tensor are distributed: counted by sign, exponent and the first 3 bits of
// the mantissa, so that an element's bucket is its upper 12 bits and no limits are searched. A
// bucket is at most an eighth as wide as its numbers are large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sterna::kernels {

/// Buckets of each sign, ascending by magnitude.
inline constexpr std::uint32_t kHistogramMagnitudes = 0xFF << 3;

class Histogram {
 public:
  void add(std::span<const float> values);

  std::uint64_t count() const { return count_; }  ///< of finite elements
  std::uint64_t non_finite() const { return non_finite_; }
  double least() const { return least_; }  ///< infinite where there is no element; likewise most()
  double most() const { return most_; }
  double sum() const { return sum_; }
  double sum_of_squares() const { return sum_of_squares_; }

  /// Of those with elements, from the least number to the largest: the number of the bucket, by
  /// its magnitude; and how many elements it has. Below zero the number is negative.
  struct Counted {
    std::int32_t bucket = 0;
    std::uint64_t count = 0;
    bool operator==(const Counted&) const = default;
  };
  std::vector<Counted> buckets() const;

 private:
  static constexpr std::size_t kPatterns = 4096;  // of an element's upper 12 bits
  void add_block(std::span<const float> values);

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kPatterns);
  std::uint64_t count_ = 0;
  std::uint64_t non_finite_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

/// The magnitudes in bucket n, or -n: at least the first and below the second. Bucket 0 is of both
/// signs. |n| is below kHistogramMagnitudes.
struct Magnitudes {
  double low = 0;
  double high = 0;
};
Magnitudes magnitudes_of(std::int32_t bucket);

}  // namespace sterna::kernels
