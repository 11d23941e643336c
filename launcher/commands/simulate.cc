// sterna simulate: whole runs on a virtual clock, to which things happen as a seed draws them.
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <thread>

#include "launcher/commands/command.h"
#include "launcher/simulate/simulator.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

struct SimulateOptions {
  std::string seeds;
  std::string seed;
  std::string minimise;
  std::string schedule;
  std::int64_t jobs = 1;
  bool log = false;
  bool first = false;
};

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::uint64_t> read_seed(const std::string& text, const char* option) {
  if (const auto seed = number_of(text)) return *seed;
  return Error{Errc::invalid_argument,
               fmt::format("{} wants a seed, a whole number from 0, not \"{}\"", option, text)};
}

Result<Seeds> read_seeds(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const auto first = number_of(std::string_view(text).substr(0, dots));
    const auto last = number_of(std::string_view(text).substr(dots + 2));
    if (first && last && *first <= *last) return Seeds{*first, *last};
  }
  return Error{Errc::invalid_argument,
               fmt::format("--seeds wants FIRST..LAST, for example 1..1000, not \"{}\"", text)};
}

std::string in_words(const SeedReport& report, const std::string& repeat) {
  std::string text = fmt::format("seed {}: {}\n", report.scene.seed, describe(report.scene));
  for (const Violation& one : report.violations) {
    text += fmt::format("  broken: {}: {}\n", one.invariant, one.seen);
  }
  text += fmt::format("  the schedule, of {} faults:\n", report.scene.schedule.size());
  for (const Fault& fault : report.scene.schedule) text += "    " + text_of(fault) + "\n";
  return text + "  again: " + repeat + "\n";
}

/// What many seeds came to.
struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t broken = 0;
  std::uint64_t faults = 0;
  std::uint64_t restarts = 0;
  std::uint64_t moves = 0;
  std::uint64_t messages = 0;
  Duration took{};
  std::map<std::string, std::uint64_t> points;  ///< as RunFacts has them
};

class SeedsCommand {
 public:
  SeedsCommand(const Context& context, Seeds seeds, std::int64_t jobs, bool first)
      : console_(context.console),
        simulator_(context.registry),
        seeds_(seeds),
        jobs_(jobs),
        first_(first) {
    next_ = seeds.first;
  }

  int run() {
    const SteadyClock clock;
    const Time began = clock.now();
    {
      std::vector<std::jthread> threads;
      for (std::int64_t i = 1; i < jobs_; ++i) threads.emplace_back([this] { work(); });
      work();
    }
    if (failed_) return console_.report(*failed_);
    const double seconds = in_seconds(clock.now() - began);
    const auto of_each = [&](std::uint64_t sum) {
      return static_cast<double>(sum) / static_cast<double>(totals_.seeds);
    };
    const double work = 1e3 * seconds * static_cast<double>(jobs_);
    console_.say(fmt::format(
        "{} seeds in {:.1f} s, {:.1f} ms of a job each; each with {:.1f} faults, {:.1f} restarts, "
        "{:.1f} of them on another host, {:.0f} messages, {:.1f} s of its clock",
        totals_.seeds, seconds, work / static_cast<double>(totals_.seeds), of_each(totals_.faults),
        of_each(totals_.restarts), of_each(totals_.moves), of_each(totals_.messages),
        in_seconds(totals_.took) / static_cast<double>(totals_.seeds)));
    std::string points;
    for (const auto& [message, hits] : totals_.points) {
      points += fmt::format("{}{} {}", points.empty() ? "" : ", ", message, hits);
    }
    if (!points.empty()) console_.say("struck at messages: " + points);
    const int told = console_.result(
        fmt::format("{} of {} seeds broke something\n", totals_.broken, totals_.seeds));
    return totals_.broken == 0 ? told : kExitFailed;
  }

 private:
  void work() {
    while (true) {
      const std::uint64_t seed = next_++;
      if (seed > seeds_.last || stop_) return;
      const Result<SeedReport> report = simulator_.run(seed);
      const std::lock_guard lock(mutex_);
      if (!report) {
        failed_ = report.error().in(fmt::format("seed {}", seed));
        stop_ = true;
        return;
      }
      ++totals_.seeds;
      totals_.faults += report->facts.injected.size();
      totals_.restarts += report->facts.restarts.size();
      totals_.moves += report->facts.moves;
      totals_.messages += report->facts.messages;
      totals_.took += report->facts.took;
      for (const auto& [message, hits] : report->facts.points) totals_.points[message] += hits;
      if (report->violations.empty()) continue;
      ++totals_.broken;
      const Printed printed = console_.print_result(
          in_words(*report, fmt::format("sterna simulate --seed {} --log", seed)));
      if (first_ || printed != Printed::written) stop_ = true;
    }
  }

  const Console& console_;
  Simulator simulator_;
  const Seeds seeds_;
  const std::int64_t jobs_;
  const bool first_;
  std::atomic<std::uint64_t> next_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // guards all below
  Totals totals_;
  std::optional<Error> failed_;
};

int one_seed(const SimulateOptions& options, std::uint64_t seed, const Context& context) {
  const Console& console = context.console;
  Simulator simulator(context.registry);
  Teller tell;
  if (options.log) {
    tell = [&console](Time when, const std::string& line) {
      console.print_result(fmt::format("{:12.6f}  {}\n", in_seconds(when - Time{}), line));
    };
  }
  std::string repeat = fmt::format("sterna simulate --seed {} --log", seed);
  Result<SeedReport> report = Error{Errc::internal, "not run"};
  if (options.schedule.empty()) {
    report = simulator.run(seed, tell);
  } else {
    const Result<std::string> text = read_file(options.schedule);
    if (!text) return console.report(text.error());
    Result<std::vector<Fault>> schedule = read_schedule(*text);
    if (!schedule) return console.report(std::move(schedule).error().in(options.schedule));
    repeat += " --schedule " + options.schedule;
    report = simulator.run(seed, std::move(*schedule), tell);
  }
  if (!report) return console.report(report.error());
  const RunFacts& facts = report->facts;
  if (!report->violations.empty()) console.print_result(in_words(*report, repeat));
  console.print_result(fmt::format(
      "seed {}: {}, {} faults, {} restarts, {} messages, {:.3f} s of its clock; trace {:016x}\n",
      seed, report->violations.empty() ? "all holds" : "BROKEN", facts.injected.size(),
      facts.restarts.size(), facts.messages, in_seconds(facts.took), facts.trace));
  return report->violations.empty() ? kExitDone : kExitFailed;
}

int minimise(std::uint64_t seed, const Context& context) {
  const Console& console = context.console;
  Simulator simulator(context.registry);
  const Result<SeedReport> report = simulator.run(seed);
  if (!report) return console.report(report.error());
  if (report->violations.empty()) {
    console.say(fmt::format("seed {}: all holds; there is nothing to make shorter", seed));
    return kExitDone;
  }
  std::size_t runs = 0;
  const std::vector<Fault> least = simulator.minimise(*report, [&](std::size_t) { ++runs; });
  const Result<SeedReport> again = simulator.run(seed, least);
  if (!again) return console.report(again.error());
  console.say(
      fmt::format("seed {}: {} of {} faults are left after {} runs; a file of these lines "
                  "repeats it: sterna simulate --seed {} --schedule FILE --log",
                  seed, least.size(), report->scene.schedule.size(), runs, seed));
  for (const Violation& one : again->violations) {
    console.say(fmt::format("broken: {}: {}", one.invariant, one.seen));
  }
  console.print_result(text_of(least));
  return kExitFailed;
}

int simulate(const SimulateOptions& options, const Context& context) {
  const int ways = static_cast<int>(!options.seeds.empty()) +
                   static_cast<int>(!options.seed.empty()) +
                   static_cast<int>(!options.minimise.empty());
  if (ways != 1 || ((options.log || !options.schedule.empty()) && options.seed.empty()) ||
      (options.first && options.seeds.empty())) {
    return context.console.report(
        {Errc::invalid_argument,
         "sterna simulate: say one of --seeds A..B, --seed N and --minimise N; --log and "
         "--schedule go with --seed, --first with --seeds"});
  }
  if (!options.seeds.empty()) {
    const Result<Seeds> seeds = read_seeds(options.seeds);
    if (!seeds) return context.console.report(seeds.error());
    return SeedsCommand(context, *seeds, options.jobs, options.first).run();
  }
  const bool one = !options.seed.empty();
  const Result<std::uint64_t> seed =
      one ? read_seed(options.seed, "--seed") : read_seed(options.minimise, "--minimise");
  if (!seed) return context.console.report(seed.error());
  return one ? one_seed(options, *seed, context) : minimise(*seed, context);
}

}  // namespace

Command simulate_command() {
  constexpr std::int64_t kMostJobs = 256;
  const auto o = std::make_shared<SimulateOptions>();
  return {.name = "simulate",
          .help = "Simulate whole runs, each with faults drawn from a seed; say which end wrongly",
          .arguments = {{.name = "--seeds",
                         .into = &o->seeds,
                         .help = "Run all of these seeds",
                         .type = "A..B"},
                        {.name = "--seed", .into = &o->seed, .help = "Run one", .type = "N"},
                        {.name = "--minimise",
                         .into = &o->minimise,
                         .help = "Leave out of a seed's faults all that break nothing",
                         .type = "N"},
                        {.name = "--schedule",
                         .into = &o->schedule,
                         .help = "With --seed: the faults in this file in place of the seed's",
                         .type = "FILE"},
                        {.name = "--log",
                         .into = &o->log,
                         .help = "With --seed: print all that happens, by the virtual clock"},
                        {.name = "--first",
                         .into = &o->first,
                         .help = "With --seeds: end with the first that breaks something"},
                        {.name = "--jobs",
                         .into = &o->jobs,
                         .help = "How many seeds side by side",
                         .type = "N",
                         .shows_default = true,
                         .range = {{1, kMostJobs}}}},
          .run = [o](const Context& context) { return simulate(*o, context); },
          .examples = {
              "sterna simulate --seeds 1..10000 --jobs 2", "sterna simulate --seed 17 --log",
              "sterna simulate --minimise 17 > faults; sterna simulate --seed 17 --schedule faults "
              "--log"}};
}

}  // namespace sterna::launcher
