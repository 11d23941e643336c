// step_bench [batch [threads [steps]]]: the time of a LeNet training step, without anything around
// it. Under DNNL_VERBOSE=1 oneDNN prints each primitive's own time, which is what to compare with:
//   DNNL_VERBOSE=1 step_bench 64 1 100 | awk -F, '/exec/ {sum += $NF} END {print sum / 110}'
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "nets/net.h"
#include "random_values.h"

namespace {

struct Ignore final : sterna::nets::GradientSink {
  void gradient(std::size_t /*index*/, std::span<const float> /*values*/) override {}
};

long argument(int argc, char** argv, int index, long otherwise) {
  return index < argc ? std::strtol(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sterna;
  using namespace sterna::nets;
  const auto batch = static_cast<std::size_t>(argument(argc, argv, 1, 64));
  const auto threads = static_cast<int>(argument(argc, argv, 2, 1));
  const long steps = argument(argc, argv, 3, 200), warm_up = 10;
  auto made =
      make_net({.name = "lenet", .batch = batch, .weight_decay = 5e-4F, .threads = threads});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 2;
  }
  Net& net = **made;
  for (std::uint32_t i = 0; i < net.parameters().size(); ++i)
    initialize(net.parameter(i), net.parameters()[i], 1, i);
  SeededRandom random(1);
  std::vector<float> images;
  for (const double value : random_values(batch * 784, 1, random))
    images.push_back(static_cast<float>(value));
  std::vector<std::uint8_t> labels(batch);
  for (auto& label : labels) label = static_cast<std::uint8_t>(random.below(10));

  Ignore sink;
  std::vector<double> times;
  for (long step = 0; step < warm_up + steps; ++step) {
    for (std::size_t i = 0; i < net.parameters().size(); ++i) net.parameters_changed(i);
    const auto start = std::chrono::steady_clock::now();
    if (!net.train_step(images, labels, sink)) return 1;
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    if (step >= warm_up) times.push_back(spent.count());
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "batch %zu, %d thread(s): median %.3f ms, best %.3f ms a step; %.1f reorders a step\n", batch,
      threads, times[times.size() / 2], times.front(),
      static_cast<double>(net.reorders()) / static_cast<double>(steps + warm_up));
}
