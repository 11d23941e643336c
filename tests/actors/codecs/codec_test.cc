// What holds of every codec, whatever its format.
#include "actors/codecs/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "kernels/sums/sums.h"
#include "kernels/trits/ternary.h"

namespace sterna::actors {
namespace {

constexpr std::size_t kCount = 1500;
constexpr PackChoices kChoices{.bits = 4, .density = 0.1};

kernels::Isa isa() { return kernels::parse_isa("best").value(); }

std::vector<float> numbers() {
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    values[i] = std::sin(static_cast<float>(i)) / static_cast<float>(i + 1);
  }
  return values;
}

/// Trits of every kind.
std::vector<std::byte> planes() {
  std::vector<std::byte> planes(kernels::planes_bytes(kCount));
  kernels::ternarize(numbers(), 0.01F, {}, 0, planes, isa());
  return planes;
}

/// One rank's gradient as this codec sends it.
Bytes packed(const GradientCodec& codec) {
  const auto out = make_buffer(codec.room({.count = kCount, .choices = kChoices}));
  if (codec.pack != nullptr) {
    return share(out, codec.pack(numbers(), {.choices = kChoices}, out->bytes(), isa()));
  }
  const std::vector<std::byte> made = planes();
  if (codec.seal == nullptr) return copy_bytes(made);
  return share(out, codec.seal(made, {.count = kCount}, out->bytes(), isa()));
}

Result<Bytes> opened(const GradientCodec& codec, const Bytes& payload, Packed what) {
  BufferPool pool;
  return codec.open(payload, what, pool, isa());
}

class EveryCodec : public testing::TestWithParam<std::string_view> {
 protected:
  GradientCodec codec_ = find_codec(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Codecs, EveryCodec, testing::ValuesIn(codec_names()),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(EveryCodec, IsFoundByItsNameAndByItsByteOnTheWire) {
  EXPECT_EQ(codec_.name, GetParam());
  EXPECT_EQ(codec_of(codec_.wire).name, codec_.name);
}

TEST_P(EveryCodec, WritesNoMoreThanItsRoom) {
  EXPECT_LE(packed(codec_).size(), codec_.room({.count = kCount, .choices = kChoices}));
  EXPECT_LE(codec_.room({.count = kCount, .choices = kChoices}), codec_.room({.count = kCount}));
}

TEST_P(EveryCodec, OpensWhatItHasPacked) {
  const Result<Bytes> payload = opened(codec_, packed(codec_), {.count = kCount});
  ASSERT_TRUE(payload.ok()) << payload.error().message;
  if (codec_.pack == nullptr) {
    const std::vector<std::byte> made = planes();
    EXPECT_TRUE(
        std::equal(made.begin(), made.end(), payload->view().begin(), payload->view().end()));
    return;
  }
  std::vector<float> values(kCount);
  const kernels::Packet packet{.packing = codec_.packing, .payload = payload->view()};
  kernels::average(std::span(&packet, 1), values, isa());
  const std::vector<float> sent = numbers();
  for (std::size_t i = 0; i < kCount; ++i) {
    if (codec_.wire == Codec::BF16) {
      EXPECT_NEAR(values[i], sent[i], std::abs(sent[i]) / 256) << i;
    } else if (!codec_.lossy) {
      EXPECT_EQ(values[i], sent[i]) << i;
    }
  }
  // Whatever is lost, it points the same way.
  const double along = std::inner_product(sent.begin(), sent.end(), values.begin(), 0.0);
  const double length = std::inner_product(sent.begin(), sent.end(), sent.begin(), 0.0);
  EXPECT_GT(along, 0);
  EXPECT_LT(along, 2 * length);
}

TEST_P(EveryCodec, RefusesAPayloadThatIsCutOff) {
  const Bytes payload = packed(codec_);
  for (const std::size_t left : {std::size_t{0}, payload.size() / 2, payload.size() - 1}) {
    const Result<Bytes> cut =
        opened(codec_, Bytes(payload.owner(), payload.view().first(left)), {.count = kCount});
    ASSERT_FALSE(cut.ok()) << left;
    EXPECT_EQ(cut.error().code, Errc::malformed) << cut.error().message;
  }
}

TEST_P(EveryCodec, RefusesAPayloadOfAnotherNumberOfElements) {
  EXPECT_FALSE(opened(codec_, packed(codec_), {.count = kCount + 600}).ok());
}

TEST_P(EveryCodec, OfNumbersRefusesThoseThatAreNotFinite) {
  if (codec_.pack == nullptr) return;
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values = numbers();
    values.back() = bad;
    const auto out = make_buffer(codec_.room({.count = kCount}));
    const Result<Bytes> payload =
        opened(codec_, share(out, codec_.pack(values, {}, out->bytes(), isa())), {.count = kCount});
    ASSERT_FALSE(payload.ok());
    EXPECT_EQ(payload.error().code, Errc::non_finite);
  }
}

TEST_P(EveryCodec, OfTritsOpensSumsOfAsManyRanksAsItIsTold) {
  if (codec_.pack != nullptr) return;
  constexpr Packed kOfThree{.count = kCount, .ranks = 3};
  const std::vector<std::byte> made = planes();
  const std::vector<kernels::Packet> packets(3, {.scaler = 1, .payload = made});
  const auto sums = make_buffer(kernels::sum_bytes(kCount, 3));
  kernels::sum_trits(packets, sums->bytes(), isa());
  Bytes payload = share(sums);
  if (codec_.seal != nullptr) {
    const auto out = make_buffer(codec_.room(kOfThree));
    payload = share(out, codec_.seal(sums->bytes(), kOfThree, out->bytes(), isa()));
  }
  const Result<Bytes> three = opened(codec_, payload, kOfThree);
  ASSERT_TRUE(three.ok()) << three.error().message;
  EXPECT_TRUE(std::equal(sums->bytes().begin(), sums->bytes().end(), three->view().begin(),
                         three->view().end()));
  EXPECT_FALSE(opened(codec_, payload, {.count = kCount, .ranks = 1}).ok());
}

TEST(Codec, OfAnUnknownNameIsNone) { EXPECT_FALSE(find_codec("gzip").has_value()); }

}  // namespace
}  // namespace sterna::actors
