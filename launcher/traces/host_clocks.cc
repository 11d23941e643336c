#include "launcher/traces/host_clocks.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>

namespace sterna::launcher {
namespace {

/// The quickest round trip of so much time is a knot.
constexpr std::int64_t kWindow = 2'000'000'000;

using Sample = ClockDifference::Sample;

/// What its neighbour says of the same moment is worse.
bool says_more(const Sample& sample, const Sample& neighbour) {
  const double away = std::abs(static_cast<double>(sample.at - neighbour.at));
  return sample.error <= neighbour.error + ClockDifference::kMostDrift * away;
}

}  // namespace

Sample sample_of(const ProcessSpans::RoundTrip& trip) {
  const auto whole = static_cast<double>(trip.came - trip.asked);
  const double way = whole - static_cast<double>(trip.held);
  const double low = static_cast<double>(trip.answered - trip.came);
  const double high = static_cast<double>(trip.answered - trip.held - trip.asked);
  // While the answer was held both clocks went on, each at its own rate.
  return {.at = trip.asked + (trip.came - trip.asked) / 2,
          .ahead = (low + high) / 2,
          .error = std::max(0.0, way) / 2 + ClockDifference::kMostDrift * whole / 2};
}

ClockDifference::ClockDifference(std::vector<Sample> samples) {
  std::ranges::sort(samples, {}, &Sample::at);
  std::vector<Sample> best;
  for (const Sample& sample : samples) {
    if (best.empty() || sample.at / kWindow != best.back().at / kWindow) {
      best.push_back(sample);
    } else if (sample.error < best.back().error) {
      best.back() = sample;
    }
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    const bool before = knots_.empty() || says_more(best[i], knots_.back());
    const bool after = i + 1 == best.size() || says_more(best[i], best[i + 1]);
    if (before && after) knots_.push_back(best[i]);
  }
}

double ClockDifference::ahead(std::int64_t at) const {
  const auto after = std::ranges::lower_bound(knots_, at, {}, &Sample::at);
  if (after == knots_.begin()) return knots_.front().ahead;
  if (after == knots_.end()) return knots_.back().ahead;
  const Sample& before = *std::prev(after);
  const double part =
      static_cast<double>(at - before.at) / static_cast<double>(after->at - before.at);
  return before.ahead + part * (after->ahead - before.ahead);
}

double ClockDifference::error(std::int64_t at) const {
  const auto after = std::ranges::lower_bound(knots_, at, {}, &Sample::at);
  const auto from = [&](const Sample& knot) {
    return knot.error + kMostDrift * std::abs(static_cast<double>(at - knot.at));
  };
  if (after == knots_.begin()) return from(knots_.front());
  if (after == knots_.end()) return from(knots_.back());
  return std::max(std::prev(after)->error, after->error);
}

double ClockDifference::drift() const {
  const Sample& first = knots_.front();
  const Sample& last = knots_.back();
  const auto span = static_cast<double>(last.at - first.at);
  return span == 0 ? 0 : (last.ahead - first.ahead) / span;
}

HostClocks::HostClocks(const std::vector<ProcessSpans>& lives) {
  std::map<std::string, std::size_t> processes;
  std::map<std::pair<std::string, std::string>, std::vector<Sample>> samples;
  for (const ProcessSpans& life : lives) {
    ++processes[life.host];
    auto& times = times_
                      .try_emplace(life.host, std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min())
                      .first->second;
    for (const SpanRecord& record : life.records) {
      times.first = std::min(times.first, record.begin);
      times.second = std::max(times.second, record.begin);
    }
    for (const ProcessSpans::RoundTrip& trip : life.round_trips) {
      Sample sample = sample_of(trip);
      if (life.host < trip.host) {
        samples[{life.host, trip.host}].push_back(sample);
        continue;
      }
      // As the other would have said it.
      sample.at = trip.answered - trip.held / 2;
      sample.ahead = -sample.ahead;
      samples[{trip.host, life.host}].push_back(sample);
    }
  }
  for (const auto& [host, count] : processes) {
    if (reference_.empty() || count > processes[reference_]) reference_ = host;
  }
  for (auto& [hosts, between] : samples) {
    differences_.try_emplace(hosts, std::move(between));
  }
  std::deque<std::string> reached = {reference_};
  while (!reached.empty()) {
    const std::string here = std::move(reached.front());
    reached.pop_front();
    for (const auto& [hosts, difference] : differences_) {
      const bool first = hosts.first == here;
      if (!first && hosts.second != here) continue;
      const std::string& other = first ? hosts.second : hosts.first;
      if (other == reference_ || towards_.contains(other)) continue;
      towards_[other] = {.to = here, .ahead_of_to = first, .difference = &difference};
      reached.push_back(other);
    }
  }
}

std::int64_t HostClocks::common(const std::string& host, std::int64_t at) const {
  const auto step = towards_.find(host);
  if (step == towards_.end()) return at;
  const ClockDifference& difference = *step->second.difference;
  if (!step->second.ahead_of_to) {
    return common(step->second.to, at + std::llround(difference.ahead(at)));
  }
  // The difference goes by the other's time, which it gives.
  std::int64_t there = at - std::llround(difference.ahead(at));
  constexpr int kRounds = 3;
  for (int i = 0; i < kRounds; ++i) there = at - std::llround(difference.ahead(there));
  return common(step->second.to, there);
}

double HostClocks::error(const std::string& host, std::int64_t at) const {
  const auto step = towards_.find(host);
  if (step == towards_.end()) return 0;
  const ClockDifference& difference = *step->second.difference;
  const std::int64_t by_knots =
      step->second.ahead_of_to ? at - std::llround(difference.ahead(at)) : at;
  return difference.error(by_knots) + error(step->second.to, common(host, at));
}

std::vector<HostClocks::Host> HostClocks::hosts() const {
  std::vector<Host> all;
  for (const auto& [name, times] : times_) {
    if (name == reference_) continue;
    const auto step = towards_.find(name);
    Host& host = all.emplace_back(Host{.name = name, .known = step != towards_.end()});
    if (!host.known || times.first > times.second) continue;
    const std::int64_t middle = times.first + (times.second - times.first) / 2;
    host.ahead = static_cast<double>(middle - common(name, middle));
    const ClockDifference& difference = *step->second.difference;
    host.drift = step->second.ahead_of_to ? difference.drift() : -difference.drift();
    for (const std::int64_t at : {times.first, middle, times.second}) {
      host.error = std::max(host.error, error(name, at));
    }
    for (const ClockDifference::Sample& knot : difference.knots()) {
      const std::int64_t at =
          step->second.ahead_of_to ? knot.at + std::llround(knot.ahead) : knot.at;
      if (at < times.first || at > times.second) continue;
      host.error = std::max(host.error, error(name, at));
    }
  }
  return all;
}

}  // namespace sterna::launcher
