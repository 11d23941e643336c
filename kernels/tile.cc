#include "kernels/tile.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sterna::kernels {
namespace {

void add_planes(const std::byte* planes, float scaler, std::size_t count, float* sum) {
  std::array<float, tile_elements> values;
  decode({planes, planes_bytes(count)}, scaler, {values.data(), count}, Isa::scalar);
  for (std::size_t i = 0; i < count; ++i) sum[i] += values[i];
}

void add_fp32(const std::byte* values, std::size_t count, float* sum) {
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    sum[i] += value;
  }
}

void divide(float divisor, std::size_t count, float* x) {
  for (std::size_t i = 0; i < count; ++i) x[i] /= divisor;
}

void add_decay(float decay, const float* w, std::size_t count, float* g) {
  for (std::size_t i = 0; i < count; ++i) g[i] += decay * w[i];
}

void descend(float lr, const float* w, const float* g, std::size_t count, float* next) {
  for (std::size_t i = 0; i < count; ++i) next[i] = w[i] - lr * g[i];
}

void accumulate(float m, const float* g, std::size_t count, float* a) {
  for (std::size_t i = 0; i < count; ++i) a[i] = m * a[i] + g[i];
}

}  // namespace

TileKernels scalar_tiles() {
  return {add_planes, add_fp32, divide, add_decay, descend, accumulate};
}

void average_tile(const TileKernels& kernels, std::span<const Packet> packets, std::size_t begin,
                  std::size_t count, float* out) {
  std::fill_n(out, count, 0.0F);
  for (const Packet& packet : packets) {
    const std::byte* payload = packet.payload.data();
    if (packet.packing == Packing::planes) {
      kernels.add_planes(payload + planes_bytes(begin), packet.scaler, count, out);
    } else {
      kernels.add_fp32(payload + begin * sizeof(float), count, out);
    }
  }
  kernels.divide(static_cast<float>(packets.size()), count, out);
}

}  // namespace sterna::kernels
