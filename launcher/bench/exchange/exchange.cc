#include "launcher/bench/exchange/exchange.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "input/digits/digits.h"
#include "launcher/bench/exchange/exchange_figures.h"
#include "launcher/bench/exchange/gloo_run.h"
#include "launcher/bench/logs.h"
#include "launcher/bench/memory_speed.h"
#include "nets/net.h"
#include "nets/zoo/fixed_gradients.h"
#include "runtime/base/median.h"

namespace sterna::launcher {

namespace {

constexpr int kMemoryRounds = 15;
constexpr int kOwnSteps = 25;
/// The net has to be shown something.
constexpr input::DigitsOptions kFewDigits{.seed = 1, .train = 256, .test = 16};

struct Contender {
  std::string name;
  std::vector<std::string> keys;
};

std::vector<Contender> contenders(const std::string& only) {
  std::vector<Contender> all = {
      {kFp32, {"gradient.codec=none"}},
      {"fresh", {"gradient.codec=ternary", "gradient.scaler=shared", "gradient.down=average"}},
      {"last_step",
       {"gradient.codec=ternary", "gradient.scaler=last_step", "gradient.down=average"}},
      {"entropy",
       {"gradient.codec=ternary_entropy", "gradient.scaler=last_step", "gradient.down=average"}},
      {kAuto, {"gradient.codec=auto", "gradient.scaler=last_step", "gradient.down=average"}},
  };
  std::erase_if(all, [&](const Contender& one) { return !one.name.starts_with(only); });
  return all;
}

std::vector<ExchangeLink> links(const ExchangeBenchSetup& setup, const EmulatedHosts* hosts) {
  if (hosts != nullptr) {
    return {{kShaped, "mixed", setup.security.empty() ? "curve" : setup.security, hosts}};
  }
  std::vector<ExchangeLink> links = {{"tcp", "tcp", "none", nullptr},
                                     {"ipc", "ipc", "none", nullptr},
                                     {"tcp_curve", "tcp", "curve", nullptr}};
  if (!setup.security.empty()) {
    std::erase_if(links, [&](const auto& link) { return link.security != setup.security; });
  }
  return links;
}

/// What a step of the net takes that hands its gradients to nobody: part of every measured step.
Result<double> own_step_seconds(const ExchangeShape& shape) {
  struct Nobody final : nets::GradientSink {
    void gradient(std::size_t, const nets::Gradient&) override {}
  } nobody;
  const std::vector<std::uint32_t> tensors = exchange_tensors(shape);
  STERNA_ASSIGN(
      const auto net,
      nets::make_net({.name = shape.net, .hidden = {tensors.begin(), tensors.end()}, .batch = 1}));
  std::size_t pixels = 1;
  for (const std::size_t side : net->input_shape()) pixels *= side;
  const std::vector<float> image(pixels);
  const std::array<std::uint16_t, 1> label{};
  const SteadyClock clock;
  std::vector<double> times;
  for (int step = 0; step < kOwnSteps; ++step) {
    const Time begin = clock.now();
    STERNA_TRY(net->train_step(image, label, nobody));
    times.push_back(std::chrono::duration<double>(clock.now() - begin).count());
  }
  return median(times);
}

/// How much of the exchange hides behind the passes of a net on four hosts: the time of its passes
/// over a step's, the median of the rounds.
Result<double> weak_scaling(const Registry& registry, const ExchangeBenchSetup& setup,
                            const BenchProgress& progress, const input::DataLocation& data) {
  constexpr std::int64_t kHosts = 4;
  constexpr std::size_t kTensors = 16;
  STERNA_ASSIGN(const EmulatedHosts hosts, EmulatedHosts::make(kHosts, setup.link));
  ExchangeShape shape = setup.shape;
  shape.ranks = kHosts;
  shape.servers = kHosts;
  shape.tensors = kTensors;
  shape.net = nets::kPacedFixedGradientsName;
  const ExchangeLink link = links(setup, &hosts).front();
  STERNA_ASSIGN(const ClusterFile file,
                exchange_file(shape, link, contenders(kPlanes).front().keys));
  const std::chrono::duration<double> passes = nets::kPacedForward + nets::kPacedBackward;
  std::vector<double> ratios;
  for (int round = 0; round < setup.rounds; ++round) {
    progress(fmt::format("round {} of {}: {}", round + 1, setup.rounds, kWeakScaling));
    STERNA_ASSIGN(const ExchangeStep step, run_exchange(registry, file, link, data));
    ratios.push_back(passes.count() / step.seconds);
  }
  return median(ratios);
}

/// The rounds, with what they have measured so far.
class Bench {
 public:
  Bench(const Registry& registry, const ExchangeBenchSetup& setup, const BenchProgress& progress,
        const EmulatedHosts* hosts, const input::DataLocation& data)
      : registry_(registry), setup_(setup), progress_(progress), hosts_(hosts), data_(data) {}

  Result<ExchangeReport> measure() {
    progress_("memory");
    STERNA_ASSIGN(Figures alone,
                  measure_memory(setup_.shape.elements, kernels::best_isa(), kMemoryRounds));
    STERNA_ASSIGN(alone["net_step_seconds"], own_step_seconds(setup_.shape));
    for (int round = 0; round < setup_.rounds; ++round) STERNA_TRY(measure_round(round));
    ExchangeReport report;
    report.figures = figures_of(rounds_);
    report.figures.merge(alone);
    report.lines = lines_of(rounds_, report.figures);
    if (!no_gloo_.empty()) report.lines.push_back("no gloo beside them: " + no_gloo_);
    return report;
  }

 private:
  Result<void> measure_round(int round) {
    const auto show = [&](const std::string& what) {
      progress_(fmt::format("round {} of {}: {}", round + 1, setup_.rounds, what));
    };
    ExchangeRound& measured = rounds_.emplace_back();
    show("raw sockets");
    STERNA_ASSIGN(measured.raw, measure_raw_link(hosts_));
    for (const ExchangeLink& link : links(setup_, hosts_)) {
      for (const auto& [name, keys] : contenders(setup_.only)) {
        show(fmt::format("{} over {}", name, link.name));
        STERNA_ASSIGN(const ClusterFile file, exchange_file(setup_.shape, link, keys));
        STERNA_ASSIGN(const ExchangeStep step, run_exchange(registry_, file, link, data_));
        measured.steps[link.name].push_back({name, step});
      }
    }
    if (setup_.gloo.empty() || !no_gloo_.empty()) return {};
    show("gloo");
    const Result<double> seconds = run_gloo(setup_.gloo, setup_.shape, hosts_);
    if (seconds) {
      measured.gloo_seconds = *seconds;
    } else {
      no_gloo_ = seconds.error().message;
      show("no gloo beside them: " + no_gloo_);
    }
    return {};
  }

  const Registry& registry_;
  const ExchangeBenchSetup& setup_;
  const BenchProgress& progress_;
  const EmulatedHosts* hosts_;
  const input::DataLocation& data_;
  std::vector<ExchangeRound> rounds_;
  std::string no_gloo_;
};

/// On its own hosts, if any.
Result<ExchangeReport> compare(const Registry& registry, const ExchangeBenchSetup& setup,
                               const BenchProgress& progress, const input::DataLocation& data) {
  std::optional<EmulatedHosts> hosts;
  if (setup.link > 0) {
    const auto ranks = static_cast<std::size_t>(setup.shape.ranks);
    STERNA_ASSIGN(EmulatedHosts made, EmulatedHosts::make(ranks, setup.link));
    hosts.emplace(std::move(made));
  }
  return Bench(registry, setup, progress, hosts ? &*hosts : nullptr, data).measure();
}

Result<ExchangeReport> measure(const Registry& registry, const ExchangeBenchSetup& setup,
                               const BenchProgress& progress, const input::DataLocation& data) {
  ExchangeReport report;
  if (!contenders(setup.only).empty()) {
    STERNA_ASSIGN(report, compare(registry, setup, progress, data));
  }
  if (setup.link > 0 && std::string_view(kWeakScaling).starts_with(setup.only)) {
    STERNA_ASSIGN(const double scaling, weak_scaling(registry, setup, progress, data));
    report.figures[kWeakScaling] = scaling;
    report.lines.push_back(
        fmt::format("four hosts   {:.2f} of a step are the net's passes, 200 ms", scaling));
  }
  if (!report.figures.empty()) return report;
  return Error{Errc::invalid_argument,
               fmt::format("no codec's name here begins with '{}'", setup.only)};
}

}  // namespace

Result<ExchangeReport> bench_exchange(const Registry& registry, const ExchangeBenchSetup& setup,
                                      const BenchProgress& progress) {
  STERNA_ASSIGN(const BenchLogs folder, BenchLogs::create());
  const std::filesystem::path digits = std::filesystem::path(folder.path()) / "digits";
  const Result<void> drawn = input::make_digits(digits, kFewDigits);
  Result<ExchangeReport> report =
      drawn ? measure(registry, setup, progress, {.dir = digits, .name = "digits"}) : drawn.error();
  folder.discard();
  return report;
}

}  // namespace sterna::launcher
