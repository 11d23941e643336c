#include "actors/codecs/codec.h"

#include <algorithm>
#include <array>

namespace sterna::actors {

// The codecs that there are, in the order of the help.
#define STERNA_CODECS(line)                                                         \
  line(fp32_codec) line(ternary_codec) line(ternary_entropy_codec) line(bf16_codec) \
      line(rowwise_codec) line(sign_codec) line(topk_codec)

#define STERNA_DECLARE(make) GradientCodec make();
#define STERNA_NAME(make) make,
STERNA_CODECS(STERNA_DECLARE)

namespace {

constexpr std::array kMakers = {STERNA_CODECS(STERNA_NAME)};

}  // namespace

GradientCodec codec_of(Codec wire) {
  const auto found = std::find_if(kMakers.begin(), kMakers.end(),
                                  [&](const auto& make) { return make().wire == wire; });
  return found == kMakers.end() ? fp32_codec() : (*found)();
}

std::optional<GradientCodec> find_codec(std::string_view name) {
  for (const auto& make : kMakers) {
    if (GradientCodec codec = make(); codec.name == name) return codec;
  }
  return std::nullopt;
}

Codec codec_named(std::string_view name) {
  const auto codec = find_codec(name);
  return codec ? codec->wire : Codec::FP32;
}

bool makes_trits(std::string_view name) {
  const auto codec = find_codec(name);
  return codec && codec->ternary();
}

std::vector<std::string_view> codec_names() {
  std::vector<std::string_view> names;
  names.reserve(kMakers.size());
  for (const auto& make : kMakers) names.push_back(make().name);
  return names;
}

}  // namespace sterna::actors
