#include <gtest/gtest.h>

#include <random>

#include "actors/codecs/codec.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "tests/actors/round_trip.h"

namespace sterna::actors {
namespace {

/// A job with something in every key, from a seed.
class Values {
 public:
  explicit Values(std::uint64_t seed) : random_(seed) {}
  std::uint64_t u64() { return random_() >> (random_() % 64); }
  double fraction() { return static_cast<double>(below(1000)) / 1000; }
  double real() { return static_cast<double>(u64()) / 3.0; }
  std::string text() {
    std::string text(random_() % 20, ' ');
    for (char& c : text) c = static_cast<char>('a' + random_() % 26);
    return text;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::vector<std::string> texts() {
    std::vector<std::string> texts(1 + below(4));
    for (std::string& one : texts) one = text();
    return texts;
  }
  JobConfig job() {
    JobConfig job;
    job.net = below(2) == 1 ? "lenet" : "mlp";
    for (std::uint64_t layer = below(4); layer > 0; --layer) {
      job.hidden.push_back(1 + static_cast<std::uint32_t>(below(5000)));
    }
    job.first_step = below(1000);
    job.first_position = below(1000000);
    job.resumes = below(2) == 1;
    job.steps = job.first_step + 1 + below(1000000);
    job.batch = 1 + static_cast<std::uint32_t>(below(1000));
    job.seed = u64() / 2;
    job.ranks = 1 + static_cast<std::uint32_t>(below(64));
    job.examples = 1 + below(1000);
    job.threads = 1 + static_cast<std::uint32_t>(below(8));
    job.cpu_isa = "avx2";
    job.optimizer.name = "adam";
    job.optimizer.learning_rate = 1e-30 + real();
    job.optimizer.numbers["momentum"] = fraction();
    job.optimizer.numbers["epsilon"] = 1e-8 + real();
    job.optimizer.warm_up = below(1000);
    job.optimizer.scale_by_ranks = below(2) == 1;
    job.optimizer.average_decay = fraction();
    job.optimizer.weight_decay = real();
    job.optimizer.decay_at = DecayAt(below(2));
    job.gradient.codec = codec_names()[below(codec_names().size())];
    job.gradient.error_feedback = true;  // which some codecs need
    job.gradient.clip = real();
    job.gradient.min_size = 1 + u64() / 2;
    job.gradient.logits = below(2) == 1;
    job.gradient.scaler = ScalerRule(below(4));
    job.gradient.check_every = 1 + below(1000);
    for (std::uint64_t i = below(3); i > 0; --i) {
      job.gradient.tensors[text()] = codec_names()[below(codec_names().size())];
    }
    job.gradient.clip_norm = real();
    job.gradient.floating_grad_epoch = u64() / 2;
    job.evaluation = {u64() / 2, 1 + u64() / 2, 1 + static_cast<std::uint32_t>(below(100))};
    job.evaluation.every_seconds = fraction();
    job.evaluation.behind = Behind(below(2));
    job.evaluation.of = EvaluatedOf(below(2));
    job.evaluation.subsets = {"train", "test"};
    job.evaluation.train_examples = 1 + u64() / 2;
    job.data = {"mnist", text()};
    job.deadlines.step = std::chrono::milliseconds(1) + Duration(below(1000000));
    return job;
  }

 private:
  std::mt19937_64 random_;
};

constexpr std::uint64_t kSeeds = 50;

TEST(Messages, ArgumentsOfAllFourActorsSurviveTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    ServerArgs server{.job = v.job(),
                      .index = 0,
                      .servers = 3,
                      .workers = {},
                      .evaluator = v.text(),
                      .keeper = "k" + v.text(),
                      .observer = v.text()};
    for (std::uint32_t r = 0; r < server.job.ranks; ++r) server.workers.push_back({v.text(), r, 1});
    const auto server_again = round_trip(server);
    ASSERT_TRUE(server_again.ok()) << server_again.error().message;
    EXPECT_EQ(*server_again, server);

    const WorkerArgs worker{.job = v.job(),
                            .first_rank = 0,
                            .ranks = 1,
                            .servers = v.texts(),
                            .readers = v.texts(),
                            .observer = v.text(),
                            .keeper = "k" + v.text(),
                            .backend = v.below(2) == 1 ? "cuda" : "cpu"};
    EXPECT_EQ(*round_trip(worker), worker);
    const ReaderArgs reader{v.job(), {{v.text(), 1, 2}}, 0, v.text()};
    EXPECT_EQ(*round_trip(reader), reader);
    const EvaluatorArgs evaluator{.job = v.job(),
                                  .servers = v.texts(),
                                  .observer = v.text(),
                                  .weights = v.text(),
                                  .backend = v.below(2) == 1 ? "cuda" : "cpu"};
    EXPECT_EQ(*round_trip(evaluator), evaluator);
  }
}

TEST(Messages, HalfALabelIsMalformed) {
  const Batch batch{.pixels = {}, .levels = {}, .labels = share(make_buffer(3))};
  EXPECT_EQ(round_trip(batch).error().code, Errc::malformed);
}

TEST(Messages, EachShardHasItsReader) {
  JobConfig job = Values(1).job();
  job.shards = 2;
  const ReaderArgs reader{job, {}, 1};
  EXPECT_EQ(*round_trip(reader), reader);
  EXPECT_FALSE(round_trip(ReaderArgs{job, {}, 2}).ok());
  WorkerArgs worker{.job = job, .servers = {"server0"}, .readers = {"reader0", "reader1"}};
  EXPECT_EQ(*round_trip(worker), worker);
  worker.readers.pop_back();
  EXPECT_FALSE(round_trip(worker).ok());
  job.shards = kMostShards + 1;
  EXPECT_FALSE(round_trip(ReaderArgs{job, {}, 0}).ok());
}

TEST(Messages, ServersKnowAWorkerForEachRankAndOnlyOne) {
  ServerArgs args;
  args.job = Values(1).job();
  args.job.ranks = 2;
  args.workers = {{"a", 0, 1}};
  EXPECT_FALSE(round_trip(args).ok());
  args.workers = {{"a", 0, 2}, {"b", 1, 1}};
  EXPECT_FALSE(round_trip(args).ok());
  args.workers = {{"a", 0, 1}, {"b", 1, 1}};
  EXPECT_TRUE(round_trip(args).ok());
}

}  // namespace
}  // namespace sterna::actors
