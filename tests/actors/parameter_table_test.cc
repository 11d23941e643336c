#include "actors/parameters/parameter_table.h"
#include "actors/codecs/codec.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/trits/ternary.h"

namespace sterna::actors {
namespace {

std::vector<nets::ParameterSpec> specs(const std::vector<std::size_t>& counts) {
  std::vector<nets::ParameterSpec> specs;
  for (const std::size_t count : counts) {
    nets::ParameterSpec spec;
    spec.name = std::to_string(specs.size());
    spec.shape = {count};
    spec.logits = specs.size() + 2 >= counts.size();
    specs.push_back(spec);
  }
  return specs;
}

const std::vector<std::size_t> kLenet = {500, 20, 25000, 50, 1225000, 500, 5000, 10};

TEST(ParameterTable, CutsEveryElementIntoExactlyOneChunkOfAtMostAMegabyte) {
  for (const std::uint32_t servers : {1U, 2U, 3U, 7U, 40U}) {
    const ParameterTable table(specs(kLenet), JobConfig{}, servers);
    EXPECT_EQ(table.elements, 1256080U);
    for (const TableTensor& tensor : table.tensors) {
      std::uint64_t next = 0;
      for (std::uint32_t c = tensor.first_chunk; c < tensor.first_chunk + tensor.chunks; ++c) {
        const TableChunk& chunk = table.chunks[c];
        EXPECT_EQ(chunk.first, next);
        EXPECT_EQ(chunk.first % kUnitElements, 0U);
        EXPECT_LE(chunk.count * sizeof(float), 1U << 20);
        EXPECT_LT(chunk.shard, servers);
        next += chunk.count;
      }
      EXPECT_EQ(next, tensor.count);
    }
  }
}

TEST(ParameterTable, BalancesShardsToWithinAUnit) {
  for (const std::uint32_t servers : {2U, 3U, 5U}) {
    const ParameterTable table(specs(kLenet), JobConfig{}, servers);
    for (std::uint32_t shard = 0; shard < servers; ++shard) {
      std::uint64_t sum = 0;
      for (const std::uint32_t c : table.chunks_of(shard)) sum += table.chunks[c].count;
      EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(table.elements) / servers,
                  kUnitElements);
    }
  }
}

TEST(ParameterTable, TernarizesWhatTheKeysSay) {
  const auto codecs = [](const GradientSection& gradient) {
    JobConfig job;
    job.gradient = gradient;
    std::string text;
    for (const TableTensor& t : ParameterTable(specs(kLenet), job, 1).tensors) {
      text += t.codec == Codec::TERNARY ? 't' : 'f';
    }
    return text;
  };
  EXPECT_EQ(codecs({.codec = "ternary", .min_size = 1, .logits = true}), "tttttttt");
  EXPECT_EQ(codecs({.codec = "ternary", .min_size = 500, .logits = true}),
            "tftfttt"
            "f");
  EXPECT_EQ(codecs({.codec = "ternary", .min_size = 1, .logits = false}), "ttttttff");
  EXPECT_EQ(codecs({.codec = "none", .min_size = 1, .logits = true}), "ffffffff");
  EXPECT_EQ(codecs({.codec = "none", .min_size = 1, .logits = true, .tensors = {{"4", "ternary"}}}),
            "fffftfff");
}

TEST(ParameterTable, GoesByWhatAParameterIsNotByItsPlace) {
  JobConfig job;
  job.gradient.codec = "ternary";
  job.gradient.min_size = 1;
  job.gradient.logits = false;
  std::vector<nets::ParameterSpec> tensors = specs({100, 100, 100});
  for (nets::ParameterSpec& tensor : tensors) tensor.logits = false;
  tensors[0].logits = true;
  tensors[1].role = nets::Role::statistic;
  const ParameterTable table(tensors, job, 1);
  EXPECT_FALSE(table.tensors[0].ternary) << "the logits";
  EXPECT_FALSE(table.tensors[1].ternary) << "a statistic";
  EXPECT_TRUE(table.tensors[2].ternary);
}

TEST(ParameterTable, PacketsOfAllOfLenetTakeHardlyMoreThanTwoBitsAnElement) {
  JobConfig job;
  job.gradient.min_size = 1;
  const ParameterTable table(specs(kLenet), job, 1);
  std::uint64_t bytes = 0;
  for (const TableChunk& chunk : table.chunks) {
    bytes += codec_of(table.tensors[chunk.tensor].codec).room({.count = chunk.count});
  }
  EXPECT_LT(8.0 * static_cast<double>(bytes) / static_cast<double>(table.elements), 2.01);
}

TEST(ParameterTable, PullsEveryChunkOnceFromItsShardTheLargeOnesAlone) {
  for (const std::uint32_t servers : {1U, 3U}) {
    const ParameterTable table(specs(kLenet), JobConfig{}, servers);
    std::set<std::uint32_t> seen;
    for (const auto& group : table.pull_groups(Pulled::all)) {
      std::uint64_t elements = 0;
      for (const std::uint32_t c : group.chunks) {
        EXPECT_TRUE(seen.insert(c).second);
        EXPECT_EQ(table.chunks[c].shard, group.shard);
        elements += table.chunks[c].count;
        if (table.chunks[c].count >= kUnitElements) {
          EXPECT_EQ(group.chunks.size(), 1U);
        }
      }
      EXPECT_LE(elements * sizeof(float), 1U << 20);
    }
    EXPECT_EQ(seen.size(), table.chunks.size());
  }
}

}  // namespace
}  // namespace sterna::actors
