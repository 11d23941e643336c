// A net in training on drawn digits, by the mean of four ranks' gradients, 64 examples a step, and
// every way to pack those: what the studies of docs/variance.md share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/codecs/codec.h"
#include "input/formats/dataset.h"
#include "kernels/trits/ternary.h"
#include "nets/net.h"
#include "runtime/base/random.h"

namespace sterna::bench {

inline constexpr std::size_t kRanks = 4;
inline constexpr std::size_t kBatch = 16;  // of a rank
inline constexpr std::uint64_t kSeeds = 3;

enum class Scaler { own, largest, mean };

struct Way {
  std::string name;
  const char* codec = "ternary";
  float clip = 2.5F;
  Scaler scaler = Scaler::own;
  bool buckets = false;
  bool feedback = false;
  actors::PackChoices choices = {};
};

std::vector<Way> ways();

using Tensor = std::vector<float>;
using Gradient = std::vector<Tensor>;  // by tensor

template <class Value>
Value checked(Result<Value> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

/// Of pairs (g, Q(g)): the mean of |Q(g) - g|² over that of |g|², and the mean of their cosine.
class Distances {
 public:
  void add(const Tensor& g, const Tensor& q);
  double omega() const { return squares_ > 0 ? errors_ / squares_ : 0; }
  double cosine() const { return cosine_ / count_; }

 private:
  double errors_ = 0;
  double squares_ = 0;
  double cosine_ = 0;
  double count_ = 0;
};

Tensor mean_of(const std::vector<Tensor>& tensors);

/// One way, from a seed's first step to its last.
class Trial {
 public:
  Trial(const Way& way, std::uint64_t seed) : way_(way), seed_(seed), residuals_(kRanks) {}

  /// What arrives of each rank's gradient of one tensor.
  std::vector<Tensor> exchange(std::uint64_t step, std::size_t tensor,
                               const std::vector<Gradient>& gradients);
  double bits() const { return 8 * bytes_ / elements_; }

 private:
  std::vector<Tensor> opened(std::uint64_t step, std::size_t tensor,
                             const std::vector<Tensor>& sent);
  std::vector<float> scalers_of(const std::vector<std::span<const float>>& parts) const;
  void open_trits(std::span<const float> part, float scaler, const kernels::TernaryDraw& draw,
                  std::size_t first, std::span<float> out);
  void open_numbers(std::span<const float> part, const kernels::TernaryDraw& draw,
                    std::size_t first, std::span<float> out);

  Way way_;
  std::uint64_t seed_;
  std::vector<Gradient> residuals_;  // by rank
  actors::BufferPool pool_;
  double bytes_ = 0;
  double elements_ = 0;
};

/// Momentum of 0.9 at a rate of 0.01. Two of one seed see the same examples.
class Training {
 public:
  Training(const input::Dataset& digits, std::uint64_t seed, nets::NetOptions net);

  /// The ranks' gradients of the next step's examples.
  std::vector<Gradient> gradients();
  /// The step itself, by the mean of what has come of each.
  void apply(const std::vector<Gradient>& arrived);
  /// Of the last gradients(): the mean cross-entropy.
  double loss() const { return loss_; }

 private:
  void compute(Gradient& gradient);

  const input::Dataset& digits_;
  SeededRandom random_;
  std::unique_ptr<nets::Net> net_;
  Gradient velocity_;
  double loss_ = 0;
};

/// 8,192 of them.
input::Dataset digits();

}  // namespace sterna::bench
