// The shipped cluster file learns, in a few hundred of its steps: on the real MNIST, or on drawn
// digits where that is not.
#include <cstdlib>

#include "input/place/data_source.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

/// With ternary gradients LeNet is at about 0.95 after these; a net that only guesses is at 0.1.
constexpr double kLearned = 0.93;

class RunLearns : public RunTest {
 protected:
  double precision_after_300_steps(const std::string& data) {
    const std::string file =
        std::string(std::getenv("STERNA_SOURCE")) + "/configs/lenet_mnist.toml";
    Arguments arguments = {"run", file, "--data", data, "--run-dir", "run"};
    const Arguments shorter = with({"job.steps=300", "evaluator.every=150"});
    arguments.insert(arguments.end(), shorter.begin(), shorter.end());
    SternaProgram& program = sterna(arguments);
    EXPECT_EQ(program.exit_code(3 * kPatience), 0) << program.story();
    return result()["precision_at_1"].get<double>();
  }
  /// The folder of the real MNIST, if this machine has one.
  static std::optional<std::string> real_mnist() {
    const auto environment = [](const char* name) -> std::optional<std::string> {
      const char* value = std::getenv(name);
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    input::DataQuery query;
    query.name = "mnist";
    query.env = input::data_directory(environment);
    query.cache = input::cache_directory(environment);
    Result<input::DataLocation> mnist = input::find_data(query);
    if (!mnist) {
      query.env = std::string(std::getenv("STERNA_SOURCE")) + "/../shared/data";
      mnist = input::find_data(query);
    }
    if (!mnist) return std::nullopt;
    return mnist->dir.string();
  }
};

TEST_F(RunLearns, FromDrawnDigits) {
  if (real_mnist()) GTEST_SKIP() << "it learns from the real MNIST here";
  SternaProgram& draw =
      sterna({"data", "make", "digits", "--out", "many", "--train", "20000", "--test", "2000"});
  ASSERT_EQ(draw.exit_code(kPatience), 0) << draw.story();
  EXPECT_GE(precision_after_300_steps(path("many")), kLearned);
}

TEST_F(RunLearns, FromRealMnist) {
  const auto mnist = real_mnist();
  if (!mnist) GTEST_SKIP() << "the real MNIST is not on this machine";
  EXPECT_GE(precision_after_300_steps(*mnist), kLearned);
}

}  // namespace
}  // namespace sterna::test
