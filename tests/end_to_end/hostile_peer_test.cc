// Attacks on a running job, by an extra peer and by an actor of its own. The extra peer leaves the
// job as it was, with a counter and one log line; the actor loses its link, and the run ends with
// that cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/register_actors.h"
#include "runtime/host/real_machine.h"
#include "runtime/link/link_messages.h"
#include "runtime/main.h"
#include "runtime/zmq/curve_keys.h"
#include "tests/end_to_end/hostile_actor.h"
#include "tests/end_to_end/raw_peer.h"
#include "tests/temporary_folder.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;
using Counter = std::uint64_t Inspection::*;

Registry test_registry() {
  Registry registry = peer_registry();
  registry.add<HostileActor, PeerArgs>("hostile");
  actors::register_actors(registry);
  return registry;
}

/// A parameter server for one worker, who never comes.
actors::ServerArgs server_args() {
  actors::ServerArgs args;
  args.job.net = "lenet";
  args.job.steps = 1;
  args.workers = {{"worker-0", 0, 1}};
  return args;
}

/// An extra peer, as the attacks see it.
struct Attacker {
  RawPeer peer;
  Contact victim;
  ActorId target;  ///< the victim's actor
  Contact self;
  Proof proof;
  Hello hello;
  std::uint64_t next = 0;

  template <Message M>
  void send(M message, LocalId to = {}, Kind kind = Kind::TELL, std::uint64_t correlation = 0) {
    Header header;
    header.target = to;
    header.kind = kind;
    header.correlation = correlation;
    peer.send(frames_of(number(header), std::move(message)));
  }
  Header number(Header header) {
    header.sequence = next++;
    return header;
  }
  void dial(Lane lane = Lane::control) {
    peer.dial(victim, lane, proof);
    next = 0;
  }
  /// A session of its own each time, as anybody has who begins anew.
  void open(Lane lane = Lane::control) {
    dial(lane);
    ++hello.session;
    send(Hello(hello));
  }
};

struct Attack {
  std::string name;
  Counter counter;
  std::string line;  ///< part of what is logged
  std::function<void(Attacker&)> run;
};

class HostilePeer : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ClusterOptions options;
    options.network.tcp = GetParam();
    options.heartbeat = milliseconds(100);
    options.silence = seconds(10);  // nothing here is about silence
    options.start_deadline = seconds(30);
    options.log_directory = logs.path();
    cluster.emplace(machine, registry, options);
    cluster->set_events({.down = [this](const ProcessDown& down) { downs.push_back(down); }});
    const Result<void> begun = cluster->start();
    ASSERT_TRUE(begun.ok()) << begun.error().message;
  }
  void start(const std::vector<ActorSpec>& more) {
    std::vector<ActorSpec> specs = {{"m", "peer", pack(PeerArgs{})},
                                    {"z", "peer", pack(PeerArgs{})}};
    specs.insert(specs.end(), more.begin(), more.end());
    const Result<std::vector<Started>> started = cluster->start_actors(specs);
    ASSERT_TRUE(started.ok()) << started.error().message;
    for (std::size_t i = 0; i < specs.size(); ++i) members[specs[i].name] = (*started)[i].actor.id;
    work();
  }
  ActorRef<Peer> peer(const std::string& name) { return {members.at(name)}; }

  /// The job goes on: m answers, and speaks with z.
  void work() {
    const Result<Balance> own = cluster->ask(peer("m"), Deposit{1}, seconds(20));
    EXPECT_TRUE(own.ok()) << own.error().message;
    const Result<Balance> others = cluster->ask(peer("m"), Relay{"z", 1}, seconds(20));
    EXPECT_TRUE(others.ok()) << others.error().message;
  }
  /// What any process of the run has logged since the last forget().
  std::vector<std::string> news() {
    std::vector<std::string> all(launcher_lines.begin() + launcher_known, launcher_lines.end());
    for (const auto& file : std::filesystem::directory_iterator(logs.path())) {
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);) {
        // The tally of what is not logged again comes when its minute is over.
        const bool tally = line.find(" more like those; in all ") != std::string::npos;
        if (!tally && line.substr(0, forgotten.size()) > forgotten)
          all.push_back(file.path().stem().string() + ": " + line);
      }
    }
    return all;
  }
  /// A process's writer may be a moment late, so it is the time a line tells of that counts.
  void forget() {
    launcher_known = static_cast<std::ptrdiff_t>(launcher_lines.size());
    const auto now = [] { return log_line("").substr(0, kStamp); };
    forgotten = now();
    EXPECT_TRUE(eventually([&] { return now() > forgotten; }));
  }
  Inspection inspect(const std::string& name) {
    const Result<Inspection> counted = cluster->ask(agent_of<Coordinator>(kCoordinatorProcess),
                                                    Inspect{members.at(name).process}, seconds(20));
    EXPECT_TRUE(counted.ok()) << counted.error().message;
    return counted.ok() ? *counted : Inspection{};
  }
  void pass(Duration duration) {
    cluster->run_until([] { return false; }, machine.loop().now() + duration);
  }
  bool eventually(const std::function<bool()>& done) {
    const Time deadline = machine.loop().now() + seconds(20);
    while (!done()) {
      if (machine.loop().now() > deadline) return false;
      pass(milliseconds(5));
    }
    return true;
  }

  /// A new name with a key of its own, let in by `victim`.
  std::unique_ptr<Attacker> attacker(const std::string& victim) {
    auto attacker = std::make_unique<Attacker>();
    attacker->self.process = next_extra;
    attacker->self.identity = {"extra-" + std::to_string(next_extra++), 1};
    attacker->proof = {attacker->self.identity.text(), make_credentials()};
    attacker->self.public_key = attacker->proof.credentials.public_key;
    attacker->self.token_hash = token_hash(attacker->proof.credentials.token);
    const Result<Contact> where = cluster->admit_extra(victim, attacker->self);
    EXPECT_TRUE(where.ok()) << where.error().message;
    if (where.ok()) attacker->victim = *where;
    attacker->target = members.at(victim);
    attacker->hello.protocol = kProtocolVersion;
    attacker->hello.schema_hash = registry.schema_hash();
    attacker->hello.run = cluster->run();
    attacker->hello.session = 1;
    attacker->hello.process = {attacker->self.process};
    attacker->hello.incarnation = 1;
    attacker->hello.credit = 1 << 20;
    return attacker;
  }

  /// The attack, once and then some times more, is counted each time, logged once (and once more
  /// when the muted one is not let in any longer), and changes nothing.
  void suffer(const std::string& victim, const Attack& attack, Attacker& by) {
    SCOPED_TRACE(attack.name);
    const Inspection before = inspect(victim);
    forget();
    attack.run(by);
    EXPECT_TRUE(eventually([&] {
      return inspect(victim).*attack.counter > before.*attack.counter && !news().empty();
    }));
    work();
    EXPECT_THAT(news(), ElementsAre(HasSubstr(attack.line)));
    constexpr std::uint64_t kTimes = 5;
    const Inspection once = inspect(victim);
    for (std::uint64_t i = 0; i < kTimes; ++i) attack.run(by);
    EXPECT_TRUE(eventually([&] {
      const Inspection now = inspect(victim);
      // Counted as before; or not let in any more; or, a connection too late, not heard any more.
      return now.*attack.counter - once.*attack.counter + now.authentication_denials -
                 once.authentication_denials + now.muted_messages - once.muted_messages >=
             kTimes;
    }));
    work();
    EXPECT_THAT(news(), SizeIs(Le(2u)));
    EXPECT_FALSE(cluster->failure().has_value()) << describe(*cluster->failure());
    EXPECT_EQ(inspect("z").disconnects, 0u);
  }
  void suffer(const std::string& victim, const std::vector<Attack>& attacks) {
    for (const Attack& attack : attacks) {
      const auto by = attacker(victim);
      suffer(victim, attack, *by);
    }
  }

  const Registry registry = test_registry();
  const TemporaryFolder logs;
  std::vector<std::string> launcher_lines;
  RealMachine machine{[this](std::string_view line) { launcher_lines.emplace_back(line); }};
  std::vector<ProcessDown> downs;  // outlives the cluster, whose end is told of too
  std::optional<Cluster> cluster;
  std::map<std::string, ActorId> members;
  static constexpr std::size_t kStamp = std::string_view("2026-01-01T00:00:00.000Z").size();
  std::ptrdiff_t launcher_known = 0;  // lines of the launcher
  std::string forgotten;              // when
  std::uint64_t next_extra = 1000;
};

INSTANTIATE_TEST_SUITE_P(Over, HostilePeer, testing::Bool(),
                         [](const auto& over) { return over.param ? "tcp_and_curve" : "ipc"; });

Frames garbage(std::size_t frames, std::size_t bytes) {
  Frames all;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < frames; ++i) {
    all.emplace_back();
    for (std::size_t j = 0; j < bytes; ++j) {
      state = state * 1664525U + 1013904223U;
      all.back() += static_cast<char>(state >> 24U);
    }
  }
  return all;
}

TEST_P(HostilePeer, WithoutAValidKeyOrTokenItIsNotLetIn) {
  start({});
  const auto admitted = attacker("m");
  const Proof valid = admitted->proof;
  const auto knock = [](Attacker& by) { by.open(); };
  const Counter denied = &Inspection::authentication_denials;

  admitted->proof = {};
  suffer("m", {"no key", &Inspection::handshake_failures, "no valid credentials", knock},
         *admitted);
  admitted->proof = {valid.user, make_credentials()};
  suffer("m", {"a wrong key", denied, GetParam() ? "unknown public key" : "wrong token", knock},
         *admitted);
  if (GetParam())
    return;  // over CURVE a key is the identity: any other is unknown, and said already
  admitted->proof = {"stranger#1", valid.credentials};
  suffer("m", {"another name", denied, "unknown name", knock}, *admitted);
  admitted->proof = {admitted->self.identity.name + "#2", valid.credentials};
  suffer("m", {"a later incarnation", denied, "another incarnation", knock}, *admitted);
}

TEST_P(HostilePeer, AnIncarnationThatIsOverIsNotLetIn) {
  start({});
  const auto first = attacker("m");
  Contact second = first->self;
  second.process = next_extra++;
  second.identity.incarnation = 2;
  const Credentials fresh = make_credentials();
  second.public_key = fresh.public_key;
  second.token_hash = token_hash(fresh.token);
  ASSERT_TRUE(cluster->admit_extra("m", second).ok());
  suffer("m",
         {"an old incarnation", &Inspection::authentication_denials,
          GetParam() ? "unknown public key" : "another incarnation is admitted: 2",
          [](Attacker& by) { by.open(); }},
         *first);
}

TEST_P(HostilePeer, MalformedFramesEndItsLinkAndNothingElse) {
  start({});
  const Counter decode = &Inspection::decode_errors;
  suffer("m", {
                  {"random bytes", decode, "did not begin with a Hello",
                   [](Attacker& by) {
                     by.dial();
                     by.peer.send(garbage(3, 120));
                   }},
                  {"odd bytes", decode, "not whole words",
                   [](Attacker& by) {
                     by.dial();
                     by.peer.send({"seven.."});
                   }},
                  {"nothing", decode, "not whole words",
                   [](Attacker& by) {
                     by.dial();
                     by.peer.send({""});
                   }},
                  {"too many frames", decode, "no frames, or more than 64",
                   [](Attacker& by) {
                     by.dial();
                     by.peer.send(garbage(100, 8));
                   }},
                  {"a truncated Hello", decode, "is muted: malformed message",
                   [](Attacker& by) {
                     by.dial();
                     Header header;
                     Frames frames = frames_of(header, Hello(by.hello));
                     frames[0].resize(frames[0].size() / 16 * 8);
                     by.peer.send(frames);
                   }},
                  {"not a Hello first", decode, "did not begin with a Hello",
                   [](Attacker& by) {
                     by.dial();
                     by.send(Deposit{1}, by.target.local);
                   }},
                  {"a Hello out of order", decode, "out of order",
                   [](Attacker& by) {
                     by.dial();
                     by.next = 3;
                     by.send(Hello(by.hello));
                   }},
                  {"a Hello of another process", &Inspection::refused_hellos,
                   "claims to be another process",
                   [](Attacker& by) {
                     by.dial();
                     Hello lie = by.hello;
                     lie.process = kLauncherProcess;
                     by.send(std::move(lie));
                   }},
                  {"a Hello without a session", &Inspection::refused_hellos, "without a session",
                   [](Attacker& by) {
                     by.dial();
                     Hello lie = by.hello;
                     lie.session = 0;
                     by.send(std::move(lie));
                   }},
                  {"a Hello of another build that writes lines", &Inspection::refused_hellos,
                   "run the same build on both hosts",
                   [](Attacker& by) {
                     by.dial();
                     Hello other = by.hello;
                     other.schema_hash ^= 1;
                     other.build_id = "x\n2026-01-01T00:00:00.000Z all is well";
                     by.send(std::move(other));
                   }},
                  {"random bytes later", decode, "is muted: malformed message",
                   [](Attacker& by) {
                     by.open();
                     by.peer.send(garbage(3, 120));
                   }},
                  {"a batch of more than there is", decode, "is muted: malformed message",
                   [](Attacker& by) {
                     by.open();
                     by.peer.send({std::string("\3\0\0\0\377\377\377\377", 8)});
                   }},
                  {"a batch first", decode, "did not begin with a Hello",
                   [](Attacker& by) {
                     by.dial();
                     by.peer.send({std::string("\3\0\0\0\1\0\0\0\10\0\0\0\0\0\0\0garbage!", 24)});
                   }},
                  {"a wrong number", &Inspection::sequence_gaps, "came where 1 was due",
                   [](Attacker& by) {
                     by.open();
                     by.next = 7;
                     by.send(Deposit{1}, by.target.local);
                   }},
              });
}

TEST_P(HostilePeer, AnOversizedFrameCostsItsConnection) {
  start({});
  const std::string huge(5 << 20, 'x');
  suffer("m", {
                  {"after the Hello", &Inspection::disconnects, "oversized frame",
                   [&](Attacker& by) {
                     by.open();
                     by.peer.hear();
                     by.peer.send({huge});
                   }},
                  {"as the first message", &Inspection::disconnects, "before its first message",
                   [&](Attacker& by) {
                     by.dial();
                     by.peer.send({huge});
                   }},
              });
}

TEST_P(HostilePeer, WhatIsNotItsToSayEndsItsLinkAndNothingElse) {
  start({{"server", "parameter_server", pack(server_args())}});
  const Counter fault = &Inspection::faults;
  suffer("m", {
                  {"a message for another actor", &Inspection::decode_errors, "does not accept",
                   [](Attacker& by) {
                     by.open();
                     by.send(Leaving{}, by.target.local);
                   }},
                  {"an order", fault, "only the process above gives orders",
                   [](Attacker& by) {
                     by.open();
                     by.send(Stop{}, kAgent);
                   }},
                  {"another's death", fault, "another process's actor",
                   [](Attacker& by) {
                     by.open();
                     Down down;
                     down.notice = {{{kLauncherProcess}, kAgent}, "launcher", 1, "a lie"};
                     by.send(std::move(down));
                   }},
                  {"more than its credit", fault, "more than its credit",
                   [this](Attacker& by) {
                     cluster->process().tell(peer("m"), Block{300});
                     by.open();
                     Relay large{std::string(40'000, 'x'), 1};
                     for (int i = 0; i < 1000; ++i) by.send(Relay(large), LocalId{99});
                   }},
                  {"another's answer", fault, "answered what another process was asked",
                   [this](Attacker& by) {
                     // m asks its node for this while the answers are tried.
                     cluster->process().tell(peer("m"), Relay{"nobody", 1});
                     EXPECT_TRUE(cluster->ask(peer("m"), Deposit{1}, seconds(20)).ok());
                     by.open();
                     for (std::uint64_t generation = 1; generation < 100; ++generation) {
                       for (std::uint64_t slot = 1; slot < 8; ++slot) {
                         Header header;
                         header.kind = Kind::FAILURE;
                         header.correlation = (generation << 32U) | slot;
                         by.peer.send(frames_of(by.number(header),
                                                FailureMail(Error{Errc::not_found, "a lie"})));
                       }
                     }
                   }},
              });
  suffer("server", {{"another's rank", fault, "may not speak for rank", [](Attacker& by) {
                       by.open(Lane::data);
                       actors::Push push;
                       push.incarnation = 1;
                       by.send(std::move(push), by.target.local, Kind::ASK, 1);
                     }}});
}

TEST_P(HostilePeer, AnUnfinishedMessageLeavesNothing) {
  if (GetParam()) GTEST_SKIP() << "nobody here speaks CURVE by hand";
  start({});
  suffer("m", {{"an unfinished message", &Inspection::disconnects, "before its first message",
                [](Attacker& by) {
                  RawConnection connection(by.victim.control_endpoint, by.proof);
                  for (int i = 0; i < 64; ++i)
                    connection.send_frame(std::string(100'000, 'x'), true);
                }}});
}

/// Of an actor of the job: how it misbehaves, and the cause of its end.
class HostileActorOfTheJob : public HostilePeer {};

INSTANTIATE_TEST_SUITE_P(Over, HostileActorOfTheJob, testing::Bool(),
                         [](const auto& over) { return over.param ? "tcp_and_curve" : "ipc"; });

TEST_P(HostileActorOfTheJob, LosesItsLinkAndEndsTheRunWithThatCause) {
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"garbage", "malformed message"},
      {"kind", "an unknown kind of message"},
      {"foreign", "does not accept"},
      {"order", "only the process above gives orders"},
      {"down", "another process's actor"},
      {"credit", "more than its credit"},
      {"sequence", "was due"},
  };
  std::vector<ActorSpec> specs;
  specs.reserve(ways.size());
  for (const auto& [how, cause] : ways) specs.push_back({how, "hostile", pack(PeerArgs{})});
  start(specs);
  const Inspection before = inspect("m");
  for (const auto& [how, cause] : ways) {
    SCOPED_TRACE(how);
    const std::size_t died = downs.size();
    cluster->process().tell(ActorRef<Hostile>{members.at(how)}, Misbehave{"m", how});
    ASSERT_TRUE(eventually([&] { return downs.size() > died; }));
    EXPECT_EQ(downs.back().identity.name, how);
    EXPECT_THAT(downs.back().cause, HasSubstr(cause));
    EXPECT_FALSE(downs.back().wanted);
    ASSERT_TRUE(cluster->failure().has_value());
    EXPECT_EQ(cluster->failure()->identity.name, ways.front().first);
    work();
  }
  const Inspection after = inspect("m");
  EXPECT_EQ(after.faults - before.faults, 6u);
  EXPECT_EQ(after.decode_errors - before.decode_errors, 3u);
  // So often it is given another connection, and leaves messages out again.
  EXPECT_GT(after.sequence_gaps - before.sequence_gaps, 5u);
}

}  // namespace
}  // namespace sterna::test

int main(int argc, char** argv) {
  const sterna::Registry registry = sterna::test::test_registry();
  if (const auto code = sterna::host_if_child(argc, argv, registry)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
