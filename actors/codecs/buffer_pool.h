// BufferPool: buffers that come back by themselves when their last holder lets go.
//
// Parameter versions and packets are made and dropped every step; without a pool each would be
// fresh pages from the kernel (10 times the cost of writing them). The last holder may be a
// transport's thread, hence the mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/bytes.h"

namespace sterna::actors {

/// Where the next payload may begin behind one of `size` bytes at the front of `room`: payloads are
/// sent from where they lie as whole words, the last one filled up with zeros.
inline std::size_t aligned(MutableBytes room, std::size_t size) {
  const std::size_t end = std::min(room.size(), (size + 7) / 8 * 8);
  std::fill(room.begin() + static_cast<std::ptrdiff_t>(size),
            room.begin() + static_cast<std::ptrdiff_t>(end), std::byte{});
  return end;
}

/// From any thread. Keeps as many buffers as were ever in use at once; buffers may outlive it.
class BufferPool {
 public:
  /// A buffer of exactly `size` bytes, with what its last user left in it (zeros at first). Beyond
  /// `size` its capacity is always zeroed.
  std::shared_ptr<Buffer> take(std::size_t size) {
    std::unique_ptr<Buffer> buffer = shelf_->find(size);
    if (!buffer) buffer = std::make_unique<Buffer>(size);
    return {buffer.release(),
            [shelf = shelf_](Buffer* used) { shelf->put(std::unique_ptr<Buffer>(used)); }};
  }

 private:
  class Shelf {
   public:
    std::unique_ptr<Buffer> find(std::size_t size) {
      const std::lock_guard lock(mutex_);
      auto& free = free_[size];
      if (free.empty()) return nullptr;
      std::unique_ptr<Buffer> buffer = std::move(free.back());
      free.pop_back();
      return buffer;
    }
    void put(std::unique_ptr<Buffer> buffer) {
      const std::lock_guard lock(mutex_);
      free_[buffer->size()].push_back(std::move(buffer));
    }

   private:
    std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<std::unique_ptr<Buffer>>> free_;
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace sterna::actors
