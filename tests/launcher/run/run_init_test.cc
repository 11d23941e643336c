// Which weights a run may begin with: its logits name the classes of its own data.
#include "launcher/run/run_init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "actors/weights/model_note.h"
#include "input/digits/digits.h"
#include "input/formats/labels.h"
#include "launcher/job/job_plan.h"
#include "nets/describe_net.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/weights/kept_state.h"
#include "tests/launcher/small_job_file.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RunInit : public testing::Test {
 protected:
  RunInit() : data_{folder_.path(), "digits"} {
    EXPECT_TRUE(input::make_digits(folder_.path(), {.seed = 3, .train = 4, .test = 2}).ok());
    name_classes({"zero", "one"});
    const ClusterFile file = small_job_file();
    const actors::JobConfig job = job_of(file, data_).value();
    const auto table = nets::describe_net(actors::net_options(job)).value().parameters;
    std::vector<std::vector<float>> zeros;
    for (const nets::ParameterSpec& spec : table) zeros.emplace_back(spec.count());
    const std::vector<std::span<const float>> values(zeros.begin(), zeros.end());
    const auto note = note_of_job(job, data_).value();
    EXPECT_TRUE(nets::write_safetensors(weights_, table, values, to_metadata(note)).ok());
  }
  void name_classes(const std::vector<std::string>& names) const {
    EXPECT_TRUE(input::write_labels(folder_ / "labels.txt", {names, 0}).ok());
  }
  Result<std::vector<std::string>> look(std::vector<std::string> settings = {}) const {
    settings.push_back("init.from=" + weights_);
    return look_at_init(small_job_file(settings), data_);
  }

  TemporaryFolder folder_;
  const input::DataLocation data_;
  const std::string weights_ = folder_ / "before.safetensors";
};

TEST_F(RunInit, TakesTheLogitsOfTheSameClasses) {
  const auto taken = look();
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_THAT(taken->front(), StartsWith("init.from: 4 tensors"));
}

TEST_F(RunInit, TakesNoLogitsOfOtherClassesAndSaysHowToTakeTheRest) {
  name_classes({"zero", "uno"});
  const auto refused = look();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_THAT(refused.error().message, StartsWith("init.from: class 1 is \"one\" in " + weights_ +
                                                  " and \"uno\" in " + folder_.path() + "; "));
  EXPECT_THAT(refused.error().message, HasSubstr("init.skip = [\"logits\"]"));
  EXPECT_TRUE(look({"init.skip=[\"logits\"]"}).ok());
}

/// What of a file the run would begin with, and what is said of it.
class ChosenInit : public RunInit {
 protected:
  std::string chosen() {
    std::FILE* said = std::tmpfile();
    const ClusterFile file =
        with_absolute_init(small_job_file({"init.from=" + run_}), Console{said, said});
    EXPECT_EQ(std::fseek(said, 0, SEEK_SET), 0);
    std::array<char, 1000> text{};
    said_.assign(text.data(), std::fread(text.data(), 1, text.size(), said));
    EXPECT_EQ(std::fclose(said), 0);
    return file.init.from;
  }
  void keep(std::uint64_t step) const {
    actors::keep_state(run_, step, {actors::piece_of(actors::kParameterState, "x", 0, {1, 2})});
  }

  const std::string run_ = folder_ / "run";
  std::string said_;
};

TEST_F(ChosenInit, IsTheFileOrTheCheckpointThatARunsDirectoryMeansNow) {
  std::filesystem::create_directory(run_);
  std::filesystem::copy_file(weights_, run_ + "/weights.safetensors");
  EXPECT_EQ(chosen(), run_ + "/weights.safetensors");
  keep(3);
  EXPECT_EQ(chosen(), run_ + "/checkpoints/step-000000003");
  EXPECT_EQ(said_, "");
}

TEST_F(ChosenInit, SaysWhichDamagedCheckpointIsPassedOver) {
  keep(3);
  keep(4);
  std::filesystem::resize_file(run_ + "/checkpoints/step-000000004/server0.safetensors", 5);
  const std::string older = run_ + "/checkpoints/step-000000003";
  EXPECT_EQ(chosen(), older);
  EXPECT_THAT(said_, StartsWith("init.from: passed over: "));
  EXPECT_THAT(said_, HasSubstr("; " + older + " is taken instead\n"));
}

TEST_F(ChosenInit, StaysWhatItIsWhereItsFolderHasNoWeights) {
  std::filesystem::create_directory(run_);
  EXPECT_EQ(chosen(), run_);
  const auto refused = look_at_init(small_job_file({"init.from=" + run_}), data_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, StartsWith("init.from: " + run_ + " has no "));
}

}  // namespace
}  // namespace sterna::launcher
