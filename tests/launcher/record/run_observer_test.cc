// Who the launcher believes of what it is told, on a virtual clock.
#include "launcher/record/run_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/record/run_of_two.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

struct Heard final : RunObserver::Listener {
  void changed() override { ++changes; }
  void histogram(const HistogramMetrics& /*one*/) override { ++histograms; }
  void actor_whole(const PeerIdentity& actor) override { whole.push_back(actor.name); }
  void residuals_lost(const actors::ResidualsLost& lost) override { losses.push_back(lost.ranks); }

  int changes = 0;
  int histograms = 0;
  std::vector<std::string> whole;
  std::vector<std::uint32_t> losses;
};

class RunObserverTest : public test::SimFixture {
 protected:
  RunObserverTest() {
    for (const char* name : {"worker0", "worker1", "evaluator0", "reader0", "server0"}) {
      speakers_[name] = start(name).process.get();
    }
    observer_ = launcher_.process->spawn<RunObserver>(record_, file_of_two(), job_of_two(), heard_);
  }
  /// From the actor of that name.
  template <class M>
  void say(const std::string& name, const M& message) {
    speakers_.at(name)->tell(observer_, message);
    pass(100ms);
  }

  test::SimProcess& launcher_ = start("launcher");
  RunRecord record_;
  Heard heard_;
  std::map<std::string, Process*> speakers_;
  ActorRef<actors::Observer> observer_;
};

TEST_F(RunObserverTest, BelievesOfAWorkerOnlyThatWorker) {
  actors::Progress progress;
  progress.worker = "worker1";
  progress.step = 9;
  say("worker0", progress);
  say("reader0", progress);
  EXPECT_THAT(record_.progress, IsEmpty());
  EXPECT_EQ(heard_.changes, 0);
}

TEST_F(RunObserverTest, CountsWhatTheNextIncarnationOfAWorkerDoesBehindTheLast) {
  say("worker1", actors::Progress{.worker = "worker1", .step = 5, .examples = 500, .traffic = {}});
  speakers_["worker1"] = start("worker1", 2).process.get();
  say("worker1", actors::Progress{.worker = "worker1", .step = 6, .examples = 100, .traffic = {}});
  EXPECT_EQ(record_.progress.at("worker1").examples, 600U);
  EXPECT_EQ(heard_.changes, 2);
}

TEST_F(RunObserverTest, BelievesOfAReaderOnlyThatReader) {
  say("reader0", actors::ReaderProgress{"reader0", 100, 1, 2});
  say("worker0", actors::ReaderProgress{"reader0", 9999, 5, 2});
  say("worker0", actors::ReaderProgress{"worker0", 9999, 5, 2});
  ASSERT_EQ(record_.status.readers.size(), 1U);
  EXPECT_EQ(record_.status.readers[0].pictures_per_second, 100);
}

TEST_F(RunObserverTest, BelievesOfResultsOnlyTheEvaluator) {
  say("worker0", actors::Evaluated{.step = 5, .precision_at_1 = 1});
  say("worker0", actors::JobFinished{"forged", "", 0});
  EXPECT_THAT(record_.result.evaluations, IsEmpty());
  EXPECT_FALSE(record_.finished);
  say("evaluator0", actors::Evaluated{.step = 5, .precision_at_1 = 1});
  say("evaluator0", actors::JobFinished{"abc", "", 0});
  EXPECT_EQ(record_.result.evaluations.size(), 1U);
  EXPECT_TRUE(record_.finished);
}

TEST_F(RunObserverTest, KeepsNoEvaluationOfWhatTheJobHasNot) {
  say("evaluator0", actors::Evaluated{.step = 10, .precision_at_1 = 0.5});
  say("evaluator0", actors::Evaluated{.step = 11, .precision_at_1 = 0.9});  // of 10 steps
  EXPECT_EQ(record_.result.evaluations.size(), 1U);
  EXPECT_THAT(log, Contains("launcher: evaluator0#1 is muted: an evaluation of a step, or on a "
                            "subset, that the job has not"));
}

TEST_F(RunObserverTest, KeepsNoEvaluationOnASubsetThatTheFileHasNot) {
  say("evaluator0", actors::Evaluated{.step = 5, .precision_at_1 = 0.5, .subset = "train"});
  say("evaluator0", actors::Evaluated{.step = 10, .precision_at_1 = 0.9});
  EXPECT_THAT(record_.result.evaluations, IsEmpty());
}

TEST_F(RunObserverTest, BelievesOfAWorkersTensorsOnlyThatWorker) {
  actors::Watched told{.worker = "worker0", .step = 100};
  told.histograms = {{.tensor = "fc1", .of = actors::HistogramOf::ACTIVATIONS}};
  say("worker0", told);
  told.worker = "worker1";
  say("worker0", told);
  EXPECT_EQ(heard_.histograms, 1);
}

TEST_F(RunObserverTest, BelievesOnlyAServerThatItWaits) {
  say("worker0", actors::ServerWaits{"worker0", true});
  EXPECT_THAT(record_.waiting, IsEmpty());
  say("server0", actors::ServerWaits{"server0", true});
  EXPECT_THAT(record_.waiting, ElementsAre("server0"));
}

TEST_F(RunObserverTest, HandsOnWhichServersAndWorkersAreWhole) {
  say("server0", actors::ActorWhole{"server0", 2});
  say("worker0", actors::ActorWhole{"worker0", 2});
  say("worker0", actors::ActorWhole{"server0", 2});
  say("reader0", actors::ActorWhole{"reader0", 2});
  EXPECT_THAT(heard_.whole, ElementsAre("server0", "worker0"));
}

TEST_F(RunObserverTest, CountsRanksThatGoOnWithoutTheirResidualsAndTellsOfEach) {
  say("worker0", actors::ResidualsLost{"worker0", 2, 1, 7});
  say("worker0", actors::ResidualsLost{"worker0", 3, 1, 9});
  EXPECT_EQ(record_.status.residuals_lost, 2U);
  EXPECT_EQ(record_.result.residuals_lost, 2U);
  say("worker0", actors::ResidualsLost{"worker0", 4, 1000, 9});
  say("server0", actors::ResidualsLost{"server0", 1, 1, 9});
  EXPECT_EQ(record_.result.residuals_lost, 2U) << "of ranks that there are, from their worker";
  EXPECT_THAT(heard_.losses, ElementsAre(1, 1));
}

}  // namespace
}  // namespace sterna::launcher
