// step_bench [batch [threads [steps [fp32 | bf16]]]]: the time of a LeNet training step, without
// anything around it. Times are the calling thread's CPU time, which a busy machine disturbs least
// (with several threads it leaves the others out). oneDNN prints each primitive's time under
// DNNL_VERBOSE=1; the sum over one step of each primitive's best is what to compare with:
//   DNNL_VERBOSE=1 step_bench 64 1 200 | awk -F, '/exec/ {k = $4 $5 $6 $7 $9 $10; t = $NF + 0
//     if (!(k in best) || t < best[k]) best[k] = t} END {for (k in best) sum += best[k]; print
//     sum}'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "nets/net.h"
#include "tests/nets/random_values.h"

namespace {

struct Ignore final : sterna::nets::GradientSink {
  void gradient(std::size_t /*index*/, std::span<const float> /*values*/) override {}
};

/// Milliseconds of CPU time of this thread.
double cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

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
  const bool bf16 = argc > 4 && std::string_view(argv[4]) == "bf16";
  auto made = make_net(
      {.name = "lenet",
       .batch = batch,
       .weight_decay = 5e-4F,
       .backend = {.threads = threads, .precision = bf16 ? Element::bf16 : Element::fp32}});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 2;
  }
  Net& net = **made;
  for (std::uint32_t i = 0; i < net.parameters().size(); ++i)
    initialize(net.parameter(i), net.parameters()[i], {1, i});
  SeededRandom random(1);
  std::vector<float> images;
  for (const double value : random_values(batch * 784, 1, random))
    images.push_back(static_cast<float>(value));
  std::vector<std::uint16_t> labels(batch);
  for (auto& label : labels) label = static_cast<std::uint16_t>(random.below(10));

  Ignore sink;
  std::vector<double> times;
  for (long step = 0; step < warm_up + steps; ++step) {
    for (std::size_t i = 0; i < net.parameters().size(); ++i) net.parameters_changed(i);
    const double start = cpu_time();
    if (!net.train_step(images, labels, sink)) return 1;
    if (step >= warm_up) times.push_back(cpu_time() - start);
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "batch %zu, %d thread(s): median %.3f ms, best %.3f ms a step; %.1f reorders a step\n", batch,
      threads, times[times.size() / 2], times.front(),
      static_cast<double>(net.reorders()) / static_cast<double>(steps + warm_up));
}
