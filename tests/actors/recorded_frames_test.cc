// The frames of pushes and parameters as they were first recorded, byte for byte: what a change of
// code must not change unasked. A wire format that is meant to change takes new numbers here.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "actors/job/messages.h"
#include "runtime/message/packed_message.h"

namespace sterna::actors {
namespace {

/// Bytes that follow from a seed: a payload of some codec, for all that a message knows.
Bytes drawn(std::size_t size, std::uint64_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(seed >> 56U);
  }
  return copy_bytes(bytes);
}

struct Recorded {
  std::size_t bytes;
  std::uint64_t fnv1a;
  bool operator==(const Recorded&) const = default;
};

/// Of the message in its envelope, its frames one after the other with their sizes before them.
template <Message M>
Recorded recorded(const M& message) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const Bytes packed = pack(message);
  for (const std::byte byte : packed.view()) {
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3U;
  }
  return {packed.view().size(), hash};
}

void PrintTo(const Recorded& what, std::ostream* out) {
  *out << "{" << what.bytes << ", 0x" << std::hex << what.fnv1a << std::dec << "}";
}

Push some_push(PayloadKind kind) {
  return {
      .rank = 3,
      .incarnation = 2,
      .epoch = 0,
      .step = 41,
      .examples = 32,
      .kind = kind,
      .packets = {
          {.chunk = 0, .codec = Codec::FP32, .scaler = 1, .count = 20, .payload = drawn(80, 1)},
          {.chunk = 5,
           .codec = Codec::TERNARY,
           .scaler = 0.0625F,
           .count = 262144,
           .payload = drawn(65536, 2)},
          {.chunk = 6,
           .codec = Codec::TERNARY_ENTROPY,
           .scaler = 0.5F,
           .count = 1000,
           .payload = drawn(160, 3)},
          {.chunk = 7, .codec = Codec::BF16, .scaler = 1, .count = 12, .payload = drawn(24, 4)}}};
}

TEST(RecordedFrames, PushesAreAsTheyWere) {
  EXPECT_EQ(recorded(some_push(PayloadKind::GRADIENT)), (Recorded{66116, 0x3bffecaf11bdc13d}));
  EXPECT_EQ(recorded(some_push(PayloadKind::DIFFERENCE)), (Recorded{66116, 0x5ccb38ff0a76a05c}));
  EXPECT_EQ(recorded(Push{}), (Recorded{136, 0xe43d3a59aa56af7b}));
}

TEST(RecordedFrames, PushesAreAnsweredAsTheyWere) {
  const PushReply reply{{Verdict::ACCEPTED, Verdict::DUPLICATE, Verdict::DROPPED}};
  EXPECT_EQ(recorded(reply), (Recorded{112, 0xd7cb7a65520a0541}));
}

TEST(RecordedFrames, PullsAreAsTheyWere) {
  const Pull pull{.version = 7, .chunks = {0, 1, 9}, .kind = PayloadKind::GRADIENT};
  EXPECT_EQ(recorded(pull), (Recorded{144, 0x315739ed971015da}));
  const Pull rounded{
      .version = 8, .chunks = {4}, .kind = PayloadKind::PARAMETERS, .codec = Codec::BF16};
  EXPECT_EQ(recorded(rounded), (Recorded{136, 0xdb0ce2d61c598a71}));
}

TEST(RecordedFrames, ParametersAreAsTheyWere) {
  const Parameters whole{
      .version = 12,
      .kind = PayloadKind::PARAMETERS,
      .chunks = {{.chunk = 2, .codec = Codec::FP32, .payload = drawn(1 << 20, 5), .scaler = 1},
                 {.chunk = 3, .codec = Codec::BF16, .payload = drawn(600, 6), .scaler = 1}},
      .ranks = 0,
      .constants = {}};
  EXPECT_EQ(recorded(whole), (Recorded{1049388, 0x5903c7747381a2a7}));
  const Parameters averages{.version = 13,
                            .kind = PayloadKind::GRADIENT,
                            .chunks = {{.chunk = 2,
                                        .codec = Codec::TERNARY,
                                        .payload = drawn(98304, 7),
                                        .scaler = 0.25F}},
                            .ranks = 2,
                            .constants = {0.01F, 0.9F}};
  EXPECT_EQ(recorded(averages), (Recorded{98492, 0xf473074a0158c1ac}));
}

TEST(RecordedFrames, ScalersAreOfferedAndAgreedAsTheyWere) {
  const Offer offer{.rank = 1, .incarnation = 1, .epoch = 0, .step = 9, .scalers = {{0, 0.5F}}};
  EXPECT_EQ(recorded(offer), (Recorded{136, 0x5d2f9efab489f43b}));
  EXPECT_EQ(recorded(Agreed{{0.5F, 0.75F}}), (Recorded{104, 0x8901ad0f3698ebf7}));
}

}  // namespace
}  // namespace sterna::actors
