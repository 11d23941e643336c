#include "launcher/bench/exchange/exchange_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "launcher/text/text_table.h"
#include "runtime/base/median.h"

namespace sterna::launcher {

namespace {

double median_of(const std::vector<ExchangeRound>& rounds,
                 const std::function<double(const ExchangeRound&)>& value) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const ExchangeRound& round : rounds) values.push_back(value(round));
  return median(values);
}

/// The time with "auto" over the shortest that another contender took in the same round.
double auto_over_best(const std::vector<ExchangeRound::Entry>& entries) {
  double own = 0;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [name, step] : entries) {
    if (name == kAuto) {
      own = step.seconds;
    } else {
      best = std::min(best, step.seconds);
    }
  }
  return own / best;
}

std::string number(const Figures& figures, const std::string& name, const char* format,
                   double scale = 1) {
  const auto found = figures.find(name);
  return found == figures.end() ? "-" : fmt::format(fmt::runtime(format), found->second * scale);
}

}  // namespace

Figures figures_of(const std::vector<ExchangeRound>& rounds) {
  Figures figures;
  for (const auto& [link, entries] : rounds.front().steps) {
    const bool compared = entries.front().contender == kFp32;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto step = [&link = link, i](const ExchangeRound& round) -> const ExchangeStep& {
        return round.steps.at(link)[i].step;
      };
      const auto seconds = [&](const ExchangeRound& round) { return step(round).seconds; };
      const auto fp32_seconds = [&link = link](const ExchangeRound& round) {
        return round.steps.at(link).front().step.seconds;
      };
      const std::string& name = entries[i].contender;
      const std::string where = fmt::format("{}.{}", link, name);
      figures["step_seconds." + where] = median_of(rounds, seconds);
      if (compared && name == kPlanes && link != kShaped) {
        figures["ternary_over_fp32_time." + link] = median_of(
            rounds, [&](const auto& round) { return seconds(round) / fp32_seconds(round); });
      }
      if (name == kAuto && entries.size() > 1) {
        const double ratio = median_of(rounds, [&link = link](const auto& round) {
          return auto_over_best(round.steps.at(link));
        });
        figures["auto_over_best." + link] = ratio;
        figures["auto_over_best"] = std::max(figures["auto_over_best"], ratio);
      }
      const ExchangeStep& last = step(rounds.back());
      if (last.bits_up) figures["bits_up." + where] = *last.bits_up;
      if (last.bits_down) figures["bits_down." + where] = *last.bits_down;
      if (name == kPlanes && last.bits_up_ternarized) {
        figures["bits_up_ternarized"] = *last.bits_up_ternarized;
      }
      if (name == kPlanes && last.bits_down) figures["bits_down_average"] = *last.bits_down;
      if (link != kShaped) continue;
      figures["card_bytes." + name] =
          median_of(rounds, [&](const auto& round) { return step(round).card_bytes; });
      figures["wall_over_wire." + name] = median_of(rounds, [&](const auto& round) {
        return seconds(round) / (step(round).card_bytes / round.raw.card_rate);
      });
      if (compared && name != kFp32) {
        figures["speedup_over_fp32." + name] = median_of(
            rounds, [&](const auto& round) { return fp32_seconds(round) / seconds(round); });
      }
      // With the scaler that no earlier step knows: what a user has to compare with gloo.
      const bool measured = std::all_of(rounds.begin(), rounds.end(),
                                        [](const auto& round) { return round.gloo_seconds > 0; });
      if (name == "fresh" && measured) {
        figures["gloo_seconds"] =
            median_of(rounds, [](const auto& round) { return round.gloo_seconds; });
        figures["speedup_over_gloo"] = median_of(
            rounds, [&](const auto& round) { return round.gloo_seconds / seconds(round); });
      }
    }
  }
  figures["raw_goodput"] = median_of(rounds, [](const auto& round) { return round.raw.goodput; });
  return figures;
}

std::vector<std::string> lines_of(const std::vector<ExchangeRound>& rounds,
                                  const Figures& figures) {
  std::vector<std::string> lines;
  for (const auto& [link, entries] : rounds.front().steps) {
    std::vector<std::vector<std::string>> rows;
    const auto fp32 = figures.find(fmt::format("step_seconds.{}.{}", link, kFp32));
    const auto times_faster = [&](double seconds) {
      return fp32 == figures.end() ? "-" : fmt::format("{:.2f}", fp32->second / seconds);
    };
    for (const auto& [name, step] : entries) {
      const std::string where = fmt::format("{}.{}", link, name);
      const double seconds = figures.at("step_seconds." + where);
      rows.push_back({name, fmt::format("{:.2f}", seconds * 1e3), times_faster(seconds),
                      number(figures, "bits_up." + where, "{:.3f}"),
                      number(figures, "bits_down." + where, "{:.3f}"),
                      link == kShaped ? number(figures, "card_bytes." + name, "{:.2f}", 1e-6) : "-",
                      link == kShaped ? number(figures, "wall_over_wire." + name, "{:.3f}") : "-"});
    }
    if (link == kShaped && figures.contains("gloo_seconds")) {
      const double seconds = figures.at("gloo_seconds");
      rows.push_back({"gloo", fmt::format("{:.2f}", seconds * 1e3), times_faster(seconds), "-", "-",
                      "-", "-"});
    }
    const std::vector<std::string> table = text_table({{link},
                                                       {"ms a step", true},
                                                       {"times fp32's speed", true},
                                                       {"bits up", true},
                                                       {"bits down", true},
                                                       {"MB on the card", true},
                                                       {"time over wire's", true}},
                                                      rows);
    lines.insert(lines.end(), table.begin(), table.end());
    lines.emplace_back();
  }
  lines.push_back(fmt::format("memory       read {:.1f} GB/s, memcpy {:.1f} GB/s",
                              figures.at("read_gbps"), figures.at("memcpy_gbps")));
  lines.push_back(fmt::format("raw sockets  {:.1f} MB/s in each direction at once",
                              figures.at("raw_goodput") / 1e6));
  lines.push_back(fmt::format("the net      {:.3f} ms of each step are its own",
                              figures.at("net_step_seconds") * 1e3));
  return lines;
}

}  // namespace sterna::launcher
