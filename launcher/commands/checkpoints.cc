// sterna checkpoints RUN: what a run can go on from.
#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/checkpoint/saved.h"
#include "launcher/commands/command.h"
#include "launcher/past/run_state.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

struct CheckpointsOptions {
  std::string run;
  bool json = false;
};

/// One of them, every byte of it read.
Json facts_of(const actors::FoundCheckpoint& found, bool best) {
  Json json = {{"format", 1}, {"step", found.step}, {"folder", found.folder}, {"best", best}};
  Result<void> whole = found.manifest ? Result<void>() : Result<void>(found.manifest.error());
  if (found.manifest) {
    const actors::SavedCheckpoint saved{found.folder, *found.manifest};
    whole = actors::check_parts(saved, true);
    json["bytes"] = saved.bytes();
    if (const auto& precision = saved.manifest.precision) {
      json["precision_at_1"] = precision->at_1;
      if (precision->examples > 0) json["precision_examples"] = precision->examples;
    }
    if (!saved.manifest.copy.empty()) json["copy"] = saved.manifest.copy;
    if (!saved.manifest.run.empty()) json["run"] = saved.manifest.run;
  }
  json["whole"] = whole.ok();
  if (!whole) json["why"] = whole.error().message;
  return json;
}

/// "0.9560 of 2,000": of how many examples, as others do not compare with it.
std::string precision_of(const Json& facts) {
  if (!facts.contains("precision_at_1")) return "-";
  std::string text = fmt::format("{:.4f}", facts["precision_at_1"].get<double>());
  if (facts.contains("precision_examples")) {
    text += " of " + thousands(facts["precision_examples"].get<std::int64_t>());
  }
  return text;
}

/// Whether several runs made them, as in a folder that these share.
bool of_several_runs(const std::vector<actors::FoundCheckpoint>& all) {
  std::set<std::string> runs;
  for (const actors::FoundCheckpoint& one : all) {
    if (one.manifest) runs.insert(one.manifest->run);
  }
  return runs.size() > 1;
}

int checkpoints(const CheckpointsOptions& options, const Console& console) {
  const Result<std::string> run = run_directory_of(options.run);
  if (!run) return console.report(run.error());
  const std::string folder = actors::checkpoints_in(*run);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return console.report(Error{Errc::not_found, options.run + ": there is no such folder"});
  }
  std::string text;
  bool damaged = false;
  bool whole = false;
  const std::vector<actors::FoundCheckpoint> all = actors::find_checkpoints(folder);
  const std::optional<std::size_t> best = actors::best_checkpoint(all);
  const bool several = of_several_runs(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const actors::FoundCheckpoint& found = all[i];
    const Json facts = facts_of(found, best == i);
    // One that is being written, or was never finished, is none yet.
    const bool is_one = found.manifest || found.manifest.error().code != Errc::not_found;
    (facts["whole"].get<bool>() ? whole : damaged) |= is_one;
    if (options.json) {
      text += json_line(facts) + "\n";
      continue;
    }
    const std::string size =
        facts.contains("bytes") ? bytes_text(facts["bytes"].get<std::uint64_t>()) : "-";
    const std::string copy =
        facts.contains("copy") ? "; a copy at " + facts["copy"].get<std::string>() : "";
    const std::string run = several && facts.contains("run")
                                ? ", of " + printable(facts["run"].get<std::string>())
                                : "";
    text += fmt::format("step {:>11}  {:>9}  precision@1 {:<16}  {}{}{}{}\n",
                        thousands(static_cast<std::int64_t>(found.step)), size, precision_of(facts),
                        facts["whole"].get<bool>() ? "whole" : facts["why"].get<std::string>(),
                        best == i ? ", the best" : "", run, copy);
  }
  if (text.empty() && !options.json) console.say(folder + ": there is no checkpoint");
  const int exit = console.result(text);
  if (exit != kExitDone || whole || !damaged) return exit;
  console.say(folder + ": no checkpoint here is whole");
  return kExitFailed;
}

}  // namespace

Command checkpoints_command() {
  const auto o = std::make_shared<CheckpointsOptions>();
  return {"checkpoints",
          "What a run can go on from, and whether it is whole",
          {{"RUN", &o->run, "The run's directory, or a folder of checkpoints", {}, true},
           {"--json", &o->json, "Print each as a line of JSON"}},
          [o](const Context& context) { return checkpoints(*o, context.console); },
          {},
          "Exit code 1: there are some, and all are damaged."};
}

}  // namespace sterna::launcher
