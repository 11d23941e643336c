// sterna chaos: faults at random, into a run that allows it, to see what it does about them.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <map>
#include <set>

#include "launcher/commands/visit.h"
#include "launcher/past/fault_draw.h"
#include "launcher/past/overview.h"
#include "launcher/text/json_line.h"
#include "launcher/text/nearest.h"
#include "launcher/text/text_format.h"
#include "runtime/base/duration_text.h"
#include "runtime/cluster/process_control.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

constexpr const char* kNobodyReads = "nobody reads on";

struct ChaosOptions : VisitOptions {
  std::uint64_t seed = 0;  ///< 0: one is drawn
  std::string every = "10s";
  std::string lasts = "1h";
  std::string kinds = "kill,stop,cut,delay,drop";
  std::string actors;
};

std::vector<std::string> words_between_commas(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<Duration> duration_of(const char* option, const std::string& text) {
  const std::optional<Duration> duration = parse_duration(text);
  if (duration && *duration > Duration::zero()) return *duration;
  return Error{Errc::invalid_argument,
               fmt::format("{} {}: no time; write it as 500ms, 10s or 1h", option, text)};
}

Result<std::vector<FaultKind>> kinds_of(const std::string& text) {
  std::vector<FaultKind> kinds;
  for (const std::string& word : words_between_commas(text)) {
    const std::optional<FaultKind> kind = fault_kind(word);
    if (kind) {
      kinds.push_back(*kind);
      continue;
    }
    return Error{Errc::invalid_argument,
                 fmt::format("--kinds: there is no fault \"{}\"; there are {}", word,
                             fmt::join(fault_kinds(), ", "))};
  }
  if (!kinds.empty()) return kinds;
  return Error{Errc::invalid_argument,
               fmt::format("--kinds: say which, of {}", fmt::join(fault_kinds(), ", "))};
}

/// What was injected, and how it is said.
class Story {
 public:
  Story(const Console& console, bool json) : console_(console), json_(json) {}

  Printed tell(const DrawnFault& fault) {
    ++counts_[fault.kind];
    const std::time_t time = std::time(nullptr);
    if (!json_) {
      return console_.print_result(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}  {}  {}\n", fmt::gmtime(time),
                                               printable(fault.actor.text()), words_of(fault)));
    }
    Json line = {{"time", time},
                 {"actor", fault.actor.name},
                 {"incarnation", fault.actor.incarnation},
                 {"kind", name_of(fault.kind)}};
    if (fault.lasts > Duration::zero()) line["seconds"] = in_seconds(fault.lasts);
    return console_.print_result(json_line(line) + "\n");
  }
  /// Once, until somebody is there again.
  void nobody() {
    if (std::exchange(alone_, true)) return;
    console_.say("nobody who would come again is running; waiting");
  }
  void somebody() { alone_ = false; }
  void refused(const DrawnFault& fault, const Error& why) {
    ++refused_;
    if (why.code == Errc::invalid_argument) never_.insert({fault.actor.name, fault.kind});
    console_.say(fmt::format("{} could not be injected into {}: {}", words_of(fault),
                             fault.actor.text(), why.message));
  }
  /// Whether each of these kinds was said to be for none of the actors.
  bool in_vain(const std::vector<PeerIdentity>& actors, const std::vector<FaultKind>& kinds) const {
    return std::ranges::all_of(actors, [&](const PeerIdentity& actor) {
      return std::ranges::all_of(kinds, [&](FaultKind kind) {
        return never_.contains({actor.name, kind});
      });
    });
  }
  std::string summary() const {
    std::uint64_t all = 0;
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : counts_) {
      all += count;
      kinds.push_back(fmt::format("{} {}", count, name_of(kind)));
    }
    std::string text = all == 1 ? "1 fault" : fmt::format("{} faults", all);
    if (!kinds.empty()) text += fmt::format(": {}", fmt::join(kinds, ", "));
    if (refused_ > 0) text += fmt::format("; {} could not be injected", refused_);
    return text;
  }

 private:
  const Console& console_;
  bool json_;
  bool alone_ = false;
  std::map<FaultKind, std::uint64_t> counts_;
  std::set<std::pair<std::string, FaultKind>> never_;  ///< will suffer such a fault
  std::uint64_t refused_ = 0;
};

int refuse(const Visit& visit, const Console& console) {
  console.say(
      fmt::format("{} does not allow it: its file must say [chaos] allow = true", visit.state.id));
  return kExitBadInput;
}

/// Those that --actors may name: each actor that runs, and of a run that starts also who is to
/// come.
std::vector<std::string> names_in(const Visit& visit, const Overview& overview) {
  std::vector<std::string> names;
  for (const ActorStatus& actor : status_of(visit.state, overview).actors) {
    names.push_back(actor.name);
  }
  if (names.empty()) return names;
  for (const ProcessStatus& member : overview.members) {
    if (!is_reserved_name(member.identity.name)) names.push_back(member.identity.name);
  }
  return names;
}

/// An error for a word that names none of these.
Result<void> check_actors(const std::vector<std::string>& words,
                          const std::vector<std::string>& names) {
  if (names.empty()) return {};
  for (const std::string& word : words) {
    if (std::ranges::any_of(names, [&](const auto& name) { return means(word, name); })) continue;
    return Error{Errc::not_found, fmt::format("--actors: the run has no actor \"{}\"", word)};
  }
  return {};
}

/// Runs the loop for so long, or as long as anybody reads; false: the run has ended.
bool pause_while_read(const Visit& visit, Duration pause, const Console& console) {
  constexpr Duration kLookForReader = std::chrono::milliseconds(500);
  const Loop& loop = visit.machine.loop();
  const Time until = loop.now() + pause;
  while (loop.now() < until && !visit.visitor.interrupted() && console.is_read()) {
    if (!visit.visitor.pause(std::min(kLookForReader, until - loop.now()))) return false;
  }
  return true;
}

int chaos(const Visit& visit, const FaultDrawOptions& how, Duration lasts, bool json,
          const Console& console) {
  RunVisitor& visitor = visit.visitor;
  const SignalWatch interrupt(visit.machine.loop(), SIGINT, [&] { visitor.interrupt(); });
  const SignalWatch terminate(visit.machine.loop(), SIGTERM, [&] { visitor.interrupt(); });
  const Result<Overview> first = visitor.look();
  if (!first) return console.report(first.error());
  if (!first->faults_allowed) return refuse(visit, console);
  const Result<void> there = check_actors(how.actors, names_in(visit, *first));
  if (!there) return console.report(there.error());
  console.say(fmt::format("seed {}", how.seed));
  FaultDraw draw(how);
  Story story(console, json);
  const Loop& loop = visit.machine.loop();
  const Time end = loop.now() + lasts;
  std::string why = fmt::format("{} have passed", duration_text(lasts));
  for (std::uint64_t number = 1; loop.now() < end; ++number) {
    const Duration pause = std::min(draw.pause(), end - loop.now());
    const bool goes_on = pause_while_read(visit, pause, console);
    const bool read = console.is_read();
    if (!read) why = kNobodyReads;
    if (visitor.interrupted()) why = "interrupted";
    if (!goes_on) why = "the run has ended";
    if (!goes_on || !read || visitor.interrupted() || loop.now() >= end) break;
    const Result<Overview> overview = visitor.look();
    if (!overview) {
      why = visitor.interrupted() ? "interrupted" : "the run does not answer any more";
      break;
    }
    if (overview->stopping) {
      why = "the run is ending";
      break;
    }
    const std::optional<DrawnFault> fault = draw.next(*overview);
    if (!fault) {
      story.nobody();
      continue;
    }
    story.somebody();
    const Result<void> injected =
        visitor.inject({fault->actor.name,
                        fault->kind,
                        fault->lasts,
                        fmt::format("sterna chaos, seed {}, number {}", how.seed, number),
                        {}});
    if (!injected) {
      story.refused(*fault, injected.error());
      if (story.in_vain(draw.candidates(*overview), how.kinds)) {
        console.say("nobody of them can suffer it; name others with --actors, or other --kinds");
        return kExitBadInput;
      }
    } else if (const Printed printed = story.tell(*fault); printed != Printed::written) {
      if (printed == Printed::failed) return kExitFailed;
      why = kNobodyReads;
      break;
    }
  }
  console.say(fmt::format("{}; {}", story.summary(), why));
  return kExitDone;
}

int chaos(ChaosOptions options, const Console& console) {
  const Result<Duration> every = duration_of("--every", options.every);
  if (!every) return console.report(every.error());
  const Result<Duration> lasts = duration_of("--for", options.lasts);
  if (!lasts) return console.report(lasts.error());
  const Result<std::vector<FaultKind>> kinds = kinds_of(options.kinds);
  if (!kinds) return console.report(kinds.error());
  if (options.seed == 0) {
    constexpr std::uint64_t kShort = 1'000'000;  // somebody may have to type it again
    options.seed = 1 + SystemRandom().below(kShort);
  }
  options.more = {"--seed",  std::to_string(options.seed),
                  "--every", options.every,
                  "--for",   options.lasts,
                  "--kinds", options.kinds};
  if (!options.actors.empty())
    options.more.insert(options.more.end(), {"--actors", options.actors});
  options.changes = true;
  const FaultDrawOptions how{options.seed, *every, *kinds, words_between_commas(options.actors)};
  return with_visitor("chaos", options, console, [&](const Visit& visit) {
    return chaos(visit, how, *lasts, options.json, console);
  });
}

}  // namespace

Command chaos_command() {
  const auto o = std::make_shared<ChaosOptions>();
  return {
      .name = "chaos",
      .help = "Faults at random, into a run whose file says [chaos] allow = true",
      .arguments = visit_arguments(
          *o, {run_argument(o->run),
               {"--seed", &o->seed, "Repeats the draws; default: one is drawn, and said", "S"},
               {.name = "--every",
                .into = &o->every,
                .help = "Between two faults, in the mean",
                .type = "TIME",
                .shows_default = true},
               {.name = "--for",
                .into = &o->lasts,
                .help = "Then it ends, or with the run, or by Ctrl-C; the run goes on",
                .type = "TIME",
                .shows_default = true},
               {.name = "--kinds",
                .into = &o->kinds,
                .help = "kill (SIGKILL), stop (SIGSTOP, half of them for good), cut (its "
                        "connections), delay "
                        "(what comes to it, by 200 ms), drop (what comes to it), device_fault (its "
                        "GPU fails, and it does not come again)",
                .type = "KINDS",
                .shows_default = true},
               {"--actors", &o->actors,
                "Whom: names, or names without their number (worker,reader0); default: those that "
                "come again",
                "NAMES"}}),
      .run = [o](const Context& context) { return chaos(*o, context.console); },
      .examples = {"sterna chaos", "sterna chaos RUN --every 2s --for 1m --seed 7 --kinds kill"}};
}

}  // namespace sterna::launcher
