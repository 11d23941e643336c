// A job whose servers keep moving averages of the parameters: what the evaluator and the weights
// file then hold, and that the training does not notice.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

class JobAverages : public SimulatedJob {
 protected:
  JobAverages() {
    job.steps = 13;
    job.evaluation.every = 5;
    job.gradient.scaler = ScalerRule::shared;
    job.gradient.check_every = 4;
    job.optimizer.average_decay = 0.7;  // below what the first steps have from the seventh on
    weights = job.data.dir + "/final.safetensors";
  }

  /// What it ends in: the hash, the losses on the way, and the bytes of the weights file.
  struct End {
    std::string hash;
    std::vector<double> losses;
    std::string file;
    bool operator==(const End&) const = default;
  };
  End train(const JobLayout& layout) {
    record = {};
    End end{hash_of(layout), {}, {}};
    for (const Evaluated& one : record.evaluated) end.losses.push_back(one.loss);
    std::ifstream file(weights, std::ios::binary);
    end.file.assign(std::istreambuf_iterator<char>(file), {});
    return end;
  }
};

TEST_F(JobAverages, AreThoseOfThePlainLoopAndTheHashIsThatOfTheParameters) {
  const End end = train({.servers = 2, .workers = 2});
  std::vector<std::vector<float>> averages;
  EXPECT_EQ(end.hash, sequential_oracle(job, &averages));
  EXPECT_EQ(end.losses.size(), 3U);
  const auto written = nets::read_safetensors(weights);
  ASSERT_TRUE(written.ok());
  ASSERT_EQ(written->tensors.size(), averages.size());
  for (std::size_t t = 0; t < averages.size(); ++t) {
    const auto& values = written->tensors[t].values;
    ASSERT_EQ(values.size(), averages[t].size());
    EXPECT_EQ(std::memcmp(values.data(), averages[t].data(), values.size() * sizeof(float)), 0);
  }
  job.optimizer.average_decay = 0;
  const End plain = train({.servers = 2, .workers = 2});
  EXPECT_EQ(plain.hash, end.hash);
  EXPECT_NE(plain.losses, end.losses);
  EXPECT_NE(plain.file, end.file);
}

// Averages that go down leave the servers sums of several steps to settle at once.
TEST_F(JobAverages, HaveTheSameBitsInEveryShapeAndWhateverTravelsDown) {
  const End end = train({.workers = 2});
  EXPECT_EQ(train({.servers = 3, .workers = 1, .ranks_per_worker = 2}), end);
  job.gradient.down = Down::average;
  EXPECT_EQ(train({.servers = 3, .workers = 2}), end);
  network.set_delay([this](const std::string&, const std::string&) {
    return Duration(static_cast<std::int64_t>(random.below(20000000)));
  });
  EXPECT_EQ(train({.servers = 2, .readers = 2, .workers = 1, .ranks_per_worker = 2}), end);
  network.set_delay(nullptr);
  job.gradient.min_size = 100;  // some come back as fp32
  const End some = train({.workers = 2});
  EXPECT_EQ(train({.servers = 3, .workers = 2}), some);
  for (const Down down : {Down::ternary, Down::parameters_bf16}) {
    job.gradient.down = down;
    const End other = train({.workers = 2});
    EXPECT_NE(other.hash, end.hash);
    EXPECT_EQ(train({.servers = 3, .workers = 1, .ranks_per_worker = 2}), other);
  }
}

}  // namespace
}  // namespace sterna::actors
