// What the tests of `sterna run` start from: a folder of their own with a small job in it, drawn
// digits, and the promise that no test leaves a process or a socket behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/actors/thirty_steps.h"
#include "tests/end_to_end/sterna_program.h"
#include "tests/temporary_folder.h"

namespace sterna::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// For what is only ever reached by a defect: a sanitizer's run on a loaded machine is slow.
inline constexpr Duration kPatience = seconds(60);

using Arguments = std::vector<std::string>;

/// {"--set", "KEY=VALUE", ...}
inline Arguments with(const std::vector<std::string>& settings) {
  Arguments arguments;
  for (const std::string& setting : settings) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  return arguments;
}

/// A setting: each of the first `ranks` ranks begins its steps so much later that a run lasts for a
/// while on the fastest machine, too, and leaves the processors to others meanwhile.
inline std::string unhurried(int ranks = 1) {
  std::string numbers;
  for (int rank = 0; rank < ranks; ++rank) {
    numbers += (rank == 0 ? "" : ", ") + std::to_string(rank);
  }
  return "inject.delay=[{ranks = [" + numbers + "], delay = \"20ms\"}]";
}

class RunTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    drawn_ = std::make_unique<TemporaryFolder>();
    SternaProgram draw(drawn_->path(), {"data", "make", "digits", "--out", "digits", "--train",
                                        std::to_string(kFewDigits.train), "--test",
                                        std::to_string(kFewDigits.test)});
    ASSERT_EQ(draw.exit_code(kPatience), 0) << draw.story();
  }
  static void TearDownTestSuite() { drawn_.reset(); }

  /// What "job.toml" holds.
  virtual std::string job() const { return kThirtySteps; }
  void SetUp() override { write("job.toml", job()); }
  void TearDown() override {
    for (const auto& program : programs_) {
      EXPECT_TRUE(eventually(seconds(5), [&] { return program->processes().empty(); }))
          << program->story();
      if (HasFailure()) std::printf("%s", program->story().c_str());
    }
    EXPECT_TRUE(may_leave_socket_folders_ ||
                eventually(seconds(5), [&] { return socket_folders() == 0; }));
  }

  /// For who kills the launcher before anybody else knows of the folder.
  void may_leave_socket_folders() { may_leave_socket_folders_ = true; }

  /// sterna ARGUMENTS, in the test's folder.
  SternaProgram& sterna(Arguments arguments, const Environment& variables = {},
                        std::optional<int> output = {}) {
    programs_.push_back(
        std::make_unique<SternaProgram>(folder(), std::move(arguments), variables, output));
    return *programs_.back();
  }
  /// sterna run job.toml --data DIGITS MORE
  SternaProgram& run(const Arguments& more) {
    Arguments arguments = {"run", "job.toml", "--data", digits()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sterna(arguments);
  }
  /// The same, into the run directory "run", longer than any test.
  SternaProgram& run_for_ever(const Arguments& more = {}) {
    Arguments arguments = {"--run-dir", "run", "--set", "job.steps=1000000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// Waits until a run has trained its first step.
  bool trains(SternaProgram& program, const std::string& run_directory = "run") {
    const std::string metrics = path(run_directory + "/metrics.jsonl");
    const bool trained = eventually(kPatience, [&] {
      return content_of(metrics).find("\"step\"") != std::string::npos ||
             program.exit_code(Duration::zero()).has_value();
    });
    return trained && !program.exit_code(Duration::zero());
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }
  const std::string& folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return folder() + "/" + name; }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  static std::string digits() { return drawn_->path() + "/digits"; }
  nlohmann::json result(const std::string& run_directory = "run") const {
    return nlohmann::json::parse(content_of(path(run_directory + "/result.json")), nullptr, false);
  }

 private:
  std::ptrdiff_t socket_folders() const {
    std::error_code ignored;  // none was made
    const std::filesystem::directory_iterator folders(path("tmp"), ignored);
    return std::distance(begin(folders), end(folders));
  }

  static inline std::unique_ptr<TemporaryFolder> drawn_;
  TemporaryFolder folder_;
  bool may_leave_socket_folders_ = false;
  std::vector<std::unique_ptr<SternaProgram>> programs_;
};

}  // namespace sterna::test
