// BufferPool: buffers that come back by themselves when their last holder lets go.
//
// Parameter versions and packets are made and dropped every step; without a pool each would be
// fresh pages from the kernel (10 times the cost of writing them). The last holder may be a
// transport's thread, hence the mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// From any thread. Keeps as many buffers as were ever in use at once, of each size; buffers may
/// outlive it.
class BufferPool {
 public:
  BufferPool() : BufferPool(SIZE_MAX) {}
  /// Keeps none for later by which there would be more than `most` bytes, those in use included.
  explicit BufferPool(std::size_t most) : shelf_(std::make_shared<Shelf>(most)) {}

  /// A buffer of exactly `size` bytes, with what its last user left in it (zeros at first). Beyond
  /// `size` its capacity is always zeroed.
  std::shared_ptr<Buffer> take(std::size_t size) {
    std::unique_ptr<Buffer> buffer = shelf_->find(size);
    if (!buffer) buffer = shelf_->made(size);
    return {buffer.release(),
            [shelf = shelf_](Buffer* used) { shelf->put(std::unique_ptr<Buffer>(used)); }};
  }

 private:
  class Shelf {
   public:
    explicit Shelf(std::size_t most) : most_(most) {}
    std::unique_ptr<Buffer> find(std::size_t size) {
      const std::lock_guard lock(mutex_);
      auto& free = free_[size];
      if (free.empty()) return nullptr;
      std::unique_ptr<Buffer> buffer = std::move(free.back());
      free.pop_back();
      return buffer;
    }
    std::unique_ptr<Buffer> made(std::size_t size) {
      {
        const std::lock_guard lock(mutex_);
        bytes_ += size;
        make_room();
      }
      return std::make_unique<Buffer>(size);
    }
    void put(std::unique_ptr<Buffer> buffer) {
      const std::lock_guard lock(mutex_);
      free_[buffer->size()].push_back(std::move(buffer));
      make_room();
    }

   private:
    /// Gives the system what is free, any size first, while there is too much of all.
    void make_room() {
      for (auto sizes = free_.begin(); bytes_ > most_ && sizes != free_.end();) {
        if (sizes->second.empty()) {
          sizes = free_.erase(sizes);
          continue;
        }
        bytes_ -= sizes->first;
        sizes->second.pop_back();
      }
    }

    std::size_t most_;
    std::mutex mutex_;
    std::size_t bytes_ = 0;  // of all buffers, those in use included
    std::unordered_map<std::size_t, std::vector<std::unique_ptr<Buffer>>> free_;
  };
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace sterna::actors
