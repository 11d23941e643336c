// Where hosts' clocks stand, from the heartbeats of simulated hosts whose clocks are set and drift:
// the estimate is no further from the truth than it says, and it says little.
#include "launcher/traces/host_clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/link/linked.h"
#include "tests/runtime/link/skewed_loop.h"

namespace sterna::launcher {
namespace {

using test::Linked;
using test::SkewedLoop;
using Milliseconds = std::chrono::milliseconds;

constexpr double kTwoMilliseconds = 2e6;

/// Two hosts with a process each, that beat for a minute over a network that takes 50 us and
/// sometimes up to 20 ms; the times at which one may have noted something are from 30 to 40 s.
class TwoHosts {
 public:
  TwoHosts(std::uint64_t seed, Duration ahead, double drift)
      : random_(seed), b_loop_(loop_, ahead, drift) {
    network_.set_delay([this](const std::string&, const std::string&) { return delay(); });
    LinkOptions options;
    options.host = "a";
    Linked a(network_, random_, 1, "worker0", options);
    options.host = "b";
    Linked b(network_, random_, 2, "server0", options, &b_loop_);
    a.links->admit(b.contact);
    b.links->admit(a.contact);
    spans_.resize(2);
    spans_[0].name = "worker0";
    spans_[0].host = "a";
    spans_[1].name = "server0";
    spans_[1].host = "b";
    note(*a.links, spans_[0]);
    note(*b.links, spans_[1]);
    a.links->dial(b.contact);
    loop_.run_until([] { return false; }, loop_.now() + std::chrono::minutes(1));
    for (const std::int64_t second : {30, 40}) {
      const Time at{second * 1'000'000'000};
      spans_[0].records.push_back({.kind = SpanKind::counter, .begin = at.ns});
      spans_[1].records.push_back({.kind = SpanKind::counter, .begin = b_loop_.own(at).ns});
    }
  }
  const std::vector<ProcessSpans>& spans() const { return spans_; }
  Time on_b(Time at) const { return b_loop_.own(at); }
  Duration delay() {
    const bool slow = random_.below(4) == 0;
    const std::uint64_t most = slow ? 20'000'000 : 200'000;
    return Duration(50'000 + static_cast<std::int64_t>(random_.below(most)));
  }

 private:
  static void note(Links& links, ProcessSpans& spans) {
    links.set_on_round_trip([&spans](const RoundTrip& trip) {
      spans.round_trips.push_back(
          {trip.host, trip.asked.ns, trip.answered.ns, trip.held.count(), trip.came.ns});
    });
  }
  SimLoop loop_;
  MemoryNetwork network_{loop_};
  SeededRandom random_;
  SkewedLoop b_loop_;
  std::vector<ProcessSpans> spans_;
};

struct Setting {
  Duration ahead;
  double drift;
};

class HostClocksTest : public testing::TestWithParam<Setting> {};

TEST_P(HostClocksTest, IsNoFurtherFromTheTruthThanItSays) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TwoHosts hosts(seed, GetParam().ahead, GetParam().drift);
    ASSERT_GT(hosts.spans()[0].round_trips.size(), 50U);
    const HostClocks clocks(hosts.spans());
    ASSERT_EQ(clocks.reference(), "a");
    ASSERT_EQ(clocks.hosts().size(), 1U);
    const HostClocks::Host b = clocks.hosts()[0];
    EXPECT_TRUE(b.known);
    EXPECT_LE(b.error, kTwoMilliseconds) << seed;
    for (std::int64_t ms = 30'000; ms <= 40'000; ms += 100) {
      const Time at{ms * 1'000'000};
      const auto found = static_cast<double>(clocks.common("b", hosts.on_b(at).ns));
      ASSERT_LE(std::abs(found - static_cast<double>(at.ns)), b.error) << seed << ", " << ms;
      // A message that b sent then, and that came when the network had it.
      const double came = static_cast<double>(at.ns + hosts.delay().count());
      ASSERT_GE(came, found - b.error);
    }
    EXPECT_NEAR(b.drift, GetParam().drift, 20e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, HostClocksTest,
                         testing::Values(Setting{Duration(0), 0},
                                         Setting{std::chrono::seconds(5), 0},
                                         Setting{std::chrono::seconds(5), 100e-6},
                                         Setting{Milliseconds(1234), -100e-6}));

/// A process on each.
std::vector<ProcessSpans> on_hosts(const std::vector<std::string>& hosts) {
  std::vector<ProcessSpans> lives;
  for (const std::string& host : hosts) {
    ProcessSpans& life = lives.emplace_back();
    life.name = "of " + host;
    life.host = host;
  }
  return lives;
}

ProcessSpans::RoundTrip trip(const std::string& host, std::int64_t asked, std::int64_t ahead,
                             std::int64_t way) {
  return {host, asked, asked + ahead + way / 2, 0, asked + way};
}

TEST(HostClocksOfThree, AHostIsReachedThroughAnother) {
  std::vector<ProcessSpans> lives = on_hosts({"a", "b", "c"});
  for (ProcessSpans& life : lives) life.records.push_back({.begin = 1'000'000'000});
  lives[0].round_trips.push_back(trip("b", 1'000'000'000, 1'000'000, 1000));
  lives[1].round_trips.push_back(trip("c", 1'000'000'000, 20'000'000, 1000));
  const HostClocks clocks(lives);
  EXPECT_EQ(clocks.reference(), "a");
  EXPECT_NEAR(static_cast<double>(clocks.common("b", 1'001'000'000)), 1e9, 10);
  EXPECT_NEAR(static_cast<double>(clocks.common("c", 1'021'000'000)), 1e9, 10);
}

TEST(HostClocksOfThree, AHostThatNobodyHeardOfIsUnknown) {
  std::vector<ProcessSpans> lives = on_hosts({"a", "b"});
  const HostClocks clocks(lives);
  ASSERT_EQ(clocks.hosts().size(), 1U);
  EXPECT_FALSE(clocks.hosts()[0].known);
  EXPECT_EQ(clocks.common("b", 17), 17);
}

TEST(HostClocksOfThree, TheQuickestRoundTripOfATimeCounts) {
  std::vector<ProcessSpans> lives = on_hosts({"a", "b"});
  lives[0].records.push_back({.begin = 100'000'000});
  lives[1].records.push_back({.begin = 105'000'000});
  // The slow one took its time on the way there alone: its middle is wrong by 4 ms.
  lives[0].round_trips.push_back(
      {"b", 90'000'000, 90'000'000 + 5'000'000 + 8'000'000, 0, 98'000'000});
  lives[0].round_trips.push_back(trip("b", 100'000'000, 5'000'000, 100'000));
  const HostClocks clocks(lives);
  EXPECT_NEAR(clocks.hosts()[0].ahead, 5e6, 1e3);
  EXPECT_LT(clocks.hosts()[0].error, 60e3);
}

}  // namespace
}  // namespace sterna::launcher
