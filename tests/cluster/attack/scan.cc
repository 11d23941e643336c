#include "tests/cluster/attack/scan.h"

#include <poll.h>
#include <unistd.h>

namespace sterna::test {

namespace {

constexpr std::size_t kAtOnce = 256;

struct Probe {
  const Target* target;
  int socket;
  Time since;
};

}  // namespace

ScanReport scan(const std::vector<Target>& targets, Duration patience) {
  constexpr int kMilliseconds = 5;
  const SteadyClock clock;
  const Time start = clock.now();
  ScanReport report;
  std::vector<Probe> probes;
  auto next = targets.begin();
  while (next != targets.end() || !probes.empty()) {
    while (next != targets.end() && probes.size() < kAtOnce) {
      const int socket = connect_to(*next);
      if (socket < 0) {
        ++report.refused;
      } else {
        probes.push_back({&*next, socket, clock.now()});
      }
      ++next;
    }
    std::vector<pollfd> waiting;
    for (const Probe& probe : probes) waiting.push_back({probe.socket, POLLOUT, 0});
    ::poll(waiting.data(), waiting.size(), kMilliseconds);
    std::vector<Probe> left;
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const Probe& probe = probes[i];
      if (waiting[i].revents == 0 && clock.now() - probe.since < patience) {
        left.push_back(probe);
        continue;
      }
      if (waiting[i].revents == 0) {
        ++report.silent;
      } else if (connect_error(probe.socket) == 0) {
        report.open.push_back(*probe.target);
      } else {
        ++report.refused;
      }
      ::close(probe.socket);
    }
    probes = std::move(left);
  }
  report.seconds = std::chrono::duration<double>(clock.now() - start).count();
  return report;
}

}  // namespace sterna::test
