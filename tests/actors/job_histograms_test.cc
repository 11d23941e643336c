// What a job tells of how its numbers are distributed, for who looks on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "nets/net.h"
#include "runtime/base/hex.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class JobHistograms : public SimulatedJob {
 protected:
  JobHistograms() {
    job.steps = 9;
    job.summary = {.tensorboard = true, .every = 4};
  }

  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> all;
    for (const Watched& one : record.histograms) all.push_back(one.step);
    return all;
  }
  /// Of a step, by tensor.
  std::map<std::string, TensorHistogram> of(std::uint64_t step, HistogramOf what) const {
    std::map<std::string, TensorHistogram> all;
    for (const Watched& told : record.histograms) {
      for (const TensorHistogram& one : told.histograms) {
        if (told.step == step && one.of == what) all[one.tensor] = one;
      }
    }
    return all;
  }
};

std::uint64_t total(const TensorHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
}

/// Without what depends on the order in which packets leave.
std::vector<TensorHistogram> counts_of(Watched told) {
  for (TensorHistogram& one : told.histograms) one.sum = one.sum_of_squares = 0;
  return told.histograms;
}

TEST_F(JobHistograms, ComeOfRankZeroEverySoManyStepsAndChangeNothing) {
  job.summary.tensorboard = false;
  const std::string unseen = hash_of({.servers = 2, .workers = 2});
  EXPECT_THAT(steps(), SizeIs(0));
  job.summary.tensorboard = true;
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), unseen);
  EXPECT_THAT(steps(), ElementsAre(0, 4, 8));
  const Watched last = record.histograms.back();
  EXPECT_EQ(last.worker, "worker0");
  EXPECT_EQ(last.lost, 0U);

  // One rank's numbers are the same wherever its turns are.
  record = {};
  EXPECT_EQ(hash_of({.workers = 1, .ranks_per_worker = 2}), unseen);
  ASSERT_THAT(steps(), ElementsAre(0, 4, 8));
  EXPECT_TRUE(counts_of(record.histograms.back()) == counts_of(last));
}

TEST_F(JobHistograms, HaveEveryElementOfEachTensor) {
  hash_of({});
  const nets::NetOptions options = net_options(job);
  const auto net = nets::make_net(options);
  ASSERT_TRUE(net.ok());
  for (const HistogramOf what : {HistogramOf::WEIGHTS, HistogramOf::GRADIENTS, HistogramOf::SENT}) {
    const auto all = of(4, what);
    EXPECT_THAT(all, SizeIs((*net)->parameters().size()));
    for (const nets::ParameterSpec& spec : (*net)->parameters()) {
      ASSERT_TRUE(all.contains(spec.name)) << spec.name;
      EXPECT_EQ(all.at(spec.name).elements, spec.count());
      EXPECT_EQ(total(all.at(spec.name)), spec.count());
    }
  }
  const auto activations = of(4, HistogramOf::ACTIVATIONS);
  ASSERT_FALSE(activations.empty());
  for (const auto& [layer, one] : activations) {
    EXPECT_EQ(one.elements % job.batch, 0U) << layer;
    EXPECT_GT(one.elements, 0U) << layer;
  }
}

TEST_F(JobHistograms, OfWhatWasSentAreTheTritsTimesTheirScaler) {
  job.gradient.codec = "ternary";
  job.gradient.min_size = 1;
  hash_of({});
  for (const auto& [tensor, one] : of(0, HistogramOf::SENT)) {
    EXPECT_LE(one.buckets.size(), 3U) << tensor << ": -s, 0 and s";
    EXPECT_TRUE(one.least == -one.most || one.least == 0 || one.most == 0) << tensor;
  }
  // Without a lossy codec they are the gradients.
  record = {};
  job.gradient.codec = "none";
  hash_of({});
  const auto sent = of(0, HistogramOf::SENT);
  for (const auto& [tensor, one] : of(0, HistogramOf::GRADIENTS)) {
    EXPECT_EQ(sent.at(tensor).buckets, one.buckets) << tensor;
    EXPECT_EQ(sent.at(tensor).counts, one.counts) << tensor;
    EXPECT_EQ(sent.at(tensor).least, one.least) << tensor;
  }
}

TEST_F(JobHistograms, PicturesComeWithThemAsTheNetGotThem) {
  hash_of({});
  for (const Watched& told : record.histograms) {
    ASSERT_THAT(told.pictures, SizeIs(std::min<std::size_t>(kMostWatchedPictures, job.batch)));
    for (const WatchedPicture& one : told.pictures) {
      EXPECT_EQ(one.shape, job.picture);
      EXPECT_LT(one.label, 10);
      EXPECT_LT(one.prediction, 10);
    }
  }
  // The last step's are of another batch than the first's.
  const auto bytes = [&](const Watched& told) { return to_hex(told.pictures[0].pixels.view()); };
  EXPECT_NE(bytes(record.histograms.front()), bytes(record.histograms.back()));
}

TEST_F(JobHistograms, ComeOfRanksThatStepByThemselvesToo) {
  job.scheme.name = "async";
  hash_of({.workers = 2});
  ASSERT_FALSE(record.histograms.empty());
  EXPECT_EQ(steps().front(), 0U);
  for (const std::uint64_t step : steps()) EXPECT_EQ(step % 4, 0U);
}

}  // namespace
}  // namespace sterna::actors
