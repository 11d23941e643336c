#include "tests/fuzz/numbers/decode_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "actors/codecs/codec.h"
#include "kernels/isa/isa.h"
#include "runtime/base/random.h"

namespace sterna::fuzz {

namespace {

constexpr std::size_t kFront = 4;
constexpr std::size_t kMostElements = 300'000;  // several rows, and parts of the largest
constexpr actors::Codec kCodecs[] = {actors::Codec::ROWWISE, actors::Codec::SIGN,
                                     actors::Codec::TOPK};

std::string seed(std::size_t which, std::size_t count, const actors::PackChoices& choices) {
  SeededRandom random(count);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.below(2000)) - 1000.0F;
  const actors::GradientCodec codec = actors::codec_of(kCodecs[which]);
  std::vector<std::byte> packed(codec.room({.count = count, .choices = choices}));
  packed.resize(codec.pack(values, {.choices = choices}, packed, kernels::best_isa()));
  std::string input;
  input += static_cast<char>(which);
  for (int shift = 0; shift < 24; shift += 8) input += static_cast<char>(count >> shift & 0xFFU);
  input.append(reinterpret_cast<const char*>(packed.data()), packed.size());
  return input;
}

}  // namespace

bool decode_numbers(const std::uint8_t* data, std::size_t size) {
  if (size < kFront) return false;
  const actors::GradientCodec codec = actors::codec_of(kCodecs[data[0] % std::size(kCodecs)]);
  const std::size_t count =
      (data[1] | std::size_t{data[2]} << 8U | std::size_t{data[3]} << 16U) % kMostElements;
  // Of its exact size, so that ASan sees every byte read beyond it.
  const auto payload = make_buffer(size - kFront);
  std::copy_n(reinterpret_cast<const std::byte*>(data) + kFront, size - kFront,
              payload->bytes().begin());
  actors::BufferPool pool;
  const Result<Bytes> opened =
      codec.open(share(payload), {.count = count}, pool, kernels::best_isa());
  if (!opened) return false;
  if (opened->size() != count * sizeof(float)) std::abort();
  const std::span numbers(reinterpret_cast<const float*>(opened->view().data()), count);
  if (!std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); })) std::abort();
  return true;
}

std::vector<std::string> number_seeds() {
  return {seed(0, 5, {.bits = 2}),
          seed(0, 1500, {.bits = 1}),
          seed(0, 2100, {.bits = 4}),
          seed(0, 100, {.bits = 8}),
          seed(1, 13, {}),
          seed(1, 4000, {}),
          seed(2, 50, {.density = 0.2}),
          seed(2, 140'000, {.density = 1e-4}),
          seed(2, 70'000, {.density = 1e-5})};
}

}  // namespace sterna::fuzz
