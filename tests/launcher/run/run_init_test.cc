// Which weights a run may begin with: its logits name the classes of its own data.
#include "launcher/run/run_init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "actors/weights/model_note.h"
#include "input/digits/digits.h"
#include "input/formats/labels.h"
#include "launcher/run/job_plan.h"
#include "nets/describe_net.h"
#include "nets/weights/weights_file.h"
#include "tests/launcher/run/small_job_file.h"
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

}  // namespace
}  // namespace sterna::launcher
