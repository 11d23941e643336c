#include "launcher/traces/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "runtime/base/median.h"

namespace sterna::launcher {
namespace {

using actors::Part;

constexpr double kNanosecond = 1e-9;

/// Sums over all steps of all ranks, in nanoseconds.
struct Totals {
  StepCauses causes;
  std::map<std::uint32_t, double> computing;  // by rank
  double all = 0;
};

void add(Totals& totals, const RankStep& step) {
  totals.causes.compute += step.causes.compute;
  totals.causes.up += step.causes.up;
  totals.causes.down += step.causes.down;
  totals.causes.server += step.causes.server;
  totals.causes.input += step.causes.input;
  for (const auto& [rank, time] : step.causes.straggler) totals.causes.straggler[rank] += time;
  totals.computing[step.rank] += step.causes.compute;
  totals.all += step.length();
}

/// Ranks always wait a little for whoever is last; one is a straggler where most of that is due to
/// it: half as much again towards all as its fair part is.
std::optional<std::uint32_t> straggler_of(const Totals& totals) {
  double sum = 0;
  std::uint32_t most = 0;
  double most_time = 0;
  for (const auto& [rank, time] : totals.causes.straggler) {
    sum += time;
    if (time <= most_time) continue;
    most = rank;
    most_time = time;
  }
  if (most_time == 0) return std::nullopt;
  const double fair = 1.0 / static_cast<double>(totals.computing.size());
  if (most_time < sum * (fair + (1 - fair) / 2)) return std::nullopt;
  return most;
}

/// What it computes longer than the others do is not what the run is bound by, but why they wait.
double longer_than_others(const Totals& totals, std::uint32_t straggler) {
  std::vector<double> others;
  double own = 0;
  for (const auto& [rank, time] : totals.computing) {
    if (rank == straggler) {
      own = time;
    } else {
      others.push_back(time);
    }
  }
  return others.empty() ? 0 : std::max(0.0, own - median(std::move(others)));
}

void name_bound(TraceSummary& summary, Totals totals) {
  StepCauses& causes = totals.causes;
  double waited = 0;
  for (const auto& [rank, time] : causes.straggler) waited += time;
  summary.straggler = straggler_of(totals);
  double straggling = 0;
  if (summary.straggler) {
    straggling = causes.straggler[*summary.straggler];
    const double longer = std::min(longer_than_others(totals, *summary.straggler), straggling);
    causes.compute -= longer;
    straggling += longer;
    waited -= causes.straggler[*summary.straggler];
  }
  // Waits for now one and now another are the unevenness of computing.
  causes.compute += waited;
  const std::array<double, kBounds.size()> times = {causes.compute, causes.up,    causes.down,
                                                    causes.server,  causes.input, straggling};
  for (std::size_t i = 0; i < times.size(); ++i) {
    summary.causes[kBounds[i]] = totals.all == 0 ? 0 : times[i] / totals.all;
  }
  summary.bound =
      kBounds[static_cast<std::size_t>(std::ranges::max_element(times) - times.begin())];
}

/// By what they did: parts of the time in which ranks made the steps. Waits overlap, and count
/// together.
TraceSummary::Busy busy(const ProcessSpans& process, double whole,
                        const std::set<std::string>& what) {
  TraceSummary::Busy made{.process = process.name, .parts = {}};
  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> times;
  for (const SpanRecord& record : process.records) {
    if (record.kind != SpanKind::span && record.kind != SpanKind::wait) continue;
    const std::string& name = process.names[record.name];
    if (what.contains(name)) times[name].emplace_back(record.begin, record.end);
  }
  for (auto& [name, all] : times) {
    std::ranges::sort(all);
    double sum = 0;
    std::int64_t until = std::numeric_limits<std::int64_t>::min();
    for (const auto& [begin, end] : all) {
      if (end <= until) continue;
      sum += static_cast<double>(end - std::max(begin, until));
      until = end;
    }
    made.parts[name] = whole == 0 ? 0 : sum / whole;
  }
  return made;
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string listed(const std::vector<TraceSummary::Busy>& all) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    text += (i == 0 ? "" : "; ") + all[i].process;
    for (const auto& [name, part] : all[i].parts)
      text += fmt::format(", {} {}", name, percent(part));
  }
  if (all.size() > kShown) text += fmt::format("; and {} more", all.size() - kShown);
  return text.empty() ? "nothing was noted" : text;
}

}  // namespace

TraceSummary summary_of(const RunTrace& trace) {
  TraceSummary summary;
  summary.steps = trace.steps;
  summary.reference = trace.reference;
  summary.clocks = trace.clocks;
  summary.messages = trace.arrows.size();
  summary.loose_ends = trace.loose_ends;
  summary.lost_blocks = trace.lost_blocks;
  const std::vector<RankStep> steps = steps_of(trace);
  Totals totals;
  std::int64_t began = std::numeric_limits<std::int64_t>::max();
  std::int64_t ended = std::numeric_limits<std::int64_t>::min();
  for (const RankStep& step : steps) {
    add(totals, step);
    began = std::min(began, step.began);
    ended = std::max(ended, step.ended);
    for (std::size_t p = 0; p < step.parts.size(); ++p) summary.exposed[p] += step.parts[p];
    summary.hidden += step.hidden;
    summary.other += std::max(0.0, step.length() - step.exposed());
  }
  for (double& part : summary.exposed) part = totals.all == 0 ? 0 : part / totals.all;
  summary.hidden = totals.all == 0 ? 0 : summary.hidden / totals.all;
  summary.other = totals.all == 0 ? 0 : summary.other / totals.all;
  summary.ranks = totals.computing.size();
  summary.step_seconds =
      steps.empty() ? 0 : totals.all * kNanosecond / static_cast<double>(steps.size());
  name_bound(summary, std::move(totals));
  const double whole = steps.empty() ? 0 : static_cast<double>(ended - began);
  for (const ProcessSpans& process : trace.processes) {
    const auto server = busy(
        process, whole,
        {"decode", "sum", "optimizer", "sum and optimizer", std::string(actors::traced::kQuorum)});
    const auto reader = busy(process, whole, {"decode and augment"});
    if (!server.parts.empty()) summary.servers.push_back(server);
    if (!reader.parts.empty()) summary.readers.push_back(reader);
  }
  return summary;
}

std::string to_text(const TraceSummary& s) {
  const auto part = [&](Part one) {
    return fmt::format("{} {}", name_of(one), percent(s.exposed[static_cast<std::size_t>(one)]));
  };
  const auto cause = [&](const char* name) {
    return fmt::format("{} {}", name, percent(s.causes.at(name)));
  };
  std::string clocks;
  for (const HostClocks::Host& host : s.clocks) {
    clocks += clocks.empty() ? "" : "; ";
    clocks += host.known ? fmt::format("{} is {:+.6f} s from {}, give or take {:.3f} ms", host.name,
                                       host.ahead * kNanosecond, s.reference, host.error * 1e-6)
                         : fmt::format("{}: unknown", host.name);
  }
  if (clocks.empty()) clocks = "one, of " + s.reference;
  std::string text =
      fmt::format("{:<9} {} to {}, of {} {}: {:.3f} ms each\n", "steps", s.steps.first,
                  s.steps.last, s.ranks, s.ranks == 1 ? "rank" : "ranks", s.step_seconds * 1e3);
  text +=
      fmt::format("{:<9} {}, {}, {}, {}, {}\n", "computing", part(Part::forward),
                  part(Part::backward), part(Part::encode), part(Part::apply), part(Part::keep));
  text += fmt::format("{:<9} {}, {}, {}, {}, {}, other {}\n", "waiting", part(Part::batch),
                      part(Part::parameters), part(Part::scalers), part(Part::turn),
                      part(Part::delay), percent(s.other));
  text += fmt::format("{:<9} gradients or parameters under way beneath computing: {}\n", "hidden",
                      percent(s.hidden));
  text += fmt::format("{:<9} {}\n", "servers", listed(s.servers));
  text += fmt::format("{:<9} {}\n", "readers", listed(s.readers));
  text += fmt::format("{:<9} {}\n", "clocks", clocks);
  text += fmt::format("{:<9} {} with both ends, {} with one; {} blocks of spans were lost\n",
                      "messages", s.messages, s.loose_ends, s.lost_blocks);
  text += fmt::format("{:<9} {}, {}, {}, {}, {}, {}\n", "due to", cause("compute"), cause("up"),
                      cause("down"), cause("server"), cause("input"), cause("straggler"));
  text += fmt::format("{:<9} {}{}\n", "bound by", s.bound,
                      s.bound == "straggler" ? fmt::format(", rank {}", *s.straggler) : "");
  return text;
}

std::string to_json(const TraceSummary& s) {
  Json exposed = Json::object();
  for (std::size_t p = 0; p < s.exposed.size(); ++p) {
    exposed[std::string(actors::kPartNames[p])] = json_number(s.exposed[p]);
  }
  exposed["other"] = json_number(s.other);
  Json causes = Json::object();
  for (const char* name : kBounds) causes[name] = json_number(s.causes.at(name));
  const auto busy = [](const std::vector<TraceSummary::Busy>& all) {
    Json list = Json::object();
    for (const TraceSummary::Busy& one : all) {
      Json parts = Json::object();
      for (const auto& [name, part] : one.parts) parts[name] = json_number(part);
      list[one.process] = std::move(parts);
    }
    return list;
  };
  Json clocks = Json::array();
  for (const HostClocks::Host& host : s.clocks) {
    Json one = {{"host", host.name}};
    one["offset_seconds"] = host.known ? json_number(host.ahead * kNanosecond) : Json(nullptr);
    one["error_seconds"] = host.known ? json_number(host.error * kNanosecond) : Json(nullptr);
    one["drift"] = host.known ? json_number(host.drift) : Json(nullptr);
    clocks.push_back(std::move(one));
  }
  Json all = {{"first_step", s.steps.first},
              {"last_step", s.steps.last},
              {"ranks", s.ranks},
              {"step_seconds", json_number(s.step_seconds)},
              {"exposed", std::move(exposed)},
              {"hidden", json_number(s.hidden)},
              {"servers", busy(s.servers)},
              {"readers", busy(s.readers)},
              {"clock", s.reference},
              {"clocks", std::move(clocks)},
              {"messages", s.messages},
              {"loose_ends", s.loose_ends},
              {"lost_blocks", s.lost_blocks},
              {"due_to", std::move(causes)},
              {"bound", s.bound}};
  all["straggler"] = s.bound == "straggler" ? Json(*s.straggler) : Json(nullptr);
  return json_line(all) + "\n";
}

}  // namespace sterna::launcher
