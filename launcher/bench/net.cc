#include "launcher/bench/net.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/partial_device.h"
#include "launcher/bench/peak_memory.h"
#include "nets/describe_net.h"
#include "nets/make_backend.h"
#include "nets/net.h"
#include "nets/onednn/fastest.h"
#include "runtime/base/median.h"

namespace sterna::launcher {
namespace {

struct Usual {
  const char* net;
  std::size_t batch;
};
constexpr std::array kUsual{Usual{"cifarnet", 32}, Usual{"resnet_20", 32}, Usual{"googlenet", 32},
                            Usual{"lenet", 64}};
constexpr std::size_t kUsualBatch = 32;

struct Ignored final : nets::GradientSink {
  void gradient(std::size_t /*index*/, const nets::Gradient& /*gradient*/) override {}
};

/// A net with initial parameters and a batch of noise.
class Stepping {
 public:
  static Result<Stepping> make(const nets::NetOptions& options) {
    Stepping stepping;
    STERNA_ASSIGN(stepping.net_, nets::make_net(options));
    nets::Net& net = *stepping.net_;
    for (std::uint32_t i = 0; i < net.parameters().size(); ++i) {
      std::vector<float> values(net.parameters()[i].count());
      nets::initialize(values, net.parameters()[i], {.seed = 1, .tensor = i});
      STERNA_TRY(net.write_parameter(i, 0, values));
    }
    stepping.pixels_.resize(options.batch * options.images.values());
    std::uint32_t pixel = 1;
    for (std::uint8_t& byte : stepping.pixels_) {
      byte = static_cast<std::uint8_t>((pixel = pixel * 1664525 + 1013904223) >> 24);
    }
    for (std::size_t i = 0; i < options.batch; ++i) {
      for (std::size_t c = 0; c < options.images.channels; ++c) stepping.levels_.push_back(0.5F);
      for (std::size_t c = 0; c < options.images.channels; ++c) stepping.levels_.push_back(2.0F);
      stepping.labels_.push_back(static_cast<std::uint16_t>(i % options.images.classes));
    }
    STERNA_TRY(net.stage(stepping.images()));
    return stepping;
  }

  /// The least of `rounds` steps, after one that is not measured, in the thread's seconds.
  Result<double> seconds(int rounds) {
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round) {
      const double start = nets::thread_seconds();
      STERNA_TRY(step());
      if (round > 0) least = std::min(least, nets::thread_seconds() - start);
    }
    return least;
  }

  Result<double> clock_step() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    STERNA_TRY(step());
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// The median of `rounds` by the clock, each of as many steps as take a little while.
  Result<double> clock_seconds(int rounds) {
    using Clock = std::chrono::steady_clock;
    constexpr int kWarmUp = 5;
    constexpr int kSteps = 10;
    std::vector<double> taken;
    for (int i = 0; i < kWarmUp; ++i) STERNA_TRY(step());
    for (int round = 0; round < rounds; ++round) {
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < kSteps; ++i) STERNA_TRY(step());
      taken.push_back(std::chrono::duration<double>(Clock::now() - start).count() / kSteps);
    }
    return median(std::move(taken));
  }

  Result<void> step() {
    Ignored sink;
    for (std::size_t i = 0; i < net_->parameters().size(); ++i) net_->parameters_changed(i);
    STERNA_TRY(net_->begin_step(labels_));
    STERNA_TRY(net_->forward(net_->parameters().size()));
    STERNA_TRY(net_->backward(sink));
    STERNA_TRY(net_->stage(images()));  // of the next step, as a worker does
    STERNA_TRY(net_->step_loss());
    return {};
  }

  std::size_t reference_implementations() const {
    const std::vector<std::string> all = net_->implementations();
    return static_cast<std::size_t>(std::ranges::count_if(
        all, [](const std::string& name) { return nets::is_reference(name); }));
  }

 private:
  nets::PixelImages images() const { return {pixels_, levels_}; }

  std::unique_ptr<nets::Net> net_;
  std::vector<std::uint8_t> pixels_;
  std::vector<float> levels_;
  std::vector<std::uint16_t> labels_;
};

/// A net and how it computes.
struct Case {
  std::string name;
  nets::NetOptions options;
};

Result<double> add_step(const Case& one, int rounds, const BenchProgress& progress,
                        Figures& figures) {
  STERNA_ASSIGN(const nets::NetDescription net, nets::describe_net(one.options));
  progress(fmt::format("{} at {}: a step", one.name, one.options.batch));
  forget_peak_memory();
  STERNA_ASSIGN(Stepping stepping, Stepping::make(one.options));
  STERNA_ASSIGN(const double step, stepping.seconds(rounds));
  const auto peak = static_cast<double>(peak_memory());
  const auto bound = static_cast<double>(net.least_training_bytes());
  progress(
      fmt::format("{} at {}: {} operations", one.name, one.options.batch, net.operations.size()));
  double operations = 0;
  for (const nets::Operation& operation : net.operations) {
    operations += nets::measure_fastest(operation, rounds).seconds;
  }
  const auto images = static_cast<double>(one.options.batch);
  const auto add = [&](const char* figure, double value) { figures[one.name + figure] = value; };
  add(".step_ms", step * 1e3);
  add(".images_per_second", images / step);
  add(".gflops", 3 * static_cast<double>(net.flops) * images / step / 1e9);
  add(".operations_ms", operations * 1e3);
  add(".step_over_operations", step / operations);
  add(".peak_mb", peak / 1e6);
  add(".peak_over_bound", peak / bound);
  add(".reference_implementations", static_cast<double>(stepping.reference_implementations()));
  return step;
}

Result<void> add_threads_step(const Case& one, int threads, int rounds,
                              const BenchProgress& progress, Figures& figures) {
  progress(fmt::format("{} at {}: on {} threads and on one", one.name, one.options.batch, threads));
  nets::NetOptions options = one.options;
  STERNA_ASSIGN(Stepping alone, Stepping::make(options));
  options.backend.threads = threads;
  STERNA_ASSIGN(Stepping shared, Stepping::make(options));
  double of_one = std::numeric_limits<double>::infinity(), of_all = of_one;
  for (int round = 0; round <= rounds; ++round) {
    STERNA_ASSIGN(const double first, alone.clock_step());
    STERNA_ASSIGN(const double second, shared.clock_step());
    if (round == 0) continue;  // while memory is touched for the first time
    of_one = std::min(of_one, first);
    of_all = std::min(of_all, second);
  }
  figures[one.name + ".one_thread_ms"] = of_one * 1e3;
  figures[one.name + ".step_ms"] = of_all * 1e3;
  figures[one.name + ".images_per_second"] = static_cast<double>(one.options.batch) / of_all;
  figures[one.name + ".speedup"] = of_one / of_all;
  return {};
}

/// What a step takes without the launches of ours: as little as its plans and its copies allow.
Result<void> add_libraries(const Case& one, int rounds, double step, const BenchProgress& progress,
                           Figures& figures) {
  progress(fmt::format("{} at {}: its libraries' part", one.name, one.options.batch));
  const auto device = std::make_shared<kernels::PartialDevice>(one.options.backend.device);
  nets::NetOptions options = one.options;
  options.backend.device = device;
  STERNA_ASSIGN(Stepping stepping, Stepping::make(options));
  const kernels::PartialDevice::Given before = device->given();
  STERNA_TRY(stepping.step());  // so that numbers are multiplied, which take more power than zeros
  const kernels::PartialDevice::Given after = device->given();
  device->does(kernels::PartialDevice::Does::libraries);
  STERNA_ASSIGN(const double libraries, stepping.clock_seconds(rounds));
  figures[one.name + ".launches"] = static_cast<double>(after.launches - before.launches);
  figures[one.name + ".operations"] = static_cast<double>(after.operations - before.operations);
  figures[one.name + ".libraries_ms"] = libraries * 1e3;
  figures[one.name + ".step_over_libraries"] = step / libraries;
  return {};
}

Result<void> add_device_step(const Case& one, int rounds, const BenchProgress& progress,
                             Figures& figures) {
  progress(fmt::format("{} at {}: a step", one.name, one.options.batch));
  double step = 0;
  {  // Its memory is free again for the other.
    STERNA_ASSIGN(Stepping stepping, Stepping::make(one.options));
    STERNA_ASSIGN(step, stepping.clock_seconds(rounds));
  }
  figures[one.name + ".step_ms"] = step * 1e3;
  figures[one.name + ".images_per_second"] = static_cast<double>(one.options.batch) / step;
  return add_libraries(one, rounds, step, progress, figures);
}

Result<void> add_net(const std::string& name, std::size_t batch, const NetBenchSetup& setup,
                     const BenchProgress& progress, Figures& figures) {
  const int rounds = setup.rounds;
  nets::NetOptions options{.name = name, .batch = batch};
  if (const nets::ZooNet* known = nets::find_net(name)) {
    options.images = known->usual;
    options.hidden.assign(known->hidden.begin(), known->hidden.end());
  }
  if (setup.device != nullptr) {
    options.backend = {.name = "device", .device = setup.device};
    STERNA_TRY(add_device_step({name + ".fp32", options}, rounds, progress, figures));
    options.backend.tf32 = true;
    STERNA_TRY(add_device_step({name + ".tf32", options}, rounds, progress, figures));
    options.backend.tf32 = false;
    options.backend.precision = nets::Element::bf16;
    const auto bf16 = add_device_step({name + ".bf16", options}, rounds, progress, figures);
    if (!bf16) progress(fmt::format("{} without bf16: {}", name, bf16.error().message));
    return {};
  }
  const bool shares = setup.threads > 1;
  double fp32 = 0;
  if (shares) {
    STERNA_TRY(
        add_threads_step({name + ".fp32", options}, setup.threads, rounds, progress, figures));
  } else {
    STERNA_ASSIGN(fp32, add_step({name + ".fp32", options}, rounds, progress, figures));
  }
  options.backend.precision = nets::Element::bf16;
  if (const auto offered = nets::make_backend(options.backend); !offered) {
    progress(fmt::format("{} in fp32 alone: {}", name, offered.error().message));
    return {};
  }
  if (shares) {
    return add_threads_step({name + ".bf16", options}, setup.threads, rounds, progress, figures);
  }
  STERNA_ASSIGN(const double bf16, add_step({name + ".bf16", options}, rounds, progress, figures));
  figures[name + ".bf16_over_fp32"] = bf16 / fp32;
  return {};
}

}  // namespace

Result<Figures> bench_net(const NetBenchSetup& setup, const BenchProgress& progress) {
  if (setup.device != nullptr && setup.threads > 1) {
    return Error{Errc::invalid_argument, "--threads is of the CPU; leave it or --device out"};
  }
  Figures figures;
  for (const Usual& usual : kUsual) {
    if (!setup.net.empty() && setup.net != usual.net) continue;
    const std::size_t batch = setup.batch > 0 ? setup.batch : usual.batch;
    STERNA_TRY(add_net(usual.net, batch, setup, progress, figures));
  }
  if (figures.empty()) {
    const std::size_t batch = setup.batch > 0 ? setup.batch : kUsualBatch;
    STERNA_TRY(add_net(setup.net, batch, setup, progress, figures));
  }
  return figures;
}

}  // namespace sterna::launcher
