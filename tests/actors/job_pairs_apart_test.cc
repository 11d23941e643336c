// Ranks that do not go in step, and two servers for each shard, of which one decides the order of
// their pushes: either is lost at any moment and comes again. The job makes all its versions, no
// packet counts twice, and whichever server sends a version has the bits of the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launcher/simulate/packet_ledger.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class JobPairsApartTest : public SimulatedJob {
 protected:
  using Losses = std::vector<std::pair<double, std::string>>;

  JobPairsApartTest() {
    job.hidden = {100};  // a tensor of two chunks, on two servers
    job.steps = 40;
    job.evaluation.every = 4;
    job.scheme.name = "async";
    layout = {.servers = 2, .workers = 2, .ranks_per_worker = 2, .replicas = true};
  }
  ~JobPairsApartTest() override {  // the job may outlive what these use
    network.set_delay(nullptr);
    network.set_on_message(nullptr);
  }
  void quorum(std::uint32_t ranks) {
    job.scheme.name = "sync";
    job.scheme.quorum = ranks;
  }
  /// How long the job takes that nobody disturbs.
  void calm() {
    const Time began = loop.now();
    begin();
    end();
    took = loop.now() - began;
  }
  void begin() {
    job.ranks = layout.workers * layout.ranks_per_worker;
    ledger.emplace(job);
    network.set_on_message(
        [this](const std::string& from, const std::string& to, const std::vector<Bytes>& frames) {
          ledger->saw(from, to, frames);
        });
    log.clear();
    launch(layout);
  }
  void delay_messages() {
    network.set_delay([this](const std::string&, const std::string&) {
      return Duration(static_cast<std::int64_t>(delays.below(1'000'000)));
    });
  }
  Duration part(double of) const {
    return Duration(static_cast<std::int64_t>(static_cast<double>(took.count()) * of));
  }
  void end() {
    finish();
    network.set_on_message(nullptr);
    for (const std::string& death : deaths) ADD_FAILURE() << job.scheme.name << ": " << death;
    if (!record.finished) {
      for (const std::string& line : log) ADD_FAILURE() << line;
      FAIL() << job.scheme.name << ": is not over";
    }
    EXPECT_EQ(record.evaluated.back().step, job.steps);
    for (const WorkerDone& done : record.done) EXPECT_EQ(done.steps, job.steps);
    for (const std::string& fault : ledger->faults(true)) {
      ADD_FAILURE() << job.scheme.name << ": " << fault;
    }
    compared += ledger->compared();
  }
  /// At each of these parts of its time one is lost, or when the one before is whole, and comes
  /// again after another part.
  void disturbed(const Losses& losses, double pause = 0.03) {
    begin();
    const Time began = loop.now();
    std::string what;
    for (const auto& [when, name] : losses) {
      const std::size_t whole = record.whole.size();
      loop.run_until([] { return false; }, std::max(began + part(when), loop.now()));
      if (!record.done.empty()) break;  // waiting took too long
      what += name + " at " + std::to_string(when) + ", ";
      lose(name);
      pass(part(pause));
      bring_back(name);
      if (name.starts_with("server")) {  // before that nobody may lose the other one
        loop.run_until(
            [&] { return record.whole.size() > whole || record.finished || !deaths.empty(); },
            loop.now() + 1min);
      }
    }
    SCOPED_TRACE(what);
    end();
  }
  /// All of them are lost at that part, and come again one after the other, in either order.
  void together(double when, std::vector<std::string> names) {
    for (int order = 0; order < 2; ++order) {
      for (const Duration pause : {Duration(1us), Duration(300us), Duration(5ms)}) {
        if (pauses.leaves_out()) continue;
        SCOPED_TRACE(names.front() + " first, at " + std::to_string(when));
        begin();
        pass(part(when));
        for (const std::string& name : names) lose(name);
        for (const std::string& name : names) {
          pass(pause);
          bring_back(name);
        }
        end();
      }
      std::ranges::reverse(names);
    }
  }
  bool said(const std::string& words) const {
    return std::ranges::any_of(
        log, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }

  JobLayout layout;
  SeededRandom delays{1};
  Duration took{};
  test::Moments moments{10};
  test::Few pauses{4};
  std::uint64_t compared = 0;
  std::optional<launcher::PacketLedger> ledger;
};

TEST_F(JobPairsApartTest, WhoeverIsAskedHasTheSameVersions) {
  delay_messages();
  job.steps = 160;
  test::Few ways(4);
  for (const char* name : {"async", "sync"}) {
    job.scheme.name = name;
    job.scheme.quorum = name == std::string("sync") ? 3 : 0;
    for (const Down down : {Down::parameters, Down::parameters_bf16}) {
      for (const char* codec : {"ternary_entropy", "bf16"}) {
        if (ways.leaves_out()) continue;
        job.gradient.down = down;
        job.gradient.codec = codec;
        compared = 0;
        begin();
        pass(10ms);  // all have found each other
        // From then on that worker pulls from the replica.
        network.cut("worker1", "server0");
        network.cut("worker1", "server1");
        end();
        EXPECT_GT(compared, 0U) << name << ", " << codec;  // how many is a matter of the delays
      }
    }
  }
}

TEST_F(JobPairsApartTest, EitherIsLostAndComesAgainWhateverTheScheme) {
  const std::map<std::string, std::uint32_t> schemes = {{"async", 0}, {"sync", 3}, {"downpour", 0},
                                                        {"agn", 0},   {"sagn", 0}, {"local_sgd", 0},
                                                        {"aeasgd", 0}};
  for (const auto& [name, ranks] : schemes) {
    job.scheme.name = name;
    job.scheme.quorum = ranks;
    job.scheme.window = name == "async" || name == "sync" ? 1 : 3;
    job.local_optimizer.name = "gd";
    job.steps = job.scheme.window == 1 ? 40 : 12;
    calm();
    for (int ninth = 0; ninth < 6; ++ninth) {
      if (moments.leaves_out()) continue;
      for (const char* server : {"server0", "server1-replica"}) {
        disturbed({{ninth / 9.0, server}});
        ASSERT_EQ(record.whole.size(), 1U) << name << ninth;
        EXPECT_EQ(record.whole.front().actor, server);
      }
    }
  }
}

TEST_F(JobPairsApartTest, WhoFollowsLeadsWhileTheOtherIsAwayAndIsFollowedByTheNextOne) {
  calm();
  begin();
  pass(part(0.3));
  lose("server0");
  // Nobody waits for it to come again.
  loop.run_until([this] { return record.finished.has_value(); }, loop.now() + 10s);
  EXPECT_TRUE(record.finished);
  EXPECT_TRUE(said("in place of server0#1"));
  bring_back("server0");
  loop.run_until([this] { return !record.whole.empty(); }, loop.now() + 10s);
  end();
  EXPECT_TRUE(said("going on at version 40, as server0-replica has it"));
}

TEST_F(JobPairsApartTest, WhoLeadsGoesOnWithoutAFollower) {
  quorum(3);
  calm();
  begin();
  pass(part(0.3));
  lose("server1-replica");
  loop.run_until([this] { return record.finished.has_value(); }, loop.now() + 10s);
  EXPECT_TRUE(record.finished);
  EXPECT_TRUE(said("goes on without server1-replica#1"));
  bring_back("server1-replica");
  end();
}

TEST_F(JobPairsApartTest, AtEachOfManyMomentsOfAStepNothingIsLostOrCountedTwice) {
  job.gradient.error_feedback = true;
  delay_messages();  // so that a push has come to one server sooner than to the other
  std::uint64_t repeated = 0;
  for (const std::uint32_t ranks : {0U, 3U}) {
    if (ranks > 0) quorum(ranks);
    calm();
    for (int i = 0; i < 60; ++i) {
      if (moments.leaves_out()) continue;
      disturbed({{0.5 + i / 60.0 / 15, i % 2 == 0 ? "server0" : "server0-replica"}}, 0.001);
      repeated += ledger->repeated();
    }
  }
  EXPECT_GT(repeated, 0U);
}

TEST_F(JobPairsApartTest, FirstOneOfAPairAndThenTheOtherAgainAndAgain) {
  delay_messages();
  job.steps = 120;
  for (const std::uint32_t ranks : {0U, 3U}) {
    if (ranks > 0) quorum(ranks);
    calm();
    Losses losses;
    for (int i = 1; i < 9; ++i) {
      losses.emplace_back(i / 10.0, i % 2 == 0 ? "server0" : "server0-replica");
      losses.emplace_back(i / 10.0 + 0.05, i % 2 == 0 ? "server1-replica" : "server1");
    }
    disturbed(losses, 0.01);
    EXPECT_GE(record.whole.size(), losses.size() / 2);
  }
}

TEST_F(JobPairsApartTest, AWorkerIsLostWithAServer) {
  for (const std::uint32_t ranks : {0U, 3U}) {
    if (ranks > 0) quorum(ranks);
    calm();
    for (int eighth = 1; eighth < 8; ++eighth) {
      if (moments.leaves_out()) continue;
      together(eighth / 8.0, {"server0", "worker1"});
      together(eighth / 8.0, {"server1-replica", "worker0"});
    }
  }
}

TEST_F(JobPairsApartTest, EverybodyIsLostButOneServerOfEachPair) {
  layout.readers = 2;
  calm();
  for (int ninth = 1; ninth < 9; ++ninth) {
    if (moments.leaves_out()) continue;
    together(ninth / 9.0, {"server0", "worker0", "evaluator", "server1-replica", "worker1"});
  }
}

TEST_F(JobPairsApartTest, ALinkThatIsLostIsNoDeath) {
  delay_messages();
  for (const std::uint32_t ranks : {0U, 3U}) {
    if (ranks > 0) quorum(ranks);
    calm();
    for (int ninth = 0; ninth < 8; ++ninth) {
      if (moments.leaves_out()) continue;
      begin();
      pass(part(ninth / 9.0));
      network.cut("server0", "server0-replica");
      network.cut("worker0", "server0");
      network.cut("worker1", "server1-replica");
      end();
    }
  }
}

}  // namespace
}  // namespace sterna::actors
