#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "actors/codecs/codec.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "tests/actors/round_trip.h"

namespace sterna::actors {
namespace {

/// Values of every kind of field, from a seed.
class Values {
 public:
  explicit Values(std::uint64_t seed) : random_(seed) {}
  std::uint64_t u64() { return random_() >> (random_() % 64); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(u64()); }
  double fraction() { return static_cast<double>(below(1000)) / 1000; }
  double real() { return static_cast<double>(u64()) / 3.0; }
  std::string text() {
    std::string text(random_() % 20, ' ');
    for (char& c : text) c = static_cast<char>('a' + random_() % 26);
    return text;
  }
  /// A multiple of `unit`.
  Bytes bytes(std::size_t most, std::size_t unit = 1) {
    const std::size_t size = random_() % (most / unit + 1) * unit;
    const auto buffer = make_buffer(size);
    for (std::byte& b : buffer->bytes()) b = static_cast<std::byte>(random_());
    return share(buffer);
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::vector<std::string> texts() {
    std::vector<std::string> texts(1 + below(4));
    for (std::string& one : texts) one = text();
    return texts;
  }
  Traffic traffic() {
    return {u64(), u64(), u64(), u64(), u64(), u64(), u64(), u64(), u64(), u64(), u64(), u64()};
  }
  std::vector<TensorTotals> tensors() {
    std::vector<TensorTotals> tensors;
    for (std::uint64_t i = below(4); i > 0; --i) {
      tensors.push_back({text(), Codec(below(4)), u64(), u64(), u64(), u64(), u64(), u64(), u64(),
                         u64(), u64(), real(), real(), real()});
    }
    return tensors;
  }
  JobConfig job() {
    JobConfig job;
    job.net = below(2) == 1 ? "lenet" : "mlp";
    for (std::uint64_t layer = below(4); layer > 0; --layer) {
      job.hidden.push_back(1 + static_cast<std::uint32_t>(below(5000)));
    }
    job.first_step = below(1000);
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
    job.optimizer.weight_decay = real();
    job.optimizer.decay_at = DecayAt(below(2));
    job.gradient.codec = codec_names()[below(codec_names().size())];
    job.gradient.clip = real();
    job.gradient.min_size = 1 + u64() / 2;
    job.gradient.logits = below(2) == 1;
    job.gradient.scaler = ScalerRule(below(3));
    job.gradient.check_every = 1 + below(1000);
    for (std::uint64_t i = below(3); i > 0; --i) {
      job.gradient.tensors[text()] = codec_names()[below(codec_names().size())];
    }
    job.gradient.clip_norm = real();
    job.gradient.floating_grad_epoch = u64() / 2;
    job.evaluation = {u64() / 2, 1 + u64() / 2, 1 + static_cast<std::uint32_t>(below(100))};
    job.data = {"mnist", text()};
    job.deadlines.step = Duration(1 + below(1000000));
    return job;
  }

 private:
  std::mt19937_64 random_;
};

bool same(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

constexpr std::uint64_t kSeeds = 50;

TEST(Messages, ArgumentsOfAllFourActorsSurviveTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    ServerArgs server{
        .job = v.job(), .index = 0, .servers = 3, .workers = {}, .evaluator = v.text()};
    for (std::uint32_t r = 0; r < server.job.ranks; ++r) server.workers.push_back({v.text(), r, 1});
    const auto server_again = round_trip(server);
    ASSERT_TRUE(server_again.ok()) << server_again.error().message;
    EXPECT_EQ(*server_again, server);

    const WorkerArgs worker{.job = v.job(),
                            .first_rank = 0,
                            .ranks = 1,
                            .servers = v.texts(),
                            .readers = v.texts(),
                            .observer = v.text()};
    EXPECT_EQ(*round_trip(worker), worker);
    const ReaderArgs reader{v.job(), {{v.text(), 1, 2}}, 0};
    EXPECT_EQ(*round_trip(reader), reader);
    const EvaluatorArgs evaluator{v.job(), v.texts(), v.text(), v.text()};
    EXPECT_EQ(*round_trip(evaluator), evaluator);
  }
}

TEST(Messages, WhatTheObserverHearsSurvivesTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    const Progress progress{v.text(), v.u64(), v.real(), v.u64(), v.real(), v.traffic()};
    EXPECT_EQ(*round_trip(progress), progress);
    const Evaluated evaluated{v.u64(), v.real(), v.real(), v.u64()};
    EXPECT_EQ(*round_trip(evaluated), evaluated);
    const WorkerDone done{v.text(), v.u64(),     v.real(),   v.real(),
                          v.real(), v.traffic(), v.tensors()};
    EXPECT_EQ(*round_trip(done), done);
    const JobFinished finished{v.text(), v.text(), v.u64()};
    EXPECT_EQ(*round_trip(finished), finished);
  }
}

TEST(Messages, PushesAndTheirVerdictsSurviveTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    Push push{v.u32(), v.u64(), v.u32(), v.u64(), v.u64(), v.u32(), PayloadKind(v.below(3)), {}};
    for (std::uint64_t i = v.below(5); i > 0; --i) {
      push.packets.push_back(
          {v.u32(), Codec(v.below(2)), static_cast<float>(v.real()), v.u64(), v.bytes(100000)});
    }
    const auto again = round_trip(push);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->rank, push.rank);
    EXPECT_EQ(again->incarnation, push.incarnation);
    EXPECT_EQ(again->epoch, push.epoch);
    EXPECT_EQ(again->step, push.step);
    EXPECT_EQ(again->base_version, push.base_version);
    EXPECT_EQ(again->examples, push.examples);
    EXPECT_EQ(again->kind, push.kind);
    ASSERT_EQ(again->packets.size(), push.packets.size());
    for (std::size_t i = 0; i < push.packets.size(); ++i) {
      EXPECT_EQ(again->packets[i].chunk, push.packets[i].chunk);
      EXPECT_EQ(again->packets[i].codec, push.packets[i].codec);
      EXPECT_EQ(again->packets[i].scaler, push.packets[i].scaler);
      EXPECT_EQ(again->packets[i].count, push.packets[i].count);
      EXPECT_TRUE(same(again->packets[i].payload, push.packets[i].payload));
    }
    PushReply reply;
    for (std::uint64_t i = v.below(5); i > 0; --i) reply.verdicts.push_back(Verdict(v.below(3)));
    EXPECT_EQ(round_trip(reply)->verdicts, reply.verdicts);
  }
}

TEST(Messages, PullsParametersAndBatchesSurviveTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    Pull pull{v.u64(), {}, PayloadKind(v.below(3)), Codec(v.below(4))};
    Parameters parameters{v.u64(), PayloadKind(v.below(3)), {}, v.u32(), {}};
    for (std::uint64_t i = v.below(5); i > 0; --i) {
      pull.chunks.push_back(v.u32());
      parameters.chunks.push_back(
          {v.u32(), Codec(v.below(4)), v.bytes(100000), static_cast<float>(v.real())});
      parameters.constants.push_back(static_cast<float>(v.real()));
    }
    EXPECT_EQ(round_trip(pull)->kind, pull.kind);
    EXPECT_EQ(round_trip(pull)->codec, pull.codec);
    EXPECT_EQ(round_trip(pull)->chunks, pull.chunks);
    EXPECT_EQ(round_trip(pull)->version, pull.version);
    const auto again = round_trip(parameters);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->version, parameters.version);
    EXPECT_EQ(again->kind, parameters.kind);
    EXPECT_EQ(again->ranks, parameters.ranks);
    EXPECT_EQ(again->constants, parameters.constants);
    ASSERT_EQ(again->chunks.size(), parameters.chunks.size());
    for (std::size_t i = 0; i < parameters.chunks.size(); ++i) {
      EXPECT_EQ(again->chunks[i].chunk, parameters.chunks[i].chunk);
      EXPECT_EQ(again->chunks[i].codec, parameters.chunks[i].codec);
      EXPECT_EQ(again->chunks[i].scaler, parameters.chunks[i].scaler);
      EXPECT_TRUE(same(again->chunks[i].payload, parameters.chunks[i].payload));
    }
    const Release release{v.u64()};
    EXPECT_EQ(round_trip(release)->version, release.version);
    const NextBatch next{v.u64(), v.u32()};
    EXPECT_EQ(round_trip(next)->step, next.step);
    EXPECT_EQ(round_trip(next)->rank, next.rank);
    const Batch batch{
        v.u64(), v.u32(), v.bytes(200000), v.bytes(64, 2), {v.u32(), v.u32()}, {v.u64(), v.u64()}};
    const auto batch_again = round_trip(batch);
    ASSERT_TRUE(batch_again.ok());
    EXPECT_EQ(batch_again->step, batch.step);
    EXPECT_EQ(batch_again->rank, batch.rank);
    EXPECT_TRUE(same(batch_again->images, batch.images));
    EXPECT_TRUE(same(batch_again->labels, batch.labels));
    EXPECT_EQ(batch_again->rows, batch.rows);
    EXPECT_EQ(batch_again->of, batch.of);
  }
}

TEST(Messages, HalfALabelIsMalformed) {
  Values v(0);
  Batch batch{.images = v.bytes(8), .labels = share(make_buffer(3))};
  EXPECT_EQ(round_trip(batch).error().code, Errc::malformed);
}

TEST(Messages, ScalersSurviveTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    Offer offer{v.u32(), v.u64(), v.u32(), v.u64(), {}};
    Agreed agreed;
    for (std::uint64_t i = v.below(5); i > 0; --i) {
      offer.scalers.push_back({v.u32(), static_cast<float>(v.real())});
      agreed.values.push_back(static_cast<float>(v.real()));
    }
    const auto again = round_trip(offer);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->rank, offer.rank);
    EXPECT_EQ(again->incarnation, offer.incarnation);
    EXPECT_EQ(again->epoch, offer.epoch);
    EXPECT_EQ(again->step, offer.step);
    ASSERT_EQ(again->scalers.size(), offer.scalers.size());
    for (std::size_t i = 0; i < offer.scalers.size(); ++i) {
      EXPECT_EQ(again->scalers[i].index, offer.scalers[i].index);
      EXPECT_EQ(again->scalers[i].value, offer.scalers[i].value);
    }
    EXPECT_EQ(round_trip(agreed)->values, agreed.values);
  }
}

TEST(Messages, FingerprintsSurviveTheWire) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Values v(seed);
    Compare compare{v.u64(), {}};
    for (std::uint64_t i = v.below(5); i > 0; --i) {
      Compare::Fingerprint& one = compare.chunks.emplace_back();
      one.chunk = v.u32();
      for (std::byte& b : one.hash) b = static_cast<std::byte>(v.u32());
    }
    const auto again = round_trip(compare);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->version, compare.version);
    ASSERT_EQ(again->chunks.size(), compare.chunks.size());
    for (std::size_t i = 0; i < compare.chunks.size(); ++i) {
      EXPECT_EQ(again->chunks[i].chunk, compare.chunks[i].chunk);
      EXPECT_EQ(again->chunks[i].hash, compare.chunks[i].hash);
    }
  }
}

TEST(Messages, UnknownEnumValuesAreRefused) {
  Push push;
  push.kind = PayloadKind(7);
  EXPECT_FALSE(round_trip(push).ok());
  push.kind = PayloadKind::GRADIENT;
  push.packets.push_back({.chunk = 0, .codec = Codec(9), .scaler = 1, .count = 1, .payload = {}});
  EXPECT_FALSE(round_trip(push).ok());
  EXPECT_FALSE(round_trip(PushReply{{Verdict(3)}}).ok());
  EXPECT_FALSE(round_trip(Parameters{.kind = PayloadKind(3), .chunks = {}, .constants = {}}).ok());
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
