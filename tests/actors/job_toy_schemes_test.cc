// Each scheme on the toy problem, c = a + b, which is to become 100: where its arithmetic ends,
// written down beside it. Two workers in turns: both pull version 0; then a turn is a window, a
// push and a pull.
#include <gtest/gtest.h>

#include <cmath>

#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class JobToySchemesTest : public SimulatedJob {
 protected:
  JobToySchemesTest() {
    job.net = "toy_ab";
    job.hidden.clear();
    job.batch = 1;
    job.data = {"synthetic", ""};
    job.data.classes = 2;
    job.data.size = job.data.channels = 1;
    job.picture = {1, 1, 1};
    job.classes = 2;
    job.optimizer.weight_decay = 0;
    job.optimizer.schedule = "fixed";
    job.gradient.codec = "none";
    job.gradient.min_size = 1;
    job.evaluation.every = 0;
    job.steps = 12;
    weights = std::string(::testing::TempDir()) + "/sterna-toy-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors";
  }
  ~JobToySchemesTest() override { std::filesystem::remove(weights); }

  void scheme(const char* name, std::uint64_t window = 1) {
    job.scheme = {};
    job.scheme.name = name;
    job.scheme.window = window;
  }
  void server(const char* name, double rate) {
    job.optimizer.name = name;
    job.optimizer.learning_rate = rate;
  }
  void local(const char* name, double rate) {
    job.local_optimizer.name = name;
    job.local_optimizer.learning_rate = rate;
  }
  /// A way to the server takes ten milliseconds, worker1's first one half a turn more.
  void in_turns() {
    network.set_delay(
        [this, began = loop.now()](const std::string& from, const std::string& to) -> Duration {
          if (from != "server0" && to != "server0") return Duration::zero();
          const bool later = from == "worker1" && loop.now() < began + milliseconds(12);
          return milliseconds(later ? 15 : 10);
        });
  }
  /// The same where a turn is a pull and a push: batches take three seconds, worker1's first ones
  /// five.
  void in_slow_turns() {
    network.set_delay(
        [this, began = loop.now()](const std::string& from, const std::string& to) -> Duration {
          if (from == "server0" || to == "server0") return milliseconds(10);
          if (from != "reader0") return Duration::zero();
          const bool later = to == "worker1" && loop.now() < began + seconds(1);
          return seconds(later ? 5 : 3);
        });
  }
  /// Of the last version, of two workers.
  double c() {
    if (job.facts().elastic) {
      in_slow_turns();
    } else {
      in_turns();
    }
    hash_of({.workers = 2});
    const auto file = nets::read_safetensors(weights);
    if (!file.ok()) return std::nan("");
    return double{file->tensors[0].values[0]} + double{file->tensors[1].values[0]};
  }
  /// With fp32 and with trits, which are exact where all gradients of a tensor are one number.
  void expect_c(double expected) {
    EXPECT_NEAR(c() / expected, 1, 1e-6);
    job.gradient.codec = "ternary";
    job.gradient.clip = 0;
    EXPECT_NEAR(c() / expected, 1, 1e-6);
    job.gradient.codec = "none";
  }
};

TEST_F(JobToySchemesTest, SynchronousStepsTakeTheMeanOrTheSum) {
  server("gd", 1e-4);
  job.steps = 10;
  expect_c(0.199820096);
  server("gd", 1);
  job.scheme.combine = CombineRule::sum;
  job.scheme.rank_rates = {0.1, 1e-4};
  expect_c(89.2893951);
}

// All elements of a tensor are alike, so that what they are clipped at is next to nothing.
TEST_F(JobToySchemesTest, UnderAClipThatCountsDeviationsLittleMoves) {
  server("gd", 1e-4);
  job.steps = 10;
  job.gradient.codec = "ternary";
  job.gradient.clip = 2.5;
  EXPECT_LT(c(), 0.199820096 / 100);
}

TEST_F(JobToySchemesTest, AsynchronousStepsMayCountByStaleness) {
  scheme("async");
  server("gd", 0.05);
  expect_c(75.7953000);
  job.scheme.staleness_weight = StalenessWeight::inverse;
  expect_c(50.5890734);
}

TEST_F(JobToySchemesTest, DownpourPushesSums) {
  scheme("downpour", 3);
  local("gd", 0.02);
  server("gd", 0.02);
  expect_c(81.5096753);
  server("adagrad", 0.7);
  expect_c(7.73624312);
  local("adagrad", 0.3);
  expect_c(7.74347849);
}

TEST_F(JobToySchemesTest, AgnPushesMeans) {
  scheme("agn", 3);
  local("gd", 0.02);
  server("gd", 0.05);
  expect_c(74.1268822);
  local("adam", 0.2);
  server("adam", 0.4);
  expect_c(9.56555856);
}

TEST_F(JobToySchemesTest, SagnWaitsForAll) {
  scheme("sagn", 5);
  job.steps = 10;
  local("adam", 0.2);
  server("adam", 0.4);
  expect_c(7.97785402);
  job.scheme.rank_rates = {2, 1};
  local("gd", 0.01);
  server("gd", 0.1);
  expect_c(87.5989454);
}

TEST_F(JobToySchemesTest, LocalSgdAddsTheMeanDifference) {
  scheme("local_sgd", 4);
  job.steps = 5;
  job.scheme.rank_rates = {2, 1};
  local("gd", 0.01);
  expect_c(45.4469560);
}

TEST_F(JobToySchemesTest, ElasticRanksAreDrawnTogether) {
  scheme("aeasgd", 4);
  job.scheme.moving_rate = 0.3;
  local("gd", 0.01);
  EXPECT_NEAR(c() / 25.8978199, 1, 1e-6);
  job.scheme.name = "aeamsgd";
  EXPECT_NEAR(c() / 97.0654328, 1, 1e-6);
}

TEST_F(JobToySchemesTest, ElasticRanksSendTritsToo) {
  job.gradient.codec = "ternary";
  job.gradient.clip = 0;
  scheme("aeasgd", 4);
  job.scheme.moving_rate = 0.3;
  local("gd", 0.01);
  EXPECT_NEAR(c() / 25.8978199, 1, 1e-6);
  job.scheme.name = "aeamsgd";
  EXPECT_NEAR(c() / 97.0654328, 1, 1e-6);
}

}  // namespace
}  // namespace sterna::actors
