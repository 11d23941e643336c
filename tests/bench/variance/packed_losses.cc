// What packing gradients costs the loss: an mlp of 64 hidden units trains once by fp32 and once by
// each way to pack them, from the same start on the same examples. Prints a line for each way and
// seed, which measure_losses makes a table of: the way, the seed, omega of a rank's gradient, that
// of the ranks' mean gradient, and the loss in the last tenth of the steps.
#include <cstdio>
#include <string>
#include <vector>

#include "packed_training.h"

namespace sterna::bench {
namespace {

constexpr std::uint64_t kSteps = 300;
/// The mlp's weights; biases are too short to be packed.
constexpr std::size_t kWeights[] = {0, 2};
constexpr std::uint64_t kFirstMeasured = kSteps - kSteps / 10;

/// What a way made of a step's gradients, of all weights together.
struct Noise {
  Distances rank;
  Distances mean;
};

/// Each rank's gradients as they arrive; biases as they are.
std::vector<Gradient> arrived(Trial& trial, std::uint64_t step, std::vector<Gradient> gradients,
                              Noise& noise) {
  const std::vector<Gradient> exact = gradients;
  for (const std::size_t tensor : kWeights) {
    std::vector<Tensor> opened = trial.exchange(step, tensor, exact);
    std::vector<Tensor> sent;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      sent.push_back(exact[rank][tensor]);
      noise.rank.add(sent[rank], opened[rank]);
    }
    noise.mean.add(mean_of(sent), mean_of(opened));
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      gradients[rank][tensor] = std::move(opened[rank]);
    }
  }
  return gradients;
}

/// `way` null: fp32.
void train(const input::Dataset& pictures, const Way* way, std::uint64_t seed) {
  Training training(pictures, seed, {.name = "mlp", .hidden = {64}});
  std::vector<Trial> trial;
  if (way != nullptr) trial.emplace_back(*way, seed);
  Noise noise;
  double loss = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    std::vector<Gradient> gradients = training.gradients();
    if (step >= kFirstMeasured) loss += training.loss() / (kSteps - kFirstMeasured);
    for (Trial& one : trial) gradients = arrived(one, step, std::move(gradients), noise);
    training.apply(gradients);
  }
  std::printf("%s\t%d\t%.6g\t%.6g\t%.6f\n", way == nullptr ? "fp32" : way->name.c_str(),
              static_cast<int>(seed), noise.rank.omega(), noise.mean.omega(), loss);
  std::fflush(stdout);
}

int run() {
  const input::Dataset pictures = digits();
  const std::vector<Way> all = ways();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    train(pictures, nullptr, seed);
    for (const Way& way : all) train(pictures, &way, seed);
  }
  return 0;
}

}  // namespace
}  // namespace sterna::bench

int main() { return sterna::bench::run(); }
