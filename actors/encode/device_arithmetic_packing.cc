// DeviceArithmetic: packets of what has come from the device.
#include <utility>

#include "actors/encode/device_arithmetic.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"

namespace sterna::actors {

Bytes DeviceArithmetic::made_of(std::uint32_t tensor) const {
  return fetched(tensor) ? floats_.share(tensor) : payloads_.share(tensor);
}

Result<void> DeviceArithmetic::pack(std::uint32_t index, float scaler, Listener& listener) {
  const TableTensor& tensor = table_->tensors[index];
  const GradientCodec codec = this->codec(index);
  const std::span<const TableChunk> chunks = table_->chunks_of(tensor);
  const Bytes all = made_of(index);
  if (fetched(index)) {
    const std::span values(reinterpret_cast<const float*>(all.data()), elements(index));
    STERNA_TRY(kernels::scaler(values, 0, isa_));
  }
  float stands_for = 1;  // of numbers
  if (codec.ternary()) {
    stands_for = feeds_back(index) ? kernels::fed_back_scaler(scaler, clip()) : scaler;
  }
  Sealed sealed = codec.seal == nullptr ? Sealed() : room_for(codec, chunks);
  for (std::uint32_t i = 0; i < tensor.chunks; ++i) {
    const Bytes made =
        all.part(bytes_made(codec, chunks[i].first), bytes_made(codec, chunks[i].count));
    const Bytes payload =
        codec.seal == nullptr ? made : seal(codec, made.view(), chunks[i], sealed);
    const bool tells = host_->tells_what_is_sent();
    Bytes numbers;
    if ((feeds_back(index) || tells) && !codec.ternary()) {
      // Of what was rounded to infinity nothing is left.
      STERNA_ASSIGN(numbers, codec.open(payload, {.count = chunks[i].count}, pool_, isa_));
    }
    if (tells) {
      const ByteView opened = codec.ternary() ? made.view() : numbers.view();
      host_->tell_sent(chunks[i], {codec.packing, stands_for, opened});
    }
    listener.packed(tensor.first_chunk + i, stands_for, payload,
                    codec.ternary() ? kernels::nonzero_trits(made.view(), isa_) : 0);
  }
  return {};
}

DeviceArithmetic::Sealed DeviceArithmetic::room_for(const GradientCodec& codec,
                                                    std::span<const TableChunk> chunks) {
  std::size_t room = 0;
  for (const TableChunk& chunk : chunks) room += (codec.room({.count = chunk.count}) + 7) / 8 * 8;
  return {pool_.take(room)};
}

/// Behind what was sealed before it.
Bytes DeviceArithmetic::seal(const GradientCodec& codec, ByteView made, const TableChunk& chunk,
                             Sealed& to) const {
  const MutableBytes free = to.buffer->bytes().subspan(to.bytes);
  const std::size_t bytes = codec.seal(made, {.count = chunk.count}, free, isa_);
  to.bytes += aligned(free, bytes);
  return {to.buffer, free.first(bytes)};
}

}  // namespace sterna::actors
