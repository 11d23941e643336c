// The attacker does what it says, and would notice if somebody let it in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zmq.h>

#include <array>
#include <string>

#include "tests/cluster/attack/flood.h"
#include "tests/cluster/attack/scan.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;

/// A socket of ZeroMQ on this machine that expects peers with a key, or anybody.
class Victim {
 public:
  enum class Security { curve, none };
  explicit Victim(Security security)
      : context_(::zmq_ctx_new()), socket_(::zmq_socket(context_, ZMQ_ROUTER)) {
    set(ZMQ_LINGER, 0);
    set(ZMQ_HANDSHAKE_IVL, kHandshake);
    // Without a bound, noise makes ZeroMQ ask for as much memory as it happens to name.
    constexpr std::int64_t kMessage = 1 << 20;
    ::zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &kMessage, sizeof kMessage);
    if (security == Security::curve) {
      std::array<char, 41> public_key;
      std::array<char, 41> secret_key;
      EXPECT_EQ(::zmq_curve_keypair(public_key.data(), secret_key.data()), 0);
      set(ZMQ_CURVE_SERVER, 1);
      ::zmq_setsockopt(socket_, ZMQ_CURVE_SECRETKEY, secret_key.data(), secret_key.size() - 1);
    }
    EXPECT_EQ(::zmq_bind(socket_, "tcp://127.0.0.1:*"), 0);
    std::array<char, 64> endpoint;
    std::size_t size = endpoint.size();
    ::zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, endpoint.data(), &size);
    targets_ = *parse_targets(std::string(endpoint.data()).substr(std::string("tcp://").size()));
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() {
    ::zmq_close(socket_);
    ::zmq_ctx_term(context_);
  }
  const std::vector<Target>& targets() const { return targets_; }
  static constexpr int kHandshake = 300;  // milliseconds

 private:
  void set(int option, int value) {
    EXPECT_EQ(::zmq_setsockopt(socket_, option, &value, sizeof value), 0);
  }
  void* context_;
  void* socket_;
  std::vector<Target> targets_;
};

FloodOptions two_seconds_at(const Victim& victim) {
  FloodOptions options;
  options.targets = victim.targets();
  options.duration = seconds(2);
  return options;
}

TEST(Attack, KeepsItsRateAndItsBytesAThirdOfEachKind) {
  const Victim victim(Victim::Security::curve);
  const FloodReport report = flood(two_seconds_at(victim));
  EXPECT_NEAR(static_cast<double>(report.attempts), 200, 20);
  for (const std::uint64_t connections : report.connections) {
    EXPECT_NEAR(static_cast<double>(connections), report.attempts / 3.0, 7);
  }
  EXPECT_LE(report.bytes_sent, 11e6);
  EXPECT_GT(report.bytes_sent, 1e6) << "but a peer may hang up before it has heard all";
}

TEST(Attack, IsNotAcceptedWithoutAKeyAndHeldOnlyAsLongAsAHandshakeMayTake) {
  const Victim victim(Victim::Security::curve);
  const FloodReport report = flood(two_seconds_at(victim));
  EXPECT_EQ(report.accepted, 0U);
  EXPECT_GT(report.held_longest, 0.2);
  EXPECT_LT(report.held_longest, 1.5);
}

TEST(Attack, SeesThatItIsAccepted) {
  const Victim victim(Victim::Security::none);
  EXPECT_GT(flood(two_seconds_at(victim)).accepted, 20U);
}

TEST(Attack, HasWithoutThrottleAsManyConnectionsOpenAsItMay) {
  const Victim victim(Victim::Security::curve);
  FloodOptions options = two_seconds_at(victim);
  options.rate = 0;
  options.open_at_most = 400;
  const FloodReport report = flood(options);
  EXPECT_EQ(report.open_at_most, 400U);
  EXPECT_GT(report.attempts, 1000U);
}

TEST(Attack, FindsByAScanThePortsThatAreOpen) {
  const Victim victim(Victim::Security::curve);
  const unsigned port = victim.targets().at(0).port;
  const std::string around =
      std::to_string(std::max(1U, port - 300)) + "-" + std::to_string(std::min(65535U, port + 300));
  const auto targets = *parse_targets("127.0.0.1:" + around);
  const ScanReport report = scan(targets, seconds(5));
  EXPECT_THAT(report.open, testing::Contains(testing::Field(&Target::port, port)));
  EXPECT_EQ(report.open.size() + report.refused + report.silent, targets.size());
}

TEST(Attack, KnowsWhatPortsAre) {
  EXPECT_EQ(parse_targets("127.0.0.1:7000-7009,7100")->size(), 11U);
  for (const char* text : {"127.0.0.1", "127.0.0.1:", "somewhere:1", "127.0.0.1:0", "127.0.0.1:9-8",
                           "127.0.0.1:65536", "127.0.0.1:1,x"}) {
    EXPECT_FALSE(parse_targets(text)) << text;
  }
}

}  // namespace
}  // namespace sterna::test
