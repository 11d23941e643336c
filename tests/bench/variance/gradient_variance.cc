// What each way to pack gradients makes of LeNet's: prints rows of docs/variance.md, which
// measure_variance puts there. LeNet trains on drawn digits in fp32, 64 examples a step in four
// ranks' parts; after kWarmUp steps the gradients of kMeasured neighbouring ones are packed in
// every way and opened again.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "packed_training.h"

namespace sterna::bench {
namespace {

constexpr std::uint64_t kWarmUp = 100;
constexpr std::uint64_t kMeasured = 10;

/// LeNet's weights, which make up 99.8 % of it; biases are too short to be packed.
constexpr std::size_t kTensors[] = {0, 2, 4, 6};
constexpr std::size_t kLargestTensor = 4;  // fc3's

std::string text_of(const Distances& distances) {
  return fmt::format("{:.3g}, {:.3f}", distances.omega(), distances.cosine());
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
    if (kTensors[t] == kLargestTensor) row.mean.add(mean_of(exact), mean_of(arrived));
  }
  row.bits = trial.bits();
}

int run() {
  const input::Dataset pictures = digits();
  const std::vector<Way> all = ways();
  std::vector<Row> rows(all.size());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Training training(pictures, seed, {.name = "lenet"});
    for (std::uint64_t step = 0; step < kWarmUp; ++step) training.apply(training.gradients());
    std::vector<Trial> trials;
    for (const Way& way : all) trials.emplace_back(way, seed);
    for (std::uint64_t step = 0; step < kMeasured; ++step) {
      const std::vector<Gradient> gradients = training.gradients();
      for (std::size_t i = 0; i < all.size(); ++i) measure(rows[i], trials[i], step, gradients);
      training.apply(gradients);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string line = fmt::format("| {} | {:.2f} |", all[i].name, rows[i].bits);
    for (const Distances& tensor : rows[i].tensors) line += fmt::format(" {} |", text_of(tensor));
    std::printf("%s %s |\n", line.c_str(), text_of(rows[i].mean).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace sterna::bench

int main() { return sterna::bench::run(); }
