// What stale gradients do with and without ternarizing: prints a line for each run, which
// measure_staleness makes docs/staleness.md of. A small mlp on drawn digits. Ranks in turns: that
// all pull the first version and then each its own push's result is that gradient v is of version
// v - s, so one net computes for all s + 1 ranks, and every run of a seed has the same start and
// batches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "input/digits/digits.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"
#include "nets/net.h"
#include "runtime/base/random.h"

namespace sterna {
namespace {

constexpr std::uint32_t kHidden = 64;
constexpr std::size_t kBatch = 16;
constexpr std::uint64_t kUpdates = 800;
constexpr std::uint64_t kLast = kUpdates / 10;  // whose losses are averaged
constexpr std::uint64_t kSeeds = 3;
constexpr std::size_t kTrain = 8192;
constexpr std::size_t kTest = 2000;
constexpr float kClip = 2.5F;
constexpr std::size_t kMinSize = 512;  // shorter tensors, the biases, stay as they are
constexpr float kInfinite = std::numeric_limits<float>::infinity();

using Tensors = std::vector<std::vector<float>>;

template <class Value>
Value checked(Result<Value> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

struct Optimizer {
  const char* name;
  float momentum;
  float rates[5];
};
constexpr Optimizer kOptimizers[] = {
    {"gd", 0, {0.000625F, 0.0025F, 0.01F, 0.04F, 0.16F}},
    {"momentum", 0.9F, {0.0000625F, 0.00025F, 0.001F, 0.004F, 0.016F}}};
constexpr std::uint64_t kStalenesses[] = {0, 1, 4, 16};

enum class Way { fp32, clipped, ternary };
constexpr const char* kWayNames[] = {"fp32", "clipped", "ternary"};

struct Setting {
  const Optimizer& optimizer;
  float rate;
  Way way;
  std::uint64_t staleness;
  bool inverse;  // a gradient counts 1 / (1 + its staleness)
  std::uint64_t seed;
};

struct Pictures {
  explicit Pictures(const input::Dataset& digits) : labels(digits.labels) {
    for (std::size_t i = 0; i < digits.count; ++i) {
      for (const std::uint8_t pixel : digits.image(i)) {
        values.push_back((static_cast<float>(pixel) / 255 - 0.5F) * 2);
      }
    }
    of_one = values.size() / digits.count;
  }
  std::span<const float> image(std::size_t i) const {
    return std::span(values).subspan(i * of_one, of_one);
  }
  std::vector<std::uint16_t> labels;
  std::vector<float> values;
  std::size_t of_one = 0;
};

class Keep final : public nets::GradientSink {
 public:
  explicit Keep(Tensors& into) : into_(into) {}
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    into_[index].assign(gradient.values.begin(), gradient.values.end());
  }

 private:
  Tensors& into_;
};

/// What arrives of a gradient in place of it. False: it has an element that is not finite.
bool pass(Tensors& gradient, const Setting& setting, std::uint64_t update) {
  for (std::uint32_t t = 0; t < gradient.size(); ++t) {
    std::vector<float>& g = gradient[t];
    if (setting.way == Way::fp32 || g.size() < kMinSize) continue;
    const Result<float> scaler = kernels::scaler(g, kClip, kernels::best_isa());
    if (!scaler) return false;
    if (setting.way == Way::clipped) {
      for (float& x : g) x = std::clamp(x, -*scaler, *scaler);
      continue;
    }
    std::vector<std::byte> planes(kernels::planes_bytes(g.size()));
    const kernels::TernaryDraw draw{setting.seed, static_cast<std::uint32_t>(update), 0, t};
    kernels::ternarize(g, *scaler, draw, 0, planes, kernels::best_isa());
    kernels::decode(planes, *scaler, g, kernels::best_isa());
  }
  return true;
}

struct Outcome {
  float loss = kInfinite;  // of the last tenth of the updates
  double accuracy = 0.1;   // of a net that is lost
};

class Trainer {
 public:
  Trainer(const Pictures& train, const Pictures& test)
      : train_(train),
        test_(test),
        net_(checked(nets::make_net({.name = "mlp", .hidden = {kHidden}, .batch = kBatch}))) {}

  Outcome run(const Setting& setting) {
    Tensors weights = start(setting.seed);
    Tensors velocity, gradient(weights.size());
    for (const auto& w : weights) velocity.emplace_back(w.size());
    std::deque<Tensors> versions = {weights};  // the newest s + 1
    SeededRandom random(setting.seed);
    double sum = 0;
    for (std::uint64_t v = 0; v < kUpdates; ++v) {
      const float loss = compute(versions.front(), random, gradient);
      if (!std::isfinite(loss) || !pass(gradient, setting, v)) return {};
      if (v >= kUpdates - kLast) sum += loss;
      const std::uint64_t staleness = std::min(v, setting.staleness);
      const float weight = setting.inverse ? 1 / static_cast<float>(1 + staleness) : 1;
      for (std::size_t t = 0; t < weights.size(); ++t) {
        for (std::size_t i = 0; i < weights[t].size(); ++i) {
          float& change = velocity[t][i];
          change = setting.optimizer.momentum * change + weight * gradient[t][i];
          weights[t][i] -= setting.rate * change;
        }
      }
      versions.push_back(weights);
      if (versions.size() > setting.staleness + 1) versions.pop_front();
    }
    return {static_cast<float>(sum / kLast), accuracy(weights)};
  }

 private:
  Tensors start(std::uint64_t seed) {
    Tensors weights;
    for (std::uint32_t t = 0; t < net_->parameters().size(); ++t) {
      const std::span<float> w = net_->parameter(t);
      nets::initialize(w, net_->parameters()[t], {.seed = seed, .tensor = t});
      weights.emplace_back(w.begin(), w.end());
    }
    return weights;
  }

  void take(const Tensors& weights) {
    for (std::size_t t = 0; t < weights.size(); ++t) {
      std::ranges::copy(weights[t], net_->parameter(t).begin());
      net_->parameters_changed(t);
    }
  }

  float compute(const Tensors& weights, SeededRandom& random, Tensors& gradient) {
    take(weights);
    images_.clear();
    labels_.clear();
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::size_t chosen = random.below(kTrain);
      const std::span<const float> image = train_.image(chosen);
      images_.insert(images_.end(), image.begin(), image.end());
      labels_.push_back(train_.labels[chosen]);
    }
    Keep keep(gradient);
    return checked(net_->train_step(images_, labels_, keep)).cross_entropy;
  }

  double accuracy(const Tensors& weights) {
    take(weights);
    const std::size_t classes = net_->classes();
    std::vector<float> logits(kBatch * classes);
    std::size_t right = 0;
    for (std::size_t first = 0; first < kTest; first += kBatch) {
      const std::size_t values = kBatch * test_.of_one;
      const Result<void> done = net_->infer(
          std::span(test_.values).subspan(first * test_.of_one, values), kBatch, logits);
      if (!done) return 0.1;
      for (std::size_t i = 0; i < kBatch; ++i) {
        const std::span<const float> row = std::span(logits).subspan(i * classes, classes);
        const auto best = std::ranges::max_element(row) - row.begin();
        right += static_cast<std::size_t>(best == test_.labels[first + i]);
      }
    }
    return static_cast<double>(right) / kTest;
  }

  const Pictures& train_;
  const Pictures& test_;
  std::unique_ptr<nets::Net> net_;
  std::vector<float> images_;
  std::vector<std::uint16_t> labels_;
};
static_assert(kTest % kBatch == 0);

void print(const Setting& setting, const Outcome& outcome) {
  std::printf("%s %s %s %llu %g %llu %g %g\n", setting.optimizer.name,
              kWayNames[static_cast<int>(setting.way)], setting.inverse ? "inverse" : "none",
              static_cast<unsigned long long>(setting.staleness), setting.rate,
              static_cast<unsigned long long>(setting.seed), outcome.loss, outcome.accuracy);
  std::fflush(stdout);
}

int run() {
  const Pictures train(input::draw_digits(1, input::Split::train, kTrain));
  const Pictures test(input::draw_digits(1, input::Split::test, kTest));
  Trainer trainer(train, test);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Optimizer& optimizer : kOptimizers) {
      for (const Way way : {Way::fp32, Way::clipped, Way::ternary}) {
        for (const std::uint64_t staleness : kStalenesses) {
          for (const bool inverse : {false, true}) {
            if (inverse && staleness == 0) continue;  // the same as without
            for (const float rate : optimizer.rates) {
              const Setting setting{optimizer, rate, way, staleness, inverse, seed};
              print(setting, trainer.run(setting));
            }
          }
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace sterna

int main() { return sterna::run(); }
