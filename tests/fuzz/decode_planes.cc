#include "tests/fuzz/decode_planes.h"

#include <cstdlib>
#include <span>

#include "kernels/entropy/entropy.h"
#include "runtime/base/random.h"

namespace sterna::fuzz {

namespace {

using Planes = std::vector<std::byte>;

constexpr std::size_t kFront = 4;
constexpr std::size_t kMostElements = 300'000;  // three segments

// Random numbers from -ranks to ranks, most of them 0 where `rarity` is large.
Planes planes_of(std::size_t count, std::uint32_t ranks, std::size_t rarity) {
  SeededRandom random(count + ranks);
  Planes planes(kernels::sum_bytes(count, ranks));
  const std::size_t block_bytes = kernels::sum_bytes(1, ranks);
  for (std::size_t i = 0; i < count; ++i) {
    if (random.below(rarity) != 0) continue;
    const std::uint64_t value = random.below(2 * ranks + 1) - ranks;
    for (std::size_t plane = 0; plane < kernels::sum_planes(ranks); ++plane) {
      if ((value >> plane & 1U) == 0) continue;
      planes[i / kernels::kPlaneBlock * block_bytes + plane * kernels::kPlaneBlock / 8 +
             i % kernels::kPlaneBlock / 8] |= std::byte{1} << (i % 8);
    }
  }
  return planes;
}

std::string seed(std::size_t count, std::uint32_t ranks, std::size_t rarity) {
  std::vector<std::byte> coded(kernels::entropy_room(count, ranks));
  coded.resize(kernels::entropy_encode(planes_of(count, ranks, rarity), count, ranks, coded,
                                       kernels::best_isa()));
  std::string input;
  input += static_cast<char>(ranks - 1);
  for (int shift = 0; shift < 24; shift += 8) input += static_cast<char>(count >> shift & 0xFFU);
  input.append(reinterpret_cast<const char*>(coded.data()), coded.size());
  return input;
}

}  // namespace

bool decode_planes(const std::uint8_t* data, std::size_t size) {
  if (size < kFront) return false;
  const std::uint32_t ranks = data[0] + 1U;
  const std::size_t count =
      (data[1] | std::size_t{data[2]} << 8U | std::size_t{data[3]} << 16U) % kMostElements;
  // Of its exact size, so that ASan sees every byte read beyond it.
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> coded(bytes + kFront, bytes + size);
  Planes planes(kernels::sum_bytes(count, ranks));
  const bool ok = kernels::entropy_decode(coded, count, ranks, planes, kernels::Isa::scalar).ok();
  if (ok && !kernels::check_sums(planes, count, ranks, kernels::Isa::scalar)) std::abort();
  Planes again(planes.size());
  const auto other = kernels::entropy_decode(coded, count, ranks, again, kernels::best_isa());
  if (other.ok() != ok || (ok && again != planes)) std::abort();
  return ok;
}

std::vector<std::string> plane_seeds() {
  return {seed(100, 1, 2),     seed(4000, 1, 2),   seed(4000, 1, 1),    seed(40'000, 1, 50),
          seed(140'000, 1, 5), seed(4000, 2, 3),   seed(3000, 7, 9),    seed(3000, 8, 2),
          seed(3000, 127, 40), seed(600, 200, 10), seed(140'000, 3, 90)};
}

}  // namespace sterna::fuzz
