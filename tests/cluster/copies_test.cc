// Each checkpoint of a run lies whole on another machine, too: what the head's disk has lost of it
// comes back from there, and with all of that disk the run goes on from the copy itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Duration kPatience = std::chrono::minutes(3);

constexpr const char* kJob = R"(
[[actor]]
role = "parameter_server"
count = 2
hosts = ["a", "b"]

[[actor]]
role = "worker"
count = 2
hosts = ["b", "c"]

[[actor]]
role = "input_reader"
hosts = ["c"]

[[actor]]
role = "evaluator"
hosts = ["c"]

[job]
net = "lenet"
steps = 150
batch = 8
seed = 1

[data]
name = "digits"

[gradient]
codec = "ternary"
error_feedback = true

[evaluator]
every = 50

[checkpoint]
every_steps = 50
copies = 1
)";

class Copies : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    runs_ = std::make_unique<ClusterRuns>(3);
    if (!runs_->hosts().missing().empty()) return;
    const auto calm = start("calm");
    ASSERT_EQ(calm->exit_code(kPatience), 0) << calm->story();
    hash_ = result("calm")["parameters_sha256"];
    EXPECT_FALSE(result("calm").contains("missed_copies")) << calm->story();
    EXPECT_THAT(copy_of("calm", 150), StartsWith("a:/"));
  }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_->hosts()); }

  static std::unique_ptr<Call> start(const std::string& name,
                                     const std::vector<std::string>& settings = {}) {
    const std::string file = runs_->file(
        {"copies", {"a", "b", "c"}, "", "root", "silence = \"2s\"\n"}, small_unless_in_full(kJob));
    std::vector<std::string> command = {"run", file, "--run-dir", folder(name)};
    for (const std::string& setting : settings) command.insert(command.end(), {"--set", setting});
    return runs_->sterna(command);
  }
  static std::string folder(const std::string& name) {
    return runs_->hosts().launcher_folder() + "/" + name;
  }
  static std::string checkpoint(const std::string& name, int step) {
    return fmt::format("{}/checkpoints/step-{:09}", folder(name), step);
  }
  static nlohmann::json json_in(const std::string& path) {
    const auto got = nlohmann::json::parse(content_of(path), nullptr, false);
    return got.is_object() ? got : nlohmann::json::object();
  }
  static nlohmann::json result(const std::string& name) {
    return json_in(folder(name) + "/result.json");
  }
  /// "HOST:FOLDER", or nothing.
  static std::string copy_of(const std::string& name, int step) {
    return json_in(checkpoint(name, step) + "/manifest.json").value("copy", "");
  }
  /// A run that was stopped behind step 50, of which there is a copy.
  static void stop_half_way(const std::string& name) {
    const auto call = start(name);
    ASSERT_TRUE(eventually(kPatience, [&] {
      return !copy_of(name, 50).empty() || call->exit_code(Duration::zero());
    })) << call->story();
    call->interrupt();
    ASSERT_EQ(call->exit_code(kPatience), 130) << call->story();
    ASSERT_THAT(copy_of(name, 50), StartsWith("a:/"));
    fs::remove_all(checkpoint(name, 100));  // should it have been as fast as that
  }

  static inline std::unique_ptr<ClusterRuns> runs_;
  static inline std::string hash_;
};

TEST_F(Copies, APartThatIsDamagedAndOneThatIsGoneAreTakenFromThem) {
  stop_half_way("damaged");
  if (HasFatalFailure()) return;
  const std::string part = checkpoint("damaged", 50) + "/server0.safetensors";
  const auto size = static_cast<std::streamoff>(fs::file_size(part));
  std::fstream(part, std::ios::in | std::ios::out | std::ios::binary).seekp(size - 9) << "damage";
  fs::remove(checkpoint("damaged", 50) + "/worker1.safetensors");
  const auto call = start("damaged", {"checkpoint.resume=true"});
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  const std::string said = call->out() + call->err();
  EXPECT_THAT(said, HasSubstr("server0.safetensors: its bytes are not those that were written; it "
                              "is replaced by its copy on a"));
  EXPECT_THAT(said, HasSubstr("worker1.safetensors: this part of the checkpoint is missing; it is "
                              "replaced by its copy on a"));
  EXPECT_THAT(said, HasSubstr("going on from step 50"));
  EXPECT_EQ(result("damaged")["parameters_sha256"], hash_);
}

TEST_F(Copies, OfTheNewestThatCannotBeMendedTheOneBeforeIs) {
  const auto calm = start("before", {"checkpoint.keep=3"});
  ASSERT_EQ(calm->exit_code(kPatience), 0) << calm->story();
  ASSERT_THAT(copy_of("before", 100), StartsWith("a:/"));
  ASSERT_THAT(copy_of("before", 150), StartsWith("a:/"));
  for (const int step : {100, 150}) {
    fs::remove(checkpoint("before", step) + "/server0.safetensors");
  }
  const std::string copy = copy_of("before", 150).substr(2);
  ASSERT_TRUE(runs_->hosts().ssh("a", "rm " + copy + "/server0.safetensors").ok());
  const auto call = start("before", {"checkpoint.resume=true"});
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  const std::string said = call->out() + call->err();
  EXPECT_THAT(said, HasSubstr("could not be had"));
  EXPECT_THAT(said, HasSubstr("it is replaced by its copy on a"));
  EXPECT_THAT(said, HasSubstr("going on from step 100"));
  EXPECT_EQ(result("before")["parameters_sha256"], hash_);
}

TEST_F(Copies, WhereTheHeadsDiskIsLostTheCopyIsGoneOnFrom) {
  stop_half_way("gone");
  if (HasFatalFailure()) return;
  const std::string copy = copy_of("gone", 50).substr(2);
  fs::remove_all(folder("gone"));
  const Said packed = runs_->hosts().ssh("a", "cd " + copy + "/.. && tar c . | base64");
  ASSERT_TRUE(packed.ok()) << packed.story();
  const std::string here = folder("fetched");
  fs::create_directories(here);
  std::ofstream(here + "/packed") << packed.out;
  const std::string unpack = fmt::format("base64 -d '{0}/packed' | tar x -C '{0}'", here);
  ASSERT_EQ(std::system(unpack.c_str()), 0);
  EXPECT_THAT(content_of(here + "/resolved.toml"), HasSubstr("copies = 1"));
  const auto call = start("again", {"checkpoint.resume=" + here});
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  EXPECT_EQ(result("again")["parameters_sha256"], hash_);
}

TEST_F(Copies, APartThatIsGoneWhenARunStartsAgainByItselfIsTakenFromThem) {
  const auto call = start("restarted");
  const std::optional<RunProcess> server = runs_->wait_for("server1", kPatience);
  ASSERT_TRUE(server) << call->story();
  ASSERT_TRUE(eventually(kPatience, [&] {
    return !copy_of("restarted", 50).empty() || call->exit_code(Duration::zero());
  })) << call->story();
  fs::remove(checkpoint("restarted", 50) + "/server1.safetensors");
  runs_->kill(*server);
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  EXPECT_THAT(call->out() + call->err(),
              HasSubstr("server1.safetensors: this part of the checkpoint is missing; it is "
                        "replaced by its copy on a"));
  const nlohmann::json got = result("restarted");
  ASSERT_EQ(got["restarts"].size(), 1U) << call->story();
  EXPECT_EQ(got["restarts"][0]["step"], 50);
  EXPECT_EQ(got["parameters_sha256"], hash_);
}

TEST_F(Copies, WhenTheHostThatHasThemIsLostTheNextAreOnAnother) {
  const auto call = start("lost");
  ASSERT_TRUE(eventually(kPatience, [&] {
    return !copy_of("lost", 50).empty() || call->exit_code(Duration::zero());
  })) << call->story();
  runs_->hosts().kill("a");
  EXPECT_EQ(call->exit_code(kPatience), 0) << call->story();
  runs_->hosts().revive("a");
  EXPECT_EQ(result("lost")["parameters_sha256"], hash_);
  EXPECT_GE(result("lost")["restarts"].size(), 1U) << result("lost")["restarts"] << call->story();
  EXPECT_THAT(copy_of("lost", 150), StartsWith("b:/"));
}

}  // namespace
}  // namespace sterna::test
