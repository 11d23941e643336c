#include "runtime/base/bytes.h"

#include <cassert>
#include <cstring>
#include <new>

namespace sterna {

namespace {
constexpr std::size_t kAlignment = 64;  // a cache line, and an AVX-512 register
constexpr std::size_t kSmall = 64;
}  // namespace

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
  Bytes bytes(std::move(buffer), view);
  bytes.whole_words_ = true;
  return bytes;
}

Bytes share(std::shared_ptr<const Buffer> buffer) {
  const std::size_t size = buffer->size();
  return share(std::move(buffer), size);
}

Bytes copy_bytes(ByteView view) {
  if (view.size() <= kSmall) {
    // One allocation instead of three: most messages' bytes are few.
    struct Small {
      alignas(16) std::byte bytes[kSmall];
    };
    auto owner = std::make_shared_for_overwrite<Small>();
    if (!view.empty()) std::memcpy(owner->bytes, view.data(), view.size());
    const std::byte* bytes = owner->bytes;
    return {std::move(owner), {bytes, view.size()}};
  }
  auto buffer = make_buffer(view.size());
  if (!view.empty()) std::memcpy(buffer->data(), view.data(), view.size());
  return share(std::move(buffer));
}

}  // namespace sterna
