// sterna bench actors|codec|exchange|train: what the runtime, the codec, the exchange of gradients
// and a training step cost, as figures of one run.
#include <fmt/format.h>

#include "launcher/bench/codec/codec.h"
#include "launcher/bench/exchange/exchange.h"
#include "launcher/bench/figures.h"
#include "launcher/bench/train.h"
#include "launcher/commands/commands.h"
#include "launcher/text/console.h"
#include "launcher/text/json_line.h"
#include "launcher/text/progress_line.h"

namespace sterna::launcher {

namespace {

void tell(std::string_view what) { fmt::print(stderr, "measuring {}\n", what); }

Result<Figures> measure(const BenchOptions& options, const Registry& registry) {
  if (options.what == "train") return bench_train(registry, tell);
  if (options.what == "codec") {
    CodecBenchSetup setup;
    STERNA_ASSIGN(setup.elements, parse_elements(options.elements));
    return bench_codec(setup, options.only, tell);
  }
  const BenchParts wanted = [&](std::string_view part) {
    const bool is = part.starts_with(options.only);
    if (is) tell(part);
    return is;
  };
  STERNA_ASSIGN(Figures figures, bench_in_process(wanted));
  STERNA_ASSIGN(const Figures between, bench_between_processes(registry, wanted));
  figures.insert(between.begin(), between.end());
  if (figures.empty()) {
    return Error{Errc::invalid_argument,
                 "no part of this benchmark begins with '" + options.only +
                     "': in_process, light_actors, ipc.sync, ipc.async, ipc.n_n_sync, "
                     "ipc.n_n_async, and the same with curve"};
  }
  return figures;
}

int print_json(const BenchOptions& options, const Figures& figures) {
  nlohmann::json json = {{"format", 1}, {"bench", options.what}};
  for (const auto& [name, value] : figures) json[name] = value;
  return print_result(json_line(json) + "\n") ? exit_done : exit_failed;
}

Result<ExchangeReport> measure_exchange(const BenchOptions& options, const Registry& registry) {
  ExchangeBenchSetup setup;
  STERNA_ASSIGN(setup.shape.elements, parse_elements(options.elements));
  if (!options.link.empty()) {
    STERNA_ASSIGN(setup.link, parse_link_rate(options.link));
  }
  setup.shape.ranks = options.ranks;
  setup.shape.servers = options.servers > 0 ? options.servers : options.ranks;
  setup.shape.steps = options.steps;
  setup.security = options.security;
  setup.rounds = static_cast<int>(options.rounds);
  setup.only = options.only;
  setup.gloo = options.gloo;
  if (!setup.gloo.empty() && setup.link == 0) {
    return Error{Errc::invalid_argument,
                 "--gloo is measured between hosts: add --link, e.g. 1gbit"};
  }
  const SteadyClock clock;
  ProgressLine line(clock);
  return bench_exchange(registry, setup, [&](std::string_view what) { line.show(what); });
}

int exchange_command(const BenchOptions& options, const Registry& registry) {
  const Result<ExchangeReport> measured = measure_exchange(options, registry);
  if (!measured) {
    const int exit = report(measured.error());
    return measured.error().code == Errc::cancelled ? exit_interrupted : exit;
  }
  if (options.json) return print_json(options, measured->figures);
  std::string text;
  for (const std::string& line : measured->lines) text += line + "\n";
  return print_result(text) ? exit_done : exit_failed;
}

}  // namespace

int bench_command(const BenchOptions& options, const Registry& registry) {
  if (options.what == "exchange") return exchange_command(options, registry);
  const Result<Figures> figures = measure(options, registry);
  if (!figures) return report(figures.error());
  if (options.json) return print_json(options, *figures);
  for (const auto& [name, value] : *figures) {
    fmt::print("{:<44} {:>14}\n", name,
               value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value));
  }
  return exit_done;
}

}  // namespace sterna::launcher
