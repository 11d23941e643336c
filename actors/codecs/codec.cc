#include "actors/codecs/codec.h"

#include <algorithm>
#include <array>

#include "actors/codecs/codecs.h"

namespace sterna::actors {
namespace {

constexpr std::array makers = {fp32_codec, ternary_codec, ternary_entropy_codec, bf16_codec};

}  // namespace

GradientCodec codec_of(Codec wire) {
  const auto found = std::find_if(makers.begin(), makers.end(),
                                  [&](const auto& make) { return make().wire == wire; });
  return found == makers.end() ? fp32_codec() : (*found)();
}

std::optional<GradientCodec> find_codec(std::string_view name) {
  for (const auto& make : makers) {
    if (GradientCodec codec = make(); codec.name == name) return codec;
  }
  return std::nullopt;
}

std::vector<std::string_view> codec_names() {
  std::vector<std::string_view> names;
  names.reserve(makers.size());
  for (const auto& make : makers) names.push_back(make().name);
  return names;
}

}  // namespace sterna::actors
