// What `gradient.codec = "auto"` makes of invented machines.
#include "launcher/probe/codec_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::uint64_t kLarge = 25'600'000;

/// Two hosts, each with a rank and a server: half of all bytes pass the card, both directions' in
/// both directions.
LinkCost link(double bits_per_second) {
  const double byte = 8 / bits_per_second / 2;
  return {.up = byte, .down = byte, .both = 2 * byte, .round_trip = 200e-6};
}

/// Averages down, of two ranks, on a core that packs 10 GB/s of floats and codes 8.
ExchangeCosts costs(const LinkCost& link) {
  ExchangeCosts costs;
  costs.codecs = {{"none", 4, 4, 0.3e-9, 0.6e-9},
                  {"ternary", 0.25, 0.375, 0.5e-9, 0.3e-9},
                  {"ternary_entropy", 0.17, 0.22, 1.5e-9, 1.5e-9}};
  costs.link = link;
  costs.servers = 2;
  return costs;
}

std::string choice(const ExchangeCosts& costs, std::uint64_t elements = kLarge) {
  return choose_codecs({{"t", elements}}, costs).at("t");
}

TEST(CodecChoice, IsTheFewestBytesWhereTheLinkIsSlow) {
  EXPECT_EQ(choice(costs(link(100e6))), "ternary_entropy");
  EXPECT_EQ(choice(costs(link(1e9))), "ternary_entropy");
}

TEST(CodecChoice, IsPlainTritsWhereCodingThemTakesLongerThanSendingThem) {
  EXPECT_EQ(choice(costs(link(10e9))), "ternary");
}

TEST(CodecChoice, IsNoneInSharedMemoryWherePackingTakesLongerThanACopy) {
  ExchangeCosts shared =
      costs({.up = 0.05e-9, .down = 0.05e-9, .both = 0.1e-9, .round_trip = 5e-5});
  EXPECT_EQ(choice(shared), "none");
  // Unless its bytes have to be encrypted first.
  shared.link = {.up = 1e-9, .down = 1e-9, .both = 2e-9, .round_trip = 5e-5};
  EXPECT_EQ(choice(shared), "ternary");
}

TEST(CodecChoice, IsNoneForATensorThatIsMostlyARoundTrip) {
  EXPECT_EQ(choice(costs(link(1e9)), 10), "none");
  EXPECT_EQ(choice(costs(link(10e9)), 500), "none");
  EXPECT_EQ(choice(costs(link(100e6)), 50'000), "ternary_entropy");
}

TEST(CodecChoice, IsNoneUnlessAnotherIsFasterByThreePercent) {
  ExchangeCosts even = costs(link(1e9));
  even.codecs = {{"none", 4, 4, 0, 0}, {"ternary", 3.9, 3.9, 0, 0}};
  EXPECT_EQ(choice(even), "none");
  even.codecs[1] = {"ternary", 3.8, 3.8, 0, 0};
  EXPECT_EQ(choice(even), "ternary");
}

TEST(CodecChoice, IsOnlyAmongWhatWasMeasured) {
  ExchangeCosts two = costs(link(100e6));
  two.codecs.pop_back();
  EXPECT_EQ(choice(two), "ternary");
}

TEST(CodecChoice, CountsTheRoundTripInWhichRanksAgreeOnAScaler) {
  ExchangeCosts far = costs(link(1e9));
  far.link.round_trip = 50e-3;
  EXPECT_EQ(choice(far, 500'000), "ternary_entropy");
  far.agrees = true;
  EXPECT_EQ(choice(far, 500'000), "none");
}

TEST(CodecChoice, ModelLetsTheShorterOfWireAndComputeHideButForAChunk) {
  ExchangeCosts one;
  one.link = {.up = 1e-9, .down = 2e-9, .both = 2.5e-9, .round_trip = 1e-3};
  const CodecCost codec{"none", 4, 2, 1e-9, 0};
  const std::uint64_t chunk = 262'144;
  const double wire = (2 * 2.5 + 2 * 1) * 1e-9;
  EXPECT_NEAR(exchange_seconds(codec, chunk, one), 1e-3 + chunk * (wire + 1e-9), 1e-12);
  EXPECT_NEAR(exchange_seconds(codec, 4 * chunk, one), 1e-3 + chunk * (4 * wire + 1e-9), 1e-12);
}

TEST(ExchangeSeconds, AddUpWhereOneHostDoesAll) {
  ExchangeCosts one;
  one.link = {.up = 1e-9, .down = 1e-9, .both = 2e-9, .round_trip = 1e-3};
  one.servers = 2;
  const CodecCost codec{"none", 4, 4, 1e-9, 3e-9};
  const std::uint64_t elements = 1'048'576;  // four chunks
  const auto n = static_cast<double>(elements);
  const double wire = n * 4 * 2e-9;
  EXPECT_NEAR(exchange_seconds(codec, elements, one), 1e-3 + wire + n * 1.5e-9 / 4, 1e-9);
  one.one_host = true;
  EXPECT_NEAR(exchange_seconds(codec, elements, one), 1e-3 + wire + n * (1 + 1.5) * 1e-9, 1e-9);
}

GradientSection section(actors::Down down) {
  GradientSection gradient;
  gradient.codec = "auto";
  gradient.scaler = actors::ScalerRule::last_step;
  gradient.down = down;
  gradient.tensors = {{"c", "bf16"}};
  return gradient;
}

TEST(CodecChoice, IsWrittenOutBesideWhatTheFileHadChosen) {
  const GradientSection chosen =
      with_choice(section(actors::Down::parameters), {{"a", "none"}, {"b", "ternary_entropy"}});
  EXPECT_EQ(chosen.codec, "ternary_entropy");
  EXPECT_THAT(chosen.tensors,
              ElementsAre(Pair("a", "none"), Pair("b", "ternary_entropy"), Pair("c", "bf16")));
}

TEST(CodecChoice, OfNoTritsAtAllIsStillAFileThatCanBeRead) {
  EXPECT_EQ(with_choice(section(actors::Down::parameters), {{"a", "none"}}).codec, "none");
  EXPECT_EQ(with_choice(section(actors::Down::average), {{"a", "none"}}).codec, "ternary");
}

TEST(CodecChoice, IsShownInALine) {
  EXPECT_EQ(choice_line({{"a", "ternary"}, {"b", "none"}, {"c", "none"}},
                        {.up = 8e-9, .down = 16e-9, .both = 20e-9, .round_trip = 210e-6}),
            "none for 2 tensors, ternary for 1 tensor: 1 Gbit/s up, 0.5 Gbit/s down, 0.21 ms round "
            "trip");
}

TEST(CodecChoice, LeavesOutTensorsThatOtherKeysDecideOn) {
  ClusterFile file;
  file.job.net = "lenet";
  file.gradient.min_size = 1;
  const auto all = choosable_tensors(file, {});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 8U);
  file.gradient.logits = false;
  file.gradient.min_size = 1000;
  file.gradient.tensors = {{all->at(2).name, "bf16"}};
  const auto some = choosable_tensors(file, {});
  ASSERT_TRUE(some) << some.error().message;
  for (const ChoosableTensor& tensor : *some) {
    EXPECT_GE(tensor.elements, 1000U);
    EXPECT_NE(tensor.name, all->at(2).name);
  }
  EXPECT_EQ(some->size(), 1U);
}

}  // namespace
}  // namespace sterna::launcher
