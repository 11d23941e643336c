// sterna bench actors|train: what the runtime and a training step cost, as figures of one run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "launcher/bench/bench_actors_run.h"
#include "launcher/bench/bench_train.h"
#include "launcher/commands.h"

namespace sterna::launcher {

namespace {

Result<Figures> measure(const std::string& what, const BenchProgress& progress) {
  if (what == "train") return bench_train(progress);
  STERNA_ASSIGN(Figures figures, bench_in_process(progress));
  STERNA_ASSIGN(const Figures between, bench_between_processes(progress));
  figures.insert(between.begin(), between.end());
  return figures;
}

}  // namespace

int bench_command(const BenchOptions& options) {
  const Result<Figures> figures = measure(
      options.what, [](std::string_view what) { fmt::print(stderr, "measuring {}\n", what); });
  if (!figures) return report(figures.error());
  if (options.json) {
    nlohmann::json json = {{"format", 1}, {"bench", options.what}};
    for (const auto& [name, value] : *figures) json[name] = value;
    fmt::print("{}\n", json.dump());
    return exit_done;
  }
  for (const auto& [name, value] : *figures) {
    fmt::print("{:<44} {:>14}\n", name,
               value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value));
  }
  return exit_done;
}

}  // namespace sterna::launcher
