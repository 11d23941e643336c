// Eight pixels at a time.
#include "input/augment/colour_blocks.h"
#include "kernels/isa/avx2.h"

namespace sterna::input {

namespace {

STERNA_AVX2 void load_avx2(const std::uint8_t* pixels, const Affine& affine, ColourBlock& block) {
  load_block(pixels, affine, block);
}

STERNA_AVX2 void turn_avx2(float saturation, float turn, ColourBlock& block) {
  turn_block(saturation, turn, block);
}

STERNA_AVX2 void store_avx2(const ColourBlock& block, const Affine& affine, std::uint8_t* pixels) {
  store_block(block, affine, pixels);
}

}  // namespace

extern constexpr ColourKernels kColourKernelsAvx2{load_avx2, turn_avx2, store_avx2};

}  // namespace sterna::input
