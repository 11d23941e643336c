#include "launcher/bench/rounds.h"

#include <cstddef>

#include "runtime/base/clock.h"
#include "runtime/base/median.h"

namespace sterna::launcher {

namespace {

double seconds_of(const std::function<void()>& run) {
  const SteadyClock clock;
  const Time begin = clock.now();
  run();
  return std::chrono::duration<double>(clock.now() - begin).count();
}

}  // namespace

RoundTimes RoundTimes::measure(const std::vector<Contender>& contenders, int rounds) {
  RoundTimes times;
  for (const Contender& contender : contenders) contender.run();
  for (int round = 0; round < rounds; ++round) {
    for (const Contender& contender : contenders) {
      times.add(contender.name, seconds_of(contender.run));
    }
  }
  return times;
}

double RoundTimes::seconds(const std::string& name) const { return median(seconds_.at(name)); }

double RoundTimes::ratio(const std::string& a, const std::string& b) const {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < seconds_.at(a).size(); ++round) {
    ratios.push_back(seconds_.at(a)[round] / seconds_.at(b)[round]);
  }
  return median(ratios);
}

double RoundTimes::ratio_of_ratios(const std::string& a, const std::string& b, const std::string& c,
                                   const std::string& d) const {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < seconds_.at(a).size(); ++round) {
    ratios.push_back(seconds_.at(a)[round] / seconds_.at(b)[round] /
                     (seconds_.at(c)[round] / seconds_.at(d)[round]));
  }
  return median(ratios);
}

double repeated_seconds(const std::function<void()>& run, int repeats, int rounds) {
  run();
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    times.push_back(seconds_of([&] {
                      for (int i = 0; i < repeats; ++i) run();
                    }) /
                    repeats);
  }
  return median(times);
}

}  // namespace sterna::launcher
