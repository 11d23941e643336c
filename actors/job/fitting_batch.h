// Which batch fits, where only trying one tells: on devices by making it there, on a host by what
// its net would take.
#pragma once

#include <cstdint>

namespace sterna::actors {

/// What to say where no batch does.
inline constexpr const char* kNotOneImageFits = "not even one image fits; take a smaller net";

/// The largest batch of less than `too_many` images that fits; what is smaller then fits, too. 0:
/// none.
template <class Fits>
std::uint32_t largest_batch(std::uint32_t too_many, const Fits& fits) {
  std::uint32_t fitting = 0;
  while (too_many - fitting > 1) {
    const std::uint32_t between = fitting + (too_many - fitting) / 2;
    (fits(between) ? fitting : too_many) = between;
  }
  return fitting;
}

/// The largest micro-batch of less than `too_many` images that fits, of those that divide the batch
/// evenly. 0: none.
template <class Fits>
std::uint32_t largest_micro_batch(std::uint32_t batch, std::uint32_t too_many, const Fits& fits) {
  for (std::uint32_t images = too_many; images > 1;) {
    --images;
    if (batch % images == 0 && fits(images)) return images;
  }
  return 0;
}

}  // namespace sterna::actors
