#include "packed_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "input/digits/digits.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/statistics.h"

namespace sterna::bench {
namespace {

constexpr std::size_t kPictures = 8192;
constexpr float kRate = 0.01F;
constexpr float kMomentum = 0.9F;

class Keep final : public nets::GradientSink {
 public:
  explicit Keep(Gradient& into) : into_(into) {}
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    into_[index].assign(gradient.values.begin(), gradient.values.end());
  }

 private:
  Gradient& into_;
};

}  // namespace

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

void Distances::add(const Tensor& g, const Tensor& q) {
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

Tensor mean_of(const std::vector<Tensor>& tensors) {
  Tensor mean(tensors.front().size());
  for (const Tensor& one : tensors) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / kRanks;
  }
  return mean;
}

std::vector<Tensor> Trial::exchange(std::uint64_t step, std::size_t tensor,
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

std::vector<Tensor> Trial::opened(std::uint64_t step, std::size_t tensor,
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

std::vector<float> Trial::scalers_of(const std::vector<std::span<const float>>& parts) const {
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

void Trial::open_trits(std::span<const float> part, float scaler, const kernels::TernaryDraw& draw,
                       std::size_t first, std::span<float> out) {
  std::vector<std::byte> planes(kernels::planes_bytes(part.size()));
  kernels::ternarize(part, scaler, draw, first, planes, kernels::best_isa());
  const float stands_for = way_.feedback ? kernels::fed_back_scaler(scaler, way_.clip) : scaler;
  kernels::decode(planes, stands_for, out, kernels::best_isa());
  bytes_ += static_cast<double>(planes.size());
}

void Trial::open_numbers(std::span<const float> part, const kernels::TernaryDraw& draw,
                         std::size_t first, std::span<float> out) {
  const actors::GradientCodec codec = *actors::find_codec(way_.codec);
  const auto packed = make_buffer(codec.room({.count = part.size(), .choices = way_.choices}));
  const std::size_t size =
      codec.pack(part, {draw, first, way_.choices}, packed->bytes(), kernels::best_isa());
  const Bytes numbers =
      checked(codec.open(share(packed, size), {.count = part.size()}, pool_, kernels::best_isa()));
  const kernels::Packet packet{.packing = codec.packing, .payload = numbers.view()};
  kernels::average(std::span(&packet, 1), out, kernels::best_isa());
  bytes_ += static_cast<double>(size);
}

Training::Training(const input::Dataset& digits, std::uint64_t seed, nets::NetOptions net)
    : digits_(digits), random_(seed) {
  net.batch = kBatch;
  net.weight_decay = 5e-4F;
  net_ = checked(nets::make_net(net));
  for (std::uint32_t t = 0; t < net_->parameters().size(); ++t) {
    nets::initialize(net_->parameter(t), net_->parameters()[t], {.seed = seed, .tensor = t});
    net_->parameters_changed(t);
    velocity_.emplace_back(net_->parameter(t).size());
  }
}

std::vector<Gradient> Training::gradients() {
  std::vector<Gradient> gradients(kRanks, Gradient(velocity_.size()));
  loss_ = 0;
  for (Gradient& gradient : gradients) compute(gradient);
  return gradients;
}

void Training::apply(const std::vector<Gradient>& arrived) {
  for (std::size_t t = 0; t < velocity_.size(); ++t) {
    std::vector<Tensor> of_ranks;
    for (const Gradient& one : arrived) of_ranks.push_back(one[t]);
    const Tensor mean = mean_of(of_ranks);
    const std::span<float> w = net_->parameter(t);
    for (std::size_t i = 0; i < w.size(); ++i) {
      velocity_[t][i] = kMomentum * velocity_[t][i] + mean[i];
      w[i] -= kRate * velocity_[t][i];
    }
    net_->parameters_changed(t);
  }
}

void Training::compute(Gradient& gradient) {
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
  loss_ += double{checked(net_->train_step(images, labels, keep)).cross_entropy} / kRanks;
}

input::Dataset digits() { return input::draw_digits(1, input::Split::train, kPictures); }

}  // namespace sterna::bench
