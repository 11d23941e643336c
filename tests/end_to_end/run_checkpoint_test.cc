// Runs that are killed and go on, with real processes and files: the same bits as without a break.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kKept = {"checkpoint.every_steps=5", "checkpoint.resume=true",
                                        "checkpoint.keep=100000",   "gradient.error_feedback=true",
                                        "optimizer.schedule=fixed", unhurried()};

class RunCheckpoint : public RunTest {
 protected:
  std::string job() const override { return of_a_small_net(); }
  SternaProgram& kept(const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), kKept.begin(), kKept.end());
    Arguments arguments = with(more);
    arguments.insert(arguments.end(), {"--run-dir", folder, "--json"});
    return run(arguments);
  }
  std::string hash_of(SternaProgram& program) {
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    const std::vector<std::string> lines = lines_of(program.out());
    if (lines.empty()) return "no result";
    return nlohmann::json::parse(lines.back(), nullptr, false)
        .value("parameters_sha256", "no hash");
  }
  /// The steps of the checkpoints that a run has; one that is due while another is being written is
  /// left out.
  std::set<int> steps_of(const std::string& run) const {
    std::set<int> steps;
    std::error_code ignored;
    for (const auto& one :
         std::filesystem::directory_iterator(path(run + "/checkpoints"), ignored)) {
      if (std::filesystem::exists(one.path() / "manifest.json")) {
        steps.insert(std::stoi(one.path().filename().string().substr(5)));
      }
    }
    return steps;
  }
  /// Waits until it has one of `step` or later, and kills an actor.
  void kill_after(SternaProgram& program, const std::string& run, int step,
                  const std::string& actor) {
    pid_t pid = 0;
    ASSERT_TRUE(eventually(kPatience, [&] {
      const std::set<int> steps = steps_of(run);
      pid = program.pid_of(actor);
      return !steps.empty() && *steps.rbegin() >= step && pid > 0;
    })) << program.story();
    strike(pid, SIGKILL);
  }
};

TEST_F(RunCheckpoint, KilledAsAWholeItGoesOnToTheSameBits) {
  const std::string hash = hash_of(kept("calm"));
  may_leave_socket_folders();
  SternaProgram& killed = kept("run", {"job.steps=1000000"});
  ASSERT_TRUE(eventually(kPatience, [&] { return steps_of("run").size() > 2; })) << killed.story();
  for (const FoundProcess& process : killed.processes()) strike(process.pid, SIGKILL);
  killed.kill();
  ASSERT_TRUE(eventually(kPatience, [&] { return killed.processes().empty(); }));
  // From an earlier one, too, by another number of servers; and of the same steps as the calm run.
  SternaProgram& from_one = run([&] {
    Arguments arguments =
        with({"checkpoint.resume=run/checkpoints/step-000000005", "gradient.error_feedback=true",
              "optimizer.schedule=fixed", "actor.parameter_server.count=3"});
    arguments.insert(arguments.end(), {"--run-dir", "other", "--json"});
    return arguments;
  }());
  EXPECT_EQ(hash_of(from_one), hash);
  EXPECT_THAT(from_one.err(), HasSubstr("going on from step 5"));
}

TEST_F(RunCheckpoint, LosingActorsItGoesOnByItselfToTheSameBits) {
  const std::string hash = hash_of(kept("calm", {"job.steps=100", "evaluator.every=0"}));
  SternaProgram& hit =
      kept("run", {"job.steps=100", "evaluator.every=0", "actor.worker.restart=0"});
  kill_after(hit, "run", 20, "worker0");
  ASSERT_TRUE(eventually(kPatience, [&] {
    return hit.err().find("restart 1 of 5, from step ") != std::string::npos;
  })) << hit.story();
  kill_after(hit, "run", *steps_of("run").rbegin() + 1, "server0");
  EXPECT_EQ(hash_of(hit), hash) << hit.story();
  const auto result = nlohmann::json::parse(lines_of(hit.out()).back(), nullptr, false);
  ASSERT_EQ(result["restarts"].size(), 2U) << hit.story();
  EXPECT_THAT(result["restarts"][0]["cause"].get<std::string>(), HasSubstr("worker0"));
  EXPECT_THAT(result["restarts"][1]["cause"].get<std::string>(), HasSubstr("server0"));

  // A reader of the metrics learns what was done again: then no step is there twice, and each after
  // the last restart is. (What a killed worker had not told yet nobody knows.)
  std::vector<int> steps;
  int last_restart = 0;
  for (const std::string& line : lines_of(content_of(path("run/metrics.jsonl")))) {
    const auto one = nlohmann::json::parse(line);
    if (one["kind"] == "restart") {
      last_restart = one["step"];
      std::erase_if(steps, [&](int step) { return step > last_restart; });
    } else if (one["kind"] == "loss") {
      steps.push_back(one["step"]);
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(steps, std::ranges::less_equal()));
  std::erase_if(steps, [&](int step) { return step <= last_restart; });
  std::vector<int> all(static_cast<std::size_t>(100 - last_restart));
  std::iota(all.begin(), all.end(), last_restart + 1);
  EXPECT_EQ(steps, all);
}

TEST_F(RunCheckpoint, LosingTheOneWorkerThatDoesWithoutServersItGoesOnToTheSameBits) {
  write("job.toml", without_servers(job()));
  const std::string hash = hash_of(kept("calm", {"job.steps=100", "evaluator.every=0"}));
  SternaProgram& hit = kept("run", {"job.steps=100", "evaluator.every=0"});
  kill_after(hit, "run", 20, "worker0");
  EXPECT_EQ(hash_of(hit), hash) << hit.story();
  nlohmann::json got = result();
  ASSERT_EQ(got["restarts"].size(), 1U) << hit.story();
  EXPECT_GE(got["restarts"][0]["step"], 20);
  EXPECT_THAT(got["restarts"][0]["cause"].get<std::string>(),
              AllOf(StartsWith("worker0#1 is dead"), HasSubstr("SIGKILL")));
  EXPECT_FALSE(got.contains("actor_restarts")) << "nobody can give it what it had: " << got;
}

TEST_F(RunCheckpoint, WithoutAnyTheLossOfThatWorkerEndsTheRunAndNamesIt) {
  write("job.toml", without_servers(job()));
  SternaProgram& hit = run_for_ever();
  ASSERT_TRUE(trains(hit)) << hit.story();
  const pid_t worker = hit.pid_of("worker0");
  ASSERT_GT(worker, 0) << hit.story();
  strike(worker, SIGKILL);
  ASSERT_EQ(hit.exit_code(kPatience), 1) << hit.story();
  const testing::Matcher<std::string> cause =
      AllOf(StartsWith("worker0#1 is dead"), HasSubstr("SIGKILL"));
  EXPECT_THAT(lines_of(hit.err()).back(), cause);
  EXPECT_THAT(result()["cause"].get<std::string>(), cause);
}

TEST_F(RunCheckpoint, WhatIsLostAgainAndAgainFails) {
  SternaProgram& hit = kept("run", {"job.steps=1000000", "checkpoint.every_steps=1000000",
                                    "checkpoint.restarts=1", "actor.worker.restart=0"});
  pid_t killed = 0;
  for (int i = 0; i < 2; ++i) {
    pid_t worker = 0;
    ASSERT_TRUE(eventually(kPatience, [&] {
      worker = hit.pid_of("worker0");
      return worker > 0 && worker != killed;
    })) << hit.story();
    strike(worker, SIGKILL);
    killed = worker;
  }
  EXPECT_EQ(hit.exit_code(kPatience), 1) << hit.story();
  EXPECT_THAT(lines_of(hit.err()).back(),
              AllOf(HasSubstr("worker0"), HasSubstr("after 1 restart from checkpoints")));
}

TEST_F(RunCheckpoint, InItsOwnDirectoryItGoesOnOrBegins) {
  const std::string hash = hash_of(kept("calm"));
  SternaProgram& stopped = kept("run", {"job.steps=20"});  // as far as it came
  ASSERT_EQ(stopped.exit_code(kPatience), 0) << stopped.story();
  SternaProgram& gone_on = kept("run");
  EXPECT_EQ(hash_of(gone_on), hash);
  EXPECT_THAT(gone_on.err(), HasSubstr("going on from step 20"));
  SternaProgram& listed = sterna({"checkpoints", "run"});
  EXPECT_EQ(listed.exit_code(kPatience), 0);
  EXPECT_THAT(listed.out(), HasSubstr("step          30"));
  SternaProgram& ended = kept("run");
  EXPECT_EQ(ended.exit_code(kPatience), 2);
  EXPECT_THAT(ended.err(), HasSubstr("nothing left to train"));
  // As if it had been killed while its last version was evaluated.
  std::filesystem::remove(path("run/result.json"));
  std::filesystem::remove(path("run/weights.safetensors"));
  SternaProgram& unended = kept("run");
  EXPECT_EQ(hash_of(unended), hash);
  EXPECT_THAT(unended.err(), HasSubstr("going on from step"));
  EXPECT_TRUE(std::filesystem::exists(path("run/weights.safetensors")));
}

TEST_F(RunCheckpoint, WithoutOneNothingThatIsDoneOrIsNotOursIsReplaced) {
  const auto begun = [&](const std::string& folder, const std::string& setting) -> SternaProgram& {
    Arguments arguments = with({setting});
    arguments.insert(arguments.end(), {"--run-dir", folder});
    return run(arguments);
  };
  ASSERT_EQ(begun("run", "job.seed=1").exit_code(kPatience), 0);
  const std::string weights = content_of(path("run/weights.safetensors"));
  SternaProgram& again = begun("run", "checkpoint.resume=true");
  EXPECT_EQ(again.exit_code(kPatience), 2) << again.story();
  EXPECT_THAT(again.err(), HasSubstr("run: there is a run that has ended, and no checkpoint; give "
                                     "another --run-dir"));
  EXPECT_EQ(content_of(path("run/weights.safetensors")), weights);
  // Killed before its first checkpoint.
  std::filesystem::remove(path("run/result.json"));
  SternaProgram& first = begun("run", "checkpoint.resume=true");
  EXPECT_EQ(first.exit_code(kPatience), 0) << first.story();
  EXPECT_THAT(first.story(), HasSubstr("run has no checkpoint: it begins at step 0"));
  std::filesystem::create_directory(path("mine"));
  EXPECT_EQ(begun("mine", "checkpoint.resume=true").exit_code(kPatience), 0) << "it was empty";
  std::filesystem::create_directory(path("notes"));
  write("notes/result.json", "mine");
  SternaProgram& foreign = begun("notes", "checkpoint.resume=true");
  EXPECT_EQ(foreign.exit_code(kPatience), 2) << foreign.story();
  EXPECT_THAT(foreign.err(), HasSubstr("notes: it is no run's directory, and not empty"));
  EXPECT_EQ(content_of(path("notes/result.json")), "mine");
}

TEST_F(RunCheckpoint, NorWhereItIsStartedAgainWithCheckpointsElsewhere) {
  std::filesystem::create_directory(path("notes"));
  write("notes/result.json", "mine");
  for (const char* again : {"0", "1"}) {
    Arguments arguments = with({"checkpoint.every_steps=5", "checkpoint.folder=" + path("kept")});
    arguments.insert(arguments.end(), {"--run-dir", "notes", "--again", again});
    SternaProgram& foreign = run(arguments);
    EXPECT_EQ(foreign.exit_code(kPatience), 2) << foreign.story();
    EXPECT_THAT(foreign.err(), HasSubstr("notes: it is no run's directory, and not empty"));
    EXPECT_EQ(content_of(path("notes/result.json")), "mine");
    EXPECT_FALSE(exists("notes/resolved.toml"));
  }
  Arguments finished = with({"checkpoint.every_steps=5", "checkpoint.folder=" + path("kept")});
  finished.insert(finished.end(), {"--run-dir", "run"});
  ASSERT_EQ(run(finished).exit_code(kPatience), 0);
  std::filesystem::remove_all(path("kept"));
  const std::string weights = content_of(path("run/weights.safetensors"));
  finished.insert(finished.end(), {"--again", "1", "--set", "job.seed=3"});
  SternaProgram& again = run(finished);
  EXPECT_EQ(again.exit_code(kPatience), 2) << again.story();
  EXPECT_EQ(content_of(path("run/weights.safetensors")), weights);
}

/// As many ports as the processes of this job take, and others have them all.
class TakenPorts {
 public:
  TakenPorts() {
    for (int tries = 0; tries < 100 && low_ == 0; ++tries) {
      for (const int socket : sockets_) ::close(socket);
      sockets_.clear();
      low_ = bound(0);
      for (int port = low_ + 1; low_ > 0 && port < low_ + kMany; ++port) {
        if (bound(port) == 0) low_ = 0;
      }
    }
  }
  TakenPorts(const TakenPorts&) = delete;
  TakenPorts& operator=(const TakenPorts&) = delete;
  ~TakenPorts() {
    for (const int socket : sockets_) ::close(socket);
  }
  std::string range() const { return fmt::format("{}-{}", low_, low_ + kMany - 1); }

 private:
  static constexpr int kMany = 16;
  int bound(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets_.push_back(socket);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const bool is = ::bind(socket, any, size) == 0 && ::listen(socket, 1) == 0 &&
                    ::getsockname(socket, any, &size) == 0;
    return is ? ntohs(address.sin_port) : 0;
  }
  std::vector<int> sockets_;
  int low_ = 0;
};

TEST_F(RunCheckpoint, OneThatCannotGoOnLeavesWhatWasSaidOfTheEndBefore) {
  const TakenPorts taken;
  const std::vector<std::string> more = {"job.steps=40", "cluster.transport=tcp",
                                         "cluster.ports=" + taken.range()};
  ASSERT_EQ(kept("run").exit_code(kPatience), 0);
  const std::string before = content_of(path("run/result.json"));
  const std::string status = content_of(path("run/status.json"));
  const std::string resolved = content_of(path("run/resolved.toml"));
  SternaProgram& failed = kept("run", more);
  EXPECT_EQ(failed.exit_code(kPatience), 1) << failed.story();
  EXPECT_EQ(content_of(path("run/result.json")), before);
  EXPECT_EQ(content_of(path("run/status.json")), status);
  EXPECT_EQ(content_of(path("run/resolved.toml")), resolved);
  const auto last_event = [this] {
    return nlohmann::json::parse(lines_of(content_of(path("run/events.jsonl"))).back());
  };
  EXPECT_EQ(last_event()["kind"], "ended");
  // As if whoever kept it had been killed.
  std::filesystem::remove(path("run/result.json"));
  SternaProgram& again = kept("run", more);
  EXPECT_EQ(again.exit_code(kPatience), 1) << again.story();
  EXPECT_EQ(result()["exit"], 1);
  EXPECT_EQ(result()["cause"], last_event()["cause"]);
  EXPECT_EQ(content_of(path("run/resolved.toml")), resolved);
  ASSERT_EQ(kept("run", {"job.steps=40"}).exit_code(kPatience), 0);
  EXPECT_EQ(result()["steps"], 40);
  EXPECT_EQ(result()["exit"], 0);
  EXPECT_NE(content_of(path("run/resolved.toml")), resolved);
}

TEST_F(RunCheckpoint, OneThatCannotBeMadeIsSaidAndTheRunGoesOn) {
  std::filesystem::create_directory(path("kept"));
  write("kept/step-000000010", "in the way");
  Arguments arguments = with({"checkpoint.every_steps=10", "checkpoint.folder=" + path("kept")});
  arguments.insert(arguments.end(), {"--run-dir", "run"});
  SternaProgram& program = run(arguments);
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_THAT(program.out(), HasSubstr("\nno checkpoint of step 10: "));
  EXPECT_THAT(content_of(path("run/metrics.jsonl")),
              HasSubstr(R"({"kind":"missed_checkpoint","why":"no checkpoint of step 10: )"));
  EXPECT_GE(result()["missed_checkpoints"], 1);
  EXPECT_TRUE(std::filesystem::exists(path("kept/step-000000030/manifest.json")));
}

TEST_F(RunCheckpoint, WhatCannotBeGoneOnFromIsSaidInALine) {
  const auto said = [&](const std::string& resume, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings = {"checkpoint.resume=" + resume};
    settings.insert(settings.end(), more.begin(), more.end());
    SternaProgram& program = run(with(settings));
    EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
    EXPECT_EQ(lines_of(program.err()).size(), 1U) << program.err();
    return program.err();
  };
  EXPECT_THAT(said("true"), HasSubstr("say which with --run-dir"));
  EXPECT_THAT(said("nowhere"), HasSubstr("nowhere: there is no such folder"));
  ASSERT_EQ(kept("calm").exit_code(kPatience), 0);
  EXPECT_THAT(said("calm"), HasSubstr("nothing left to train"));
  EXPECT_THAT(said("calm", {"job.net=lenet", "job.hidden=[]"}), HasSubstr("is of the net mlp"));
  EXPECT_THAT(said("calm", {"job.steps=40", "data.classes=12"}),
              HasSubstr("is of 10 classes, and this job has 12"));
  {
    std::fstream part(path("calm/checkpoints/step-000000030/server0.safetensors"),
                      std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(-9, std::ios::end);
    part.put('\x7f');
  }
  EXPECT_THAT(said("calm/checkpoints/step-000000030"),
              AllOf(HasSubstr("server0.safetensors"), HasSubstr("not those that were written")));
  // A version that was due while another was being written has none.
  int before = 25;
  while (before > 0 && !std::filesystem::exists(path(
                           fmt::format("calm/checkpoints/step-{:09}/manifest.json", before)))) {
    before -= 5;
  }
  ASSERT_GT(before, 0);
  SternaProgram& evaluated = sterna({"eval", "--checkpoint", "calm"});
  EXPECT_EQ(evaluated.exit_code(kPatience), 0) << evaluated.story();
  EXPECT_THAT(evaluated.err(),
              AllOf(StartsWith("passed over: "), HasSubstr("server0.safetensors: its bytes"),
                    HasSubstr(fmt::format("; step {} is taken instead\n", before))));
  SternaProgram& gone_on = kept("calm");
  EXPECT_EQ(gone_on.exit_code(kPatience), 0) << gone_on.story();
  EXPECT_THAT(gone_on.err(), AllOf(HasSubstr("not gone on from: "),
                                   HasSubstr(fmt::format("going on from step {}", before)),
                                   testing::Not(HasSubstr("that checkpoint's job"))));
  EXPECT_THAT(content_of(path("calm/events.jsonl")),
              HasSubstr(fmt::format(R"("kind":"passed_over","step":{},)", before)));
  EXPECT_THAT(said("calm"), HasSubstr("nothing left to train"));  // it is whole again
  SternaProgram& other = run(with({"checkpoint.resume=calm", "job.steps=32", "job.batch=4",
                                   "gradient.error_feedback=true", "optimizer.schedule=fixed"}));
  EXPECT_EQ(other.exit_code(kPatience), 0) << other.story();
  EXPECT_THAT(other.err(), HasSubstr("other than in that checkpoint's job: job.batch 8 -> 4\n"));
  std::filesystem::remove(path("calm/checkpoints/step-000000030/server0.safetensors"));
  EXPECT_THAT(said("calm/checkpoints/step-000000030"),
              AllOf(HasSubstr("server0.safetensors"), HasSubstr("missing")));
}

TEST_F(RunCheckpoint, EpochsEndByTheExamplesThatWereSeenInBatchesOfAnotherSize) {
  ASSERT_EQ(kept("calm").exit_code(kPatience), 0);  // 480 of 2,000 examples
  const auto gone_on = [&](const std::string& epochs) -> SternaProgram& {
    Arguments arguments = with({"checkpoint.resume=calm", "job.batch=4", "job.epochs=" + epochs});
    arguments.emplace_back("--json");
    return run(arguments);
  };
  SternaProgram& longer = gone_on("0.25");
  EXPECT_EQ(longer.exit_code(kPatience), 0) << longer.story();
  ASSERT_FALSE(lines_of(longer.out()).empty());
  const auto result = nlohmann::json::parse(lines_of(longer.out()).back(), nullptr, false);
  EXPECT_EQ(result.value("steps", 0), 33) << "20 more examples, 8 a step";
  SternaProgram& none = gone_on("0.24");
  EXPECT_EQ(none.exit_code(kPatience), 2) << none.story();
  EXPECT_THAT(none.err(), HasSubstr("is of step 30, and job.epochs = 0.24 are over there: there is "
                                    "nothing left to train; raise job.epochs to go on"));
}

}  // namespace
}  // namespace sterna::test
