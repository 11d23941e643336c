// What slows nobody down, and what kills: a disk that is full or hangs and a terminal that takes
// nothing leave the rate of steps as it is and are named; a death has its own cause, and not that
// of somebody else's. For as many seconds as STERNA_SECONDS says (the script `causes`); what this
// machine does not permit is skipped aloud.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "tests/end_to_end/run_test.h"
#include "tests/launcher/pseudo_terminal.h"

namespace sterna::test {
namespace {

using testing::_;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr double kLeastRate = 0.95;

/// 0: only what takes no time.
int seconds_of_each() {
  const char* given = std::getenv("STERNA_SECONDS");
  return given == nullptr ? 0 : std::atoi(given);
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

int shell(const std::string& command) { return std::system(command.c_str()); }

/// A control group of the kernel's first version, for whoever is put into it.
class Group {
 public:
  explicit Group(const std::string& controller)
      : root_("/sys/fs/cgroup/" + controller),
        folder_(fmt::format("{}/sterna-test-{}", root_, ::getpid())) {
    std::error_code error;
    made_ = std::filesystem::exists(root_ + "/cgroup.procs") &&
            std::filesystem::create_directory(folder_, error);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    if (!made_) return;
    eventually(seconds(5), [this] { return ::rmdir(folder_.c_str()) == 0; });
  }
  bool made() const { return made_; }
  bool set(const std::string& file, const std::string& value) const {
    std::ofstream out(folder_ + "/" + file);
    out << value << std::flush;
    return out.good();
  }
  std::string get(const std::string& file) const { return content_of(folder_ + "/" + file); }
  bool add(pid_t pid) const { return set("cgroup.procs", std::to_string(pid)); }
  bool give_back(pid_t pid) const {
    std::ofstream out(root_ + "/cgroup.procs");
    out << pid << std::flush;
    return out.good();
  }

 private:
  std::string root_;
  std::string folder_;
  bool made_ = false;
};

/// Somebody who touches that much memory in that group, and ends, as soon as anybody was killed
/// for it at the latest: then there is room for all again. Its status.
int take_memory(const Group& group, std::size_t bytes, int score) {
  const pid_t child = ::fork();
  if (child == 0) {
    group.add(::getpid());
    std::ofstream("/proc/self/oom_score_adj") << score << std::flush;
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) ::_exit(1);
    for (std::size_t at = 0; at < bytes; at += 4096) {
      static_cast<volatile char*>(memory)[at] = 1;
      if (group.get("memory.oom_control").find("oom_kill 0") == std::string::npos) break;
    }
    group.set("memory.limit_in_bytes", "-1");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

class Causes : public RunTest {
 protected:
  std::string job() const override {
    return seconds_of_each() > 0 ? kThirtySteps : of_a_small_net();
  }
  void TearDown() override {
    for (const std::string& mounted : mounted_) {
      shell("fsfreeze -u '" + mounted + "' 2>/dev/null");
      ::umount2(mounted.c_str(), MNT_DETACH);
    }
    RunTest::TearDown();
  }

  SternaProgram& start(const std::vector<std::string>& more = {},
                       const std::string& folder = "run") {
    std::vector<std::string> settings = {"actor.worker.backoff=20ms", "cluster.heartbeat=200ms",
                                         "cluster.silence=2s",        "job.steps=250",
                                         "evaluator.every=50",        unhurried()};
    settings.insert(settings.end(), more.begin(), more.end());
    Arguments arguments = with(settings);
    arguments.insert(arguments.end(), {"--run-dir", folder});
    return run(arguments);
  }
  std::string calm_hash() {
    SternaProgram& calm = start({}, "calm");
    EXPECT_EQ(calm.exit_code(kPatience), 0) << calm.story();
    return result("calm").value("parameters_sha256", "");
  }
  /// Of what was lost in a run that ended well, with the undisturbed run's parameters, by actor.
  std::map<std::string, std::string> causes_in(SternaProgram& program, const std::string& hash) {
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    const nlohmann::json got = result();
    EXPECT_EQ(got.value("parameters_sha256", ""), hash);
    std::map<std::string, std::string> causes;
    for (const auto& restart : got.value("actor_restarts", nlohmann::json::array())) {
      EXPECT_TRUE(causes.emplace(restart["actor"], restart["cause"]).second) << got;
    }
    return causes;
  }

  /// When an actor of the run was replaced first.
  std::optional<double> restarted_at() const {
    for (const std::string& line : lines_of(content_of(path("run/events.jsonl")))) {
      const auto event = nlohmann::json::parse(line, nullptr, false);
      const bool restart = event.is_object() && event.value("kind", "") == "actor_restart";
      if (restart) return event.value("time", 0.0);
    }
    return std::nullopt;
  }
  std::ptrdiff_t steps_made() const {
    return std::ranges::count_if(lines_of(content_of(path("run/metrics.jsonl"))),
                                 [](const std::string& line) {
                                   return line.find("\"kind\":\"step\"") != std::string::npos;
                                 });
  }
  std::int64_t step(const std::string& name = "run") {
    SternaProgram& status = sterna({"status", name, "--json"});
    EXPECT_EQ(status.exit_code(kPatience), 0) << status.story();
    const std::vector<std::string> lines = lines_of(status.out());
    const auto json =
        lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.back(), nullptr, false);
    return json.is_object() && json.contains("status") && json["status"].is_object()
               ? json["status"].value("step", std::int64_t{-1})
               : -1;
  }
  /// How many steps the run has made for each of the twin's, for as long as a measurement takes.
  double rate(const std::function<void()>& meanwhile = [] {}) {
    const std::int64_t before = step();
    const std::int64_t twin_before = step("twin");
    eventually(seconds(seconds_of_each()), [&] {
      meanwhile();
      return false;
    });
    const auto steps = static_cast<double>(step() - before);
    const auto of_twin = static_cast<double>(step("twin") - twin_before);
    std::printf("  %.0f steps, its twin %.0f\n", steps, of_twin);
    return steps / std::max(1.0, of_twin);
  }
  /// Undisturbed, disturbed and undisturbed again, beside a twin that nobody disturbs, as the
  /// machine may do other things; and in how many seconds it was named.
  void measure(
      SternaProgram& program, const std::string& what, const std::string& words,
      const std::function<void()>& begin, const std::function<void()>& end,
      const std::function<void()>& undisturbed = [] {}) {
    SternaProgram& twin = endless("twin");
    ASSERT_TRUE(eventually(kPatience, [&] {
      undisturbed();
      return content_of(path("twin/metrics.jsonl")).find("\"step\"") != std::string::npos;
    })) << twin.story();
    const SteadyClock clock;
    const double before = rate(undisturbed);
    begin();
    const Time began = clock.now();
    std::optional<double> named;
    const double meanwhile = rate([&] {
      if (named || words.empty()) return;
      const std::string said = program.out() + program.err();
      if (said.find(words) != std::string::npos) named = in_seconds(clock.now() - began);
    });
    end();
    const double after = rate(undisturbed);
    const double ratio = 2 * meanwhile / (before + after);
    std::printf("%-24s %3d s  %.3f of the undisturbed rate; named after %s\n", what.c_str(),
                seconds_of_each(), ratio, named ? fmt::format("{:.1f} s", *named).c_str() : "-");
    std::fflush(stdout);
    EXPECT_GE(ratio, kLeastRate);
    EXPECT_TRUE(words.empty() || named.value_or(1e9) <= 6);
    interrupt(twin);
  }
  /// Mounts something at "disk", for a run's directory.
  bool mount_disk(const std::string& command) {
    std::filesystem::create_directory(path("disk"));
    if (shell(command + " '" + path("disk") + "' 2>/dev/null") != 0) return false;
    mounted_.push_back(path("disk"));
    return true;
  }
  SternaProgram& endless(const std::string& folder, const Environment& variables = {},
                         std::optional<int> output = {}) {
    Arguments arguments = {"run", "job.toml", "--data", digits(), "--run-dir", folder};
    const Arguments set = with({"job.steps=1000000000", "evaluator.every=0"});
    arguments.insert(arguments.end(), set.begin(), set.end());
    return sterna(arguments, variables, output);
  }
  void interrupt(SternaProgram& program) {
    program.interrupt();
    EXPECT_TRUE(program.exit_code(kPatience)) << program.story();
  }

  std::vector<std::string> mounted_;
};

#define STERNA_NEEDS_SECONDS() \
  if (seconds_of_each() == 0) GTEST_SKIP() << "takes minutes: tests/cluster/causes"

TEST_F(Causes, ATerminalThatTakesNothingSlowsNobodyDown) {
  STERNA_NEEDS_SECONDS();
  const launcher::PseudoTerminal terminal;
  SternaProgram& program = endless("run", {"TERM=xterm"}, terminal.descriptor());
  ASSERT_TRUE(eventually(kPatience, [&] {
    terminal.shown();
    return content_of(path("run/metrics.jsonl")).find("\"step\"") != std::string::npos;
  }));
  const auto read = [&] { terminal.shown(); };
  measure(
      program, "terminal, Ctrl-S", "", [] {}, read, read);
  program.interrupt();
  EXPECT_TRUE(eventually(kPatience, [&] {
    terminal.shown();
    return program.exit_code(Duration::zero()).has_value();
  }));
}

TEST_F(Causes, AFullDiskSlowsNobodyDownAndIsNamed) {
  STERNA_NEEDS_SECONDS();
  if (!mount_disk("mount -t tmpfs -o size=96m none")) GTEST_SKIP() << "no mounts here";
  SternaProgram& program = endless("disk/run");
  ASSERT_TRUE(trains(program, "disk/run")) << program.story();
  measure(
      program, "the run's disk is full", "No space left",
      [&] { shell("cat /dev/zero > '" + path("disk") + "/filler' 2>/dev/null"); },
      [&] { std::filesystem::remove(path("disk/filler")); });
  interrupt(program);
}

TEST_F(Causes, AHungDiskSlowsNobodyDownAndIsNamed) {
  STERNA_NEEDS_SECONDS();
  const std::string image = path("disk.img");
  const bool made =
      shell("truncate -s 192M '" + image + "' && mkfs.ext4 -q -F '" + image + "'") == 0;
  if (!made || !mount_disk("mount -o loop '" + image + "'")) GTEST_SKIP() << "no loop devices here";
  SternaProgram& program = endless("disk/run");
  ASSERT_TRUE(trains(program, "disk/run")) << program.story();
  measure(
      program, "the run's disk hangs", "the disk has not answered",
      [&] { ASSERT_EQ(shell("fsfreeze -f '" + path("disk") + "'"), 0); },
      [&] { shell("fsfreeze -u '" + path("disk") + "'"); });
  interrupt(program);
}

TEST_F(Causes, AMemoryGroupsKillIsItsOwnCause) {
  const Group group("memory");
  if (!group.made()) GTEST_SKIP() << "no control groups to make here";
  const std::string hash = calm_hash();
  ASSERT_TRUE(group.add(::getpid()));
  SternaProgram& program = start();
  ASSERT_TRUE(group.give_back(::getpid()));
  ASSERT_TRUE(trains(program)) << program.story();
  const pid_t worker = program.pid_of("worker0");
  std::ofstream(fmt::format("/proc/{}/oom_score_adj", worker)) << 1000 << std::flush;
  const std::size_t used = std::stoull(group.get("memory.usage_in_bytes"));
  constexpr std::size_t kRoom = 16U << 20U;
  ASSERT_TRUE(group.set("memory.limit_in_bytes", std::to_string(used + kRoom)));
  EXPECT_EQ(take_memory(group, kRoom + (8U << 20U), 0), 0);
  // The kernel prefers worker0, and takes another where the first one's memory comes back late.
  const auto causes = causes_in(program, hash);
  EXPECT_THAT(causes, Contains(Key("worker0")));
  EXPECT_THAT(causes, Each(Pair(_, HasSubstr("likely out of memory"))));
}

TEST_F(Causes, AKillAfterAnotherProgramsOutOfMemoryIsAKill) {
  const Group group("memory");
  if (!group.made()) GTEST_SKIP() << "no control groups to make here";
  const std::string hash = calm_hash();
  SternaProgram& program = start();
  ASSERT_TRUE(trains(program)) << program.story();
  ASSERT_TRUE(group.set("memory.limit_in_bytes", std::to_string(8U << 20U)));
  const int status = take_memory(group, 64U << 20U, 1000);
  EXPECT_TRUE(WIFSIGNALED(status)) << "nobody was killed for want of memory: is there swap?";
  strike(program.pid_of("worker1"), SIGKILL);
  const auto is_a_kill = AllOf(HasSubstr("SIGKILL"), Not(HasSubstr("memory")));
  EXPECT_THAT(causes_in(program, hash), ElementsAre(Pair("worker1", is_a_kill)));
}

TEST_F(Causes, AnActorThatItsGroupHasFrozenIsReplacedAndEndsOnceItGoesOn) {
  const Group group("freezer");
  if (!group.made()) GTEST_SKIP() << "no control groups to make here";
  const std::string hash = calm_hash();
  SternaProgram& program = start();
  ASSERT_TRUE(trains(program)) << program.story();
  const pid_t frozen = program.pid_of("worker0");
  ASSERT_TRUE(group.add(frozen));
  const double began = seconds_since_1970();
  ASSERT_TRUE(group.set("freezer.state", "FROZEN"));
  const bool replaced = eventually(seconds(20), [&] { return restarted_at().has_value(); });
  const std::ptrdiff_t stood = steps_made();  // nobody makes one without it
  const bool goes_on = eventually(seconds(20), [&] { return steps_made() > stood; });
  const bool stayed = ::kill(frozen, 0) == 0;
  group.set("freezer.state", "THAWED");
  const bool gone = eventually(seconds(10), [&] { return ::kill(frozen, 0) != 0; });
  const bool trains_on = !program.exit_code(Duration::zero()).has_value();
  ASSERT_TRUE(replaced) << program.story();
  const double took = *restarted_at() - began;
  std::printf("frozen by its group: replaced after %.1f s (cluster.silence 2 s)\n", took);
  EXPECT_LE(took, 2 + 5 + 3) << "the silence, what SIGKILL may take, and the machine";
  EXPECT_TRUE(goes_on && stayed) << "the next one works beside it";
  EXPECT_TRUE(gone) << "it outlives its freezing";
  EXPECT_TRUE(trains_on) << "the run was over before it was gone";
  EXPECT_THAT(causes_in(program, hash), ElementsAre(Pair("worker0", HasSubstr("silence"))));
  EXPECT_NE(::kill(frozen, 0), 0);
}

}  // namespace
}  // namespace sterna::test
