// [[inject.fault]]s on a virtual clock, injected into an actor that does what the test says.
#include "launcher/job/planned_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/runtime/sim/sim_fixture.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Suffering : Interface<InjectFault> {};
class Victims final : public Actor<Suffering> {
 public:
  Victims(std::vector<InjectFault>& suffered, const std::optional<Error>& refusal)
      : suffered_(suffered), refusal_(refusal) {}
  Result<void> on(InjectFault fault) {
    if (refusal_) return *refusal_;
    suffered_.push_back(std::move(fault));
    return {};
  }

 private:
  std::vector<InjectFault>& suffered_;
  const std::optional<Error>& refusal_;
};

class PlannedFaultsTest : public test::SimFixture {
 protected:
  PlannedFaultsTest() {
    process_ = start("launcher").process.get();
    victims_ = process_->spawn<Victims>(suffered_, refusal_);
    faults_ = make();
  }
  std::unique_ptr<PlannedFaults> make() {
    return std::make_unique<PlannedFaults>(
        plan_, over_,
        [this](InjectFault fault) { return process_->ask(victims_, std::move(fault), 1s); },
        [this](const std::string& line) { said_.push_back(line); });
  }
  void at(std::int64_t step) {
    faults_->turn(step);
    loop.run_until([] { return false; }, loop.now() + 10ms);
    faults_->turn(step);
  }
  std::vector<std::string> victims() const {
    std::vector<std::string> names;
    for (const InjectFault& one : suffered_) names.push_back(one.name);
    return names;
  }

  std::vector<FaultSection> plan_ = {
      {.at_step = 10, .actor = "worker0", .kind = "kill"},
      {.at_step = 20, .actor = "reader0", .kind = "stop", .lasts = 2s}};
  std::shared_ptr<PlannedFaults::Over> over_ = std::make_shared<PlannedFaults::Over>();
  std::vector<InjectFault> suffered_;
  std::optional<Error> refusal_;
  std::vector<std::string> said_;
  Process* process_ = nullptr;
  ActorRef<Suffering> victims_;
  std::unique_ptr<PlannedFaults> faults_;
};

TEST_F(PlannedFaultsTest, HappenOnceWhenTheirStepIsDone) {
  at(9);
  EXPECT_THAT(victims(), IsEmpty());
  at(12);
  at(13);
  EXPECT_THAT(victims(), ElementsAre("worker0"));
  at(30);
  ASSERT_THAT(victims(), ElementsAre("worker0", "reader0"));
  EXPECT_EQ(suffered_[1].kind, FaultKind::STOP);
  EXPECT_EQ(suffered_[1].lasts, Duration(2s));
  EXPECT_EQ(suffered_[1].reason, "inject.fault 1, at step 20");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(PlannedFaultsTest, DoNotHappenAgainInAJobThatIsStartedAgain) {
  at(12);
  faults_ = make();
  at(5);
  at(15);
  EXPECT_THAT(victims(), ElementsAre("worker0"));
}

TEST_F(PlannedFaultsTest, WaitForAnActorThatIsBeingStartedAgain) {
  refusal_ = Error{Errc::unavailable, "worker0 is being started again"};
  at(12);
  refusal_.reset();
  EXPECT_THAT(victims(), IsEmpty());
  at(13);
  EXPECT_THAT(victims(), ElementsAre("worker0"));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(PlannedFaultsTest, ThatCannotBeAreSaidOnce) {
  refusal_ = Error{Errc::actor_down, "the coordinator is gone"};
  at(12);
  at(13);
  EXPECT_THAT(said_, ElementsAre("inject.fault 0, at step 10: the coordinator is gone"));
}

TEST(FaultsSuffered, AreThoseBeforeTheStepAndThoseOfTheRunsEvents) {
  const std::vector<FaultSection> plan = {{.at_step = 10, .actor = "worker0", .kind = "kill"},
                                          {.at_step = 20, .actor = "server0", .kind = "kill"},
                                          {.at_step = 30, .actor = "reader0", .kind = "kill"}};
  const TemporaryFolder run;
  EXPECT_THAT(faults_suffered(plan, run.path(), 0), IsEmpty());
  EXPECT_THAT(faults_suffered(plan, run.path(), 15), ElementsAre(0));
  std::ofstream(run / "events.jsonl")
      << "{\"kind\":\"injected\",\"actor\":\"server0\",\"cause\":\"kill (inject.fault 1, at step "
         "20)\"}\n{\"kind\":\"death\",\"cause\":\"kill (inject.fault 2, at step 30)\"}\n";
  EXPECT_THAT(faults_suffered(plan, run.path(), 15), ElementsAre(0, 1));
}

}  // namespace
}  // namespace sterna::launcher
