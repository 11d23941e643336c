// What codec.cc has a line for. Internal.
#pragma once

#include "actors/codecs/codec.h"

namespace sterna::actors {

GradientCodec fp32_codec();
GradientCodec bf16_codec();
GradientCodec ternary_codec();
GradientCodec ternary_entropy_codec();

}  // namespace sterna::actors
