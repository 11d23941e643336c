#include "nets/backend/host_memory.h"

#include <algorithm>

#include "nets/tensor/elementwise.h"
#include "runtime/base/bytes.h"

namespace sterna::nets {

std::shared_ptr<std::byte> HostMemory::allocate(std::size_t bytes) {
  const auto buffer = std::make_shared<Buffer>(bytes);
  return {buffer, buffer->data()};
}

void HostMemory::write(std::span<const float> values, Tensor& to, std::size_t first) {
  nets::write(values, to, first);
}

void HostMemory::write_staged(std::size_t count, std::size_t channels, Tensor& to) {
  to_values(staged_, count, channels, to);
}

void HostMemory::read(const Tensor& from, std::size_t first, std::span<float> out) {
  nets::read(from, first, out);
}

void HostMemory::copy(const Tensor& from, Tensor& to) { nets::copy(from, to); }

void HostMemory::copy(const Tensor& from, const kernels::Runs& runs, Tensor& to) {
  const std::size_t element = bytes_of(from.element());
  const std::size_t length = runs.length * element;
  const std::byte* const read = from.memory() + runs.from.first * element;
  std::byte* const written = to.memory() + runs.to.first * element;
  for (std::size_t image = 0; image < runs.images; ++image) {
    for (std::size_t row = 0; row < runs.rows; ++row) {
      const std::byte* a = read + (image * runs.from.image + row * runs.from.row) * element;
      std::byte* b = written + (image * runs.to.image + row * runs.to.row) * element;
      for (std::size_t column = 0; column < runs.columns; ++column) {
        std::copy_n(a + column * runs.from.column * element, length,
                    b + column * runs.to.column * element);
      }
    }
  }
}

void HostMemory::clear(Tensor& to, std::size_t first) {
  const std::size_t kept = first * bytes_of(to.element());
  std::fill_n(to.memory() + kept, to.bytes() - kept, std::byte{0});
}

void HostMemory::add(const Tensor& a, const Tensor& b, Tensor& out) { nets::add(a, b, out); }

void HostMemory::scale(Tensor& a, float factor) {
  for (float& value : a.values()) value *= factor;
}

}  // namespace sterna::nets
