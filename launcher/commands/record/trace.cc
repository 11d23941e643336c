// sterna trace: where the time of some steps went.
#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "actors/job/trace_section.h"
#include "input/files/pending_file.h"
#include "launcher/commands/command.h"
#include "launcher/past/run_state.h"
#include "launcher/record/output_file.h"
#include "launcher/traces/chrome_trace.h"
#include "launcher/traces/trace_summary.h"

namespace sterna::launcher {
namespace {

struct TraceOptions {
  std::string run;
  std::string steps;
  std::string out;
  bool summary = false;
  bool json = false;
};

/// How many bytes they are.
Result<std::uint64_t> write_file(const RunTrace& trace, const std::string& path) {
  STERNA_ASSIGN(input::PendingFile file, input::PendingFile::create(path));
  std::uint64_t bytes = 0;
  Result<void> written;
  write_chrome_trace(trace, [&](std::string_view piece) {
    bytes += piece.size();
    if (!written) return;
    written = file.append({reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()});
  });
  STERNA_TRY(std::move(written));
  STERNA_TRY(file.finish());
  return bytes;
}

std::string words_of(const RunTrace& trace, const std::string& path, std::uint64_t bytes) {
  std::string clocks;
  for (const HostClocks::Host& host : trace.clocks) {
    clocks += host.known
                  ? fmt::format("{}'s clock is known to {:.3f} ms\n", host.name, host.error * 1e-6)
                  : fmt::format("{}'s clock is unknown: its times are its own\n", host.name);
  }
  return fmt::format(
      "{}{}: steps {} to {}, {} processes, {} messages, {} bytes; open it in "
      "chrome://tracing or ui.perfetto.dev\n",
      clocks, path, trace.steps.first, trace.steps.last, trace.processes.size(),
      trace.arrows.size(), bytes);
}

Result<std::string> trace(const TraceOptions& options) {
  std::optional<TracedSteps> wanted;
  if (!options.steps.empty()) {
    Result<TracedSteps> steps = actors::parse_steps(options.steps);
    if (!steps) return std::move(steps).error().in("--steps");
    wanted = *steps;
  }
  STERNA_ASSIGN(const std::string run, run_directory_of(options.run));
  if (options.summary || options.json) {
    STERNA_ASSIGN(const RunTrace trace, read_run_trace(run, wanted));
    const TraceSummary summary = summary_of(trace);
    return options.json ? to_json(summary) : to_text(summary);
  }
  const std::string out = options.out.empty() ? run + "/trace.json" : options.out;
  STERNA_ASSIGN(const std::string file, output_file(out, ".json", "--out"));
  STERNA_ASSIGN(const RunTrace trace, read_run_trace(run, wanted));
  STERNA_ASSIGN(const std::uint64_t bytes, write_file(trace, file));
  return words_of(trace, out, bytes);
}

}  // namespace

Command trace_command() {
  const auto options = std::make_shared<TraceOptions>();
  return {
      .name = "trace",
      .help = "Where the time of a run's traced steps went (trace.steps)",
      .arguments = {{.name = "RUN",
                     .into = &options->run,
                     .help = "A run directory, or the name of a run that this machine remembers",
                     .required = true},
                    {.name = "--steps",
                     .into = &options->steps,
                     .help = "These alone; both ends are in it, and the first step is 0",
                     .type = "A..B"},
                    {.name = "--summary",
                     .into = &options->summary,
                     .help = "Ten lines, the last of which says what bounds the run"},
                    {.name = "--json",
                     .into = &options->json,
                     .help = "The summary as one line of JSON"},
                    {.name = "-o,--out",
                     .into = &options->out,
                     .help = "Where the trace goes, for chrome://tracing and ui.perfetto.dev; "
                             "default: trace.json in the run's directory",
                     .type = "FILE"}},
      .run =
          [options](const Context& context) {
            const Result<std::string> said = trace(*options);
            return said ? context.console.result(*said) : context.console.report(said.error());
          },
      .examples = {
          "sterna run configs/lenet_mnist.toml --run-dir runs/a --set trace.steps=100..110",
          "sterna trace runs/a --summary"}};
}

}  // namespace sterna::launcher
