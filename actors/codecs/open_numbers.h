// What the codecs share whose payload the kernels do not read as it travels: it is opened to fp32.
#pragma once

#include <span>

#include "actors/codecs/codec.h"

namespace sterna::actors {

/// Decodes with a kernel that fills exactly as many numbers as it is given room for, or refuses.
template <Result<void> (*decode)(std::span<const std::byte> payload, std::span<float> out)>
Result<Bytes> open_numbers(const Bytes& payload, Packed what, BufferPool& pool, kernels::Isa) {
  const std::shared_ptr<Buffer> numbers = pool.take(what.count * sizeof(float));
  STERNA_TRY(decode(payload.view(), numbers->as<float>()));
  return share(numbers);
}

}  // namespace sterna::actors
