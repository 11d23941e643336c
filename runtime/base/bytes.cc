#include "runtime/base/bytes.h"

#include <cassert>
#include <cstring>
#include <new>

namespace sterna {

namespace {
constexpr std::size_t kAlignment = 64;  // a cache line, and an AVX-512 register
}

Buffer::Buffer(std::size_t size) : size_(size) {
  const std::size_t capacity = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (capacity == 0) return;
  data_.reset(static_cast<std::byte*>(::operator new (capacity, std::align_val_t{kAlignment})));
  std::memset(data_.get(), 0, capacity);
}

void Buffer::Free::operator()(std::byte* data) const {
  ::operator delete (data, std::align_val_t{kAlignment});
}

Bytes share(std::shared_ptr<const Buffer> buffer, std::size_t size) {
  assert(size <= buffer->size());
  const ByteView view(buffer->data(), size);
  return {std::move(buffer), view};
}

Bytes share(std::shared_ptr<const Buffer> buffer) {
  const std::size_t size = buffer->size();
  return share(std::move(buffer), size);
}

Bytes copy_bytes(ByteView view) {
  auto buffer = make_buffer(view.size());
  if (!view.empty()) std::memcpy(buffer->data(), view.data(), view.size());
  return share(std::move(buffer));
}

}  // namespace sterna
