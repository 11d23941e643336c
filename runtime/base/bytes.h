// Byte views, and Bytes: an owning, immutable view of bytes that several holders may share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace sterna {

using ByteView = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;
class Buffer;

/// Immutable bytes with a shared owner (a received frame, a parameter buffer). Copying shares.
///
/// Large ones go on the wire from where they lie, if they start 8-aligned and their last word can
/// be read to its end (which is sent): those of `make_buffer` can. All others are copied.
class Bytes {
 public:
  Bytes() = default;
  /// Any bytes, which `owner` keeps alive.
  Bytes(std::shared_ptr<const void> owner, ByteView view)
      : owner_(std::move(owner)), view_(view), whole_words_(ends_with_a_word(view)) {}

  /// `count` of these from `offset` on, with the same owner.
  Bytes part(std::size_t offset, std::size_t count) const {
    Bytes bytes(owner_, view_.subspan(offset, count));
    bytes.whole_words_ = bytes.whole_words_ || whole_words_;
    return bytes;
  }
  /// The same bytes, kept alive by `owner`, which holds this one's.
  Bytes kept_by(std::shared_ptr<const void> owner) const {
    Bytes bytes = *this;
    bytes.owner_ = std::move(owner);
    return bytes;
  }

  ByteView view() const { return view_; }
  const std::byte* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Whether the 8-byte words that it lies in can be read to their ends.
  bool whole_words() const { return whole_words_; }

 private:
  static bool ends_with_a_word(ByteView view) {
    return (reinterpret_cast<std::uintptr_t>(view.data()) + view.size()) % 8 == 0;
  }
  friend Bytes share(std::shared_ptr<const Buffer> buffer, std::size_t size);
  std::shared_ptr<const void> owner_;
  ByteView view_;
  bool whole_words_ = true;
};

/// A 64-byte-aligned, zero-filled, writable buffer whose capacity is rounded up to a multiple
/// of 64.
class Buffer {
 public:
  explicit Buffer(std::size_t size);
  std::size_t size() const { return size_; }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  MutableBytes bytes() { return {data_.get(), size_}; }
  /// The bytes as elements of T; the size must be a multiple of sizeof(T).
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_.get()), size_ / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_.get()), size_ / sizeof(T)};
  }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

inline std::shared_ptr<Buffer> make_buffer(std::size_t size) {
  return std::make_shared<Buffer>(size);
}
/// A shared view of the first `size` bytes of `buffer`.
Bytes share(std::shared_ptr<const Buffer> buffer, std::size_t size);
Bytes share(std::shared_ptr<const Buffer> buffer);
/// A copy of `view` in a buffer of its own.
Bytes copy_bytes(ByteView view);
inline Bytes copy_bytes(std::string_view text) {
  return copy_bytes(std::as_bytes(std::span(text)));
}
/// The bytes as text, which lives as long as they do.
inline std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sterna
