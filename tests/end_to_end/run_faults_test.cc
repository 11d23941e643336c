// Faults on purpose: those of a file, and those of `sterna chaos`, which a file must allow.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunFaults : public RunTest {
 protected:
  std::string job() const override { return of_a_small_net(); }
  /// Its run's events of that kind.
  std::vector<nlohmann::json> events(const std::string& kind) const {
    std::vector<nlohmann::json> found;
    for (const std::string& line : lines_of(content_of(path("run/events.jsonl")))) {
      nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
      if (event.value("kind", "") == kind) found.push_back(std::move(event));
    }
    return found;
  }
};

const std::vector<std::string> kHow = {"job.steps=150", "actor.worker.backoff=20ms",
                                       "cluster.heartbeat=500ms", "cluster.silence=5s",
                                       unhurried()};

TEST_F(RunFaults, OfAFileHappenAtTheirStepsAndTheBitsAreTheSame) {
  Arguments calmly = with(kHow);
  calmly.insert(calmly.end(), {"--run-dir", "calm"});
  SternaProgram& calm = run(calmly);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  std::vector<std::string> how = kHow;
  how.emplace_back(
      "inject.fault=[{at_step = 20, actor = \"worker1\", kind = \"kill\"}, "
      "{at_step = 40, actor = \"reader0\", kind = \"stop\", for = \"300ms\"}, "
      "{at_step = 60, actor = \"worker0\", kind = \"cut\"}, "
      "{at_step = 80, actor = \"worker1\", kind = \"drop\", for = \"500ms\"}, "
      "{at_step = 100, actor = \"server0\", kind = \"drop\", for = \"300ms\"}, "
      "{at_step = 120, actor = \"worker0\", kind = \"delay\", for = \"1s\", by = \"50ms\"}]");
  Arguments hit = with(how);
  hit.insert(hit.end(), {"--run-dir", "run"});
  SternaProgram& program = run(hit);
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_EQ(result()["parameters_sha256"], result("calm")["parameters_sha256"]);
  EXPECT_EQ(result()["injected_faults"], 6);
  EXPECT_FALSE(result("calm").contains("injected_faults"));
  const auto injected = events("injected");
  ASSERT_EQ(injected.size(), 6U) << program.story();
  EXPECT_EQ(injected[0]["actor"], "worker1");
  EXPECT_GE(injected[0]["step"], 20);
  EXPECT_EQ(injected[0]["cause"], "kill (inject.fault 0, at step 20)");
  EXPECT_EQ(injected[1]["seconds"], 0.3);
  EXPECT_EQ(injected[2]["cause"], "cut (inject.fault 2, at step 60)");
  EXPECT_EQ(injected[3]["cause"], "drop (inject.fault 3, at step 80)");
  EXPECT_EQ(injected[3]["seconds"], 0.5);
  EXPECT_EQ(injected[5]["cause"], "delay (inject.fault 5, at step 120)");
  // Only the first is a death; what is cut or lost is healed by dialling again.
  const auto restarts = events("actor_restart");
  ASSERT_EQ(restarts.size(), 1U) << program.story();
  EXPECT_EQ(restarts[0]["actor"], "worker1");
  EXPECT_GT(result().value("relinked", 0), 2) << program.story();
  EXPECT_THAT(content_of(path("run/logs/worker1.log")), HasSubstr("was due"));
}

TEST_F(RunFaults, AtRandomOnlyWhereTheFileAllowsThem) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  SternaProgram& chaos = sterna({"chaos"});
  EXPECT_EQ(chaos.exit_code(kPatience), 2) << chaos.story();
  EXPECT_THAT(chaos.err(), HasSubstr("run does not allow it: its file must say [chaos] allow = "
                                     "true\n"));
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
  EXPECT_TRUE(events("injected").empty());
}

TEST_F(RunFaults, AtRandomAreToldAsTheyHappenAndTheRunGoesOn) {
  SternaProgram& program = run_for_ever(
      with({"chaos.allow=true", "actor.worker.backoff=20ms", "actor.input_reader.backoff=20ms"}));
  ASSERT_TRUE(trains(program)) << program.story();
  SternaProgram& chaos = sterna({"chaos", "--every", "200ms", "--for", "3s", "--seed", "5",
                                 "--kinds", "kill,cut,delay,drop", "--actors", "worker,reader0"});
  SternaProgram& nobody = sterna({"chaos", "--actors", "worker,nobody", "--for", "1s"});
  EXPECT_EQ(nobody.exit_code(kPatience), 2) << nobody.story();
  EXPECT_EQ(nobody.err(), "--actors: the run has no actor \"nobody\"\n");
  SternaProgram& own = sterna({"chaos", "--actors", "worker,coordinator", "--for", "1s"});
  EXPECT_EQ(own.exit_code(kPatience), 2) << own.story();
  EXPECT_EQ(own.err(), "--actors: the run has no actor \"coordinator\"\n");
  SternaProgram& no_device =
      sterna({"chaos", "--every", "20ms", "--kinds", "device_fault", "--actors", "evaluator0"});
  EXPECT_EQ(no_device.exit_code(kPatience), 2) << no_device.story();
  EXPECT_THAT(no_device.err(), HasSubstr("it computes on the CPU"));
  EXPECT_EQ(chaos.exit_code(kPatience), 0) << chaos.story();
  EXPECT_THAT(chaos.err(), AllOf(HasSubstr("seed 5\n"), HasSubstr("; 3s have passed\n")));
  const auto told = lines_of(chaos.out());
  EXPECT_GE(told.size(), 3U) << chaos.story();
  EXPECT_TRUE(eventually(kPatience, [&] { return events("injected").size() >= told.size(); }))
      << program.story();
  EXPECT_EQ(events("injected").size(), told.size());
  EXPECT_THAT(events("injected").front()["cause"].get<std::string>(),
              HasSubstr("(sterna chaos, seed 5, number "));
  const auto before = content_of(path("run/metrics.jsonl")).size();
  EXPECT_TRUE(eventually(kPatience, [&] {
    return content_of(path("run/metrics.jsonl")).size() > before + 2000;
  })) << program.story();

  SternaProgram& ends_with_it = sterna({"chaos", "--every", "1h"});
  EXPECT_TRUE(eventually(kPatience, [&] { return !ends_with_it.err().empty(); }));
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
  EXPECT_EQ(ends_with_it.exit_code(kPatience), 0) << ends_with_it.story();
  EXPECT_THAT(ends_with_it.err(), HasSubstr("0 faults; the run has ended\n"));
}

TEST_F(RunFaults, WhatNobodyReadsAnyMoreEndsAndStrikesNobody) {
  SternaProgram& program = run_for_ever(with({"chaos.allow=true"}));
  ASSERT_TRUE(trains(program)) << program.story();
  const std::vector<Arguments> commands = {{"watch"},
                                           {"watch", "--json"},
                                           {"logs", "-f"},
                                           {"events", "run", "-f"},
                                           {"chaos", "--every", "1h"}};
  for (const Arguments& arguments : commands) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    SternaProgram& command = sterna(arguments, {}, ends[1]);
    ::close(ends[1]);
    if (arguments.front() == "chaos") {
      EXPECT_TRUE(eventually(kPatience, [&] { return !command.err().empty(); }));
    } else {
      char first = 0;
      EXPECT_EQ(::read(ends[0], &first, 1), 1) << command.story();
    }
    ::close(ends[0]);
    EXPECT_EQ(command.exit_code(kPatience), 0) << command.story();
  }
  EXPECT_TRUE(events("injected").empty());
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
}

TEST_F(RunFaults, AWatchThatCannotBeWrittenEndsAndSaysSo) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  for (const Arguments& arguments : {Arguments{"watch"}, Arguments{"watch", "--json"}}) {
    SternaProgram& command = sterna(arguments, {}, full);
    EXPECT_EQ(command.exit_code(kPatience), 1) << command.story();
    EXPECT_THAT(command.err(),
                HasSubstr("cannot write to standard output: No space left on device\n"));
  }
  ::close(full);
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
}

}  // namespace
}  // namespace sterna::test
