// sterna bench actors|codec|train: what the runtime, the codec and a training step cost, as figures
// of one run.
#include <fmt/format.h>

#include "launcher/bench/bench_actors_run.h"
#include "launcher/bench/bench_codec.h"
#include "launcher/bench/bench_train.h"
#include "launcher/commands.h"
#include "launcher/json_line.h"

namespace sterna::launcher {

namespace {

void tell(std::string_view what) { fmt::print(stderr, "measuring {}\n", what); }

Result<Figures> measure(const BenchOptions& options) {
  if (options.what == "train") return bench_train(tell);
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
  STERNA_ASSIGN(const Figures between, bench_between_processes(wanted));
  figures.insert(between.begin(), between.end());
  if (figures.empty()) {
    return Error{Errc::invalid_argument,
                 "no part of this benchmark begins with '" + options.only +
                     "': in_process, light_actors, ipc.sync, ipc.async, ipc.n_n_sync, "
                     "ipc.n_n_async, and the same with curve"};
  }
  return figures;
}

}  // namespace

int bench_command(const BenchOptions& options) {
  const Result<Figures> figures = measure(options);
  if (!figures) return report(figures.error());
  if (options.json) {
    nlohmann::json json = {{"format", 1}, {"bench", options.what}};
    for (const auto& [name, value] : *figures) json[name] = value;
    fmt::print("{}\n", json_line(json));
    return exit_done;
  }
  for (const auto& [name, value] : *figures) {
    fmt::print("{:<44} {:>14}\n", name,
               value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value));
  }
  return exit_done;
}

}  // namespace sterna::launcher
