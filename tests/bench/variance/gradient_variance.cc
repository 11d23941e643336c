// What each way to pack gradients makes of LeNet's: prints rows of docs/variance.md, which
// measure_variance puts there. LeNet trains on drawn digits in fp32, 64 examples a step in four
// ranks' parts; after kWarmUp steps the gradients of kMeasured neighbouring ones are packed in
// every way and opened again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "actors/codecs/codec.h"
#include "input/digits/digits.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/statistics.h"
#include "nets/net.h"
#include "runtime/base/random.h"

namespace sterna {
namespace {

constexpr std::size_t kRanks = 4;
constexpr std::size_t kBatch = 16;  // of a rank
constexpr std::uint64_t kSeeds = 3;
constexpr std::uint64_t kWarmUp = 100;
constexpr std::uint64_t kMeasured = 10;
constexpr std::size_t kPictures = 8192;
constexpr float kRate = 0.01F;
constexpr float kMomentum = 0.9F;
/// Weights that make up 99.8 % of the net; biases are too short to be packed.
constexpr std::size_t kTensors[] = {0, 2, 4, 6};

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

std::vector<Way> ways() {
  const auto rows = [](std::uint32_t bits) {
    return Way{.name = fmt::format("rowwise, {} bits", bits),
               .codec = "rowwise",
               .choices = {.bits = bits}};
  };
  const auto largest = [](double density, const char* what) {
    return Way{.name = fmt::format("topk, {}", what),
               .codec = "topk",
               .feedback = true,
               .choices = {.density = density}};
  };
  return {{.name = "ternary, max", .clip = 0},
          {.name = "ternary, max, bucket", .clip = 0, .buckets = true},
          {.name = "ternary, clip 4", .clip = 4},
          {.name = "ternary, clip 2.5"},
          {.name = "ternary, clip 2.5, bucket", .buckets = true},
          {.name = "ternary, clip 1.5", .clip = 1.5F},
          {.name = "ternary, clip 2.5, largest scaler", .scaler = Scaler::largest},
          {.name = "ternary, clip 2.5, mean scaler", .scaler = Scaler::mean},
          {.name = "ternary, clip 2.5, fed back", .feedback = true},
          rows(1),
          rows(2),
          rows(4),
          rows(8),
          {.name = "sign, fed back", .codec = "sign", .feedback = true},
          largest(1.0 / 48, "1 bit, fed back"),
          largest(2.0 / 48, "2 bits, fed back"),
          {.name = "bf16", .codec = "bf16"}};
}

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
  void add(const Tensor& g, const Tensor& q) {
    double error = 0, gg = 0, qq = 0, gq = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double x = g[i], y = q[i];
      error += (y - x) * (y - x);
      gg += x * x;
      qq += y * y;
      gq += x * y;
    }
    errors_ += error;
    squares_ += gg;
    if (qq > 0) cosine_ += gq / std::sqrt(gg * qq);  // nothing points nowhere
    ++count_;
  }
  std::string text() const {
    return fmt::format("{:.3g}, {:.3f}", errors_ / squares_, cosine_ / count_);
  }

 private:
  double errors_ = 0;
  double squares_ = 0;
  double cosine_ = 0;
  double count_ = 0;
};

/// One way, from the first measured step of a seed to its last.
class Trial {
 public:
  Trial(const Way& way, std::uint64_t seed) : way_(way), seed_(seed), residuals_(kRanks) {}

  /// What arrives of each rank's gradient of one tensor.
  std::vector<Tensor> exchange(std::uint64_t step, std::size_t tensor,
                               const std::vector<Gradient>& gradients) {
    std::vector<Tensor> sent;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      sent.push_back(gradients[rank][tensor]);
      if (!way_.feedback) continue;
      residuals_[rank].resize(gradients[rank].size());
      Tensor& residual = residuals_[rank][tensor];
      residual.resize(sent[rank].size());
      for (std::size_t i = 0; i < residual.size(); ++i) sent[rank][i] += residual[i];
    }
    std::vector<Tensor> arrived = opened(step, tensor, sent);
    for (std::size_t rank = 0; way_.feedback && rank < kRanks; ++rank) {
      Tensor& residual = residuals_[rank][tensor];
      for (std::size_t i = 0; i < residual.size(); ++i)
        residual[i] = sent[rank][i] - arrived[rank][i];
    }
    return arrived;
  }
  double bits() const { return 8 * bytes_ / elements_; }

 private:
  std::vector<Tensor> opened(std::uint64_t step, std::size_t tensor,
                             const std::vector<Tensor>& sent) {
    std::vector<Tensor> arrived(kRanks, Tensor(sent.front().size()));
    const std::size_t whole = sent.front().size();
    const bool ternary = actors::makes_trits(way_.codec);
    const std::size_t most = ternary && !way_.buckets ? whole : kernels::kChunkElements;
    for (std::size_t first = 0; first < whole; first += most) {
      const std::size_t count = std::min(most, whole - first);
      std::vector<std::span<const float>> parts;
      for (const Tensor& one : sent) parts.push_back(std::span(one).subspan(first, count));
      const std::vector<float> scalers = ternary ? scalers_of(parts) : std::vector<float>();
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        const kernels::TernaryDraw draw{seed_, static_cast<std::uint32_t>(step), rank,
                                        static_cast<std::uint32_t>(tensor)};
        const std::span<float> out = std::span(arrived[rank]).subspan(first, count);
        if (ternary) {
          open_trits(parts[rank], scalers[rank], draw, first, out);
        } else {
          open_numbers(parts[rank], draw, first, out);
        }
      }
      elements_ += static_cast<double>(kRanks * count);
    }
    return arrived;
  }

  std::vector<float> scalers_of(const std::vector<std::span<const float>>& parts) const {
    std::vector<float> scalers;
    for (const auto part : parts) {
      scalers.push_back(checked(kernels::scaler(part, way_.clip, kernels::best_isa())));
    }
    if (way_.scaler == Scaler::own) return scalers;
    float sum = 0;
    for (const float scaler : scalers) sum += scaler;
    const float largest = *std::ranges::max_element(scalers);
    const float shared = way_.scaler == Scaler::mean ? sum / kRanks : largest;
    return std::vector<float>(scalers.size(), shared);
  }

  void open_trits(std::span<const float> part, float scaler, const kernels::TernaryDraw& draw,
                  std::size_t first, std::span<float> out) {
    std::vector<std::byte> planes(kernels::planes_bytes(part.size()));
    kernels::ternarize(part, scaler, draw, first, planes, kernels::best_isa());
    const float stands_for = way_.feedback ? kernels::fed_back_scaler(scaler, way_.clip) : scaler;
    kernels::decode(planes, stands_for, out, kernels::best_isa());
    bytes_ += static_cast<double>(planes.size());
  }

  void open_numbers(std::span<const float> part, const kernels::TernaryDraw& draw,
                    std::size_t first, std::span<float> out) {
    const actors::GradientCodec codec = *actors::find_codec(way_.codec);
    const auto packed = make_buffer(codec.room({.count = part.size(), .choices = way_.choices}));
    const std::size_t size =
        codec.pack(part, {draw, first, way_.choices}, packed->bytes(), kernels::best_isa());
    const Bytes numbers = checked(
        codec.open(share(packed, size), {.count = part.size()}, pool_, kernels::best_isa()));
    const kernels::Packet packet{.packing = codec.packing, .payload = numbers.view()};
    kernels::average(std::span(&packet, 1), out, kernels::best_isa());
    bytes_ += static_cast<double>(size);
  }

  Way way_;
  std::uint64_t seed_;
  std::vector<Gradient> residuals_;  // by rank
  actors::BufferPool pool_;
  double bytes_ = 0;
  double elements_ = 0;
};

Tensor mean_of(const std::vector<Tensor>& tensors) {
  Tensor mean(tensors.front().size());
  for (const Tensor& one : tensors) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / kRanks;
  }
  return mean;
}

/// One way's distances over all seeds.
struct Row {
  std::vector<Distances> tensors{std::size(kTensors)};  // of a rank's
  Distances mean;                                       // of all ranks' largest tensor's mean
  double bits = 0;
};

void measure(Row& row, Trial& trial, std::uint64_t step, const std::vector<Gradient>& gradients) {
  for (std::size_t t = 0; t < std::size(kTensors); ++t) {
    const std::vector<Tensor> arrived = trial.exchange(step, kTensors[t], gradients);
    std::vector<Tensor> exact;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      exact.push_back(gradients[rank][kTensors[t]]);
      row.tensors[t].add(exact[rank], arrived[rank]);
    }
    if (kTensors[t] == 4) row.mean.add(mean_of(exact), mean_of(arrived));
  }
  row.bits = trial.bits();
}

class Keep final : public nets::GradientSink {
 public:
  explicit Keep(Gradient& into) : into_(into) {}
  void gradient(std::size_t index, std::span<const float> values) override {
    into_[index].assign(values.begin(), values.end());
  }

 private:
  Gradient& into_;
};

/// LeNet in training, in fp32.
class Training {
 public:
  Training(const input::Dataset& digits, std::uint64_t seed)
      : digits_(digits),
        random_(seed),
        net_(checked(nets::make_net({.name = "lenet", .batch = kBatch, .weight_decay = 5e-4F}))) {
    for (std::uint32_t t = 0; t < net_->parameters().size(); ++t) {
      nets::initialize(net_->parameter(t), net_->parameters()[t], {.seed = seed, .tensor = t});
      net_->parameters_changed(t);
      velocity_.emplace_back(net_->parameter(t).size());
    }
  }

  /// The ranks' gradients of a step, which is then made by their mean.
  std::vector<Gradient> step() {
    std::vector<Gradient> gradients(kRanks, Gradient(velocity_.size()));
    for (Gradient& gradient : gradients) compute(gradient);
    for (std::size_t t = 0; t < velocity_.size(); ++t) {
      std::vector<Tensor> of_ranks;
      for (const Gradient& one : gradients) of_ranks.push_back(one[t]);
      const Tensor mean = mean_of(of_ranks);
      const std::span<float> w = net_->parameter(t);
      for (std::size_t i = 0; i < w.size(); ++i) {
        velocity_[t][i] = kMomentum * velocity_[t][i] + mean[i];
        w[i] -= kRate * velocity_[t][i];
      }
      net_->parameters_changed(t);
    }
    return gradients;
  }

 private:
  void compute(Gradient& gradient) {
    std::vector<float> images;
    std::vector<std::uint16_t> labels;
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::size_t chosen = random_.below(digits_.count);
      labels.push_back(digits_.labels[chosen]);
      for (const std::uint8_t pixel : digits_.image(chosen)) {
        images.push_back((static_cast<float>(pixel) / 255 - 0.5F) * 2);
      }
    }
    Keep keep(gradient);
    checked(net_->train_step(images, labels, keep));
  }

  const input::Dataset& digits_;
  SeededRandom random_;
  std::unique_ptr<nets::Net> net_;
  Gradient velocity_;
};

int run() {
  const input::Dataset digits = input::draw_digits(1, input::Split::train, kPictures);
  const std::vector<Way> all = ways();
  std::vector<Row> rows(all.size());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Training training(digits, seed);
    for (std::uint64_t step = 0; step < kWarmUp; ++step) training.step();
    std::vector<Trial> trials;
    for (const Way& way : all) trials.emplace_back(way, seed);
    for (std::uint64_t step = 0; step < kMeasured; ++step) {
      const std::vector<Gradient> gradients = training.step();
      for (std::size_t i = 0; i < all.size(); ++i) measure(rows[i], trials[i], step, gradients);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string line = fmt::format("| {} | {:.2f} |", all[i].name, rows[i].bits);
    for (const Distances& tensor : rows[i].tensors) line += fmt::format(" {} |", tensor.text());
    std::printf("%s %s |\n", line.c_str(), rows[i].mean.text().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace sterna

int main() { return sterna::run(); }
