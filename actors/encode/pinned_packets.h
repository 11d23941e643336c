// PinnedPackets: where a rank's packets come to from a device, and are sent from.
//
// All of a step lie in one piece of pinned memory, each tensor's at its own place, so that those of
// neighbours come with one copy. Whoever has one of its packets (a message that is not yet
// acknowledged, a server of this process) keeps the piece; it comes back when the last lets go, on
// whichever thread that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/device/device_array.h"
#include "runtime/base/bytes.h"

namespace sterna::actors {

/// Pieces of one size. From any thread; keeps as many as were ever in use at once. They, and the
/// device that they are of, live as long as somebody has one.
class PinnedPool {
 public:
  using Piece = kernels::PinnedArray<std::byte>;
  explicit PinnedPool(std::shared_ptr<kernels::Device> device)
      : shelf_(std::make_shared<Shelf>(std::move(device))) {}

  /// Makes so many that take() gives. Errors: the device's.
  Result<void> make(std::size_t bytes, std::size_t pieces);
  /// One that nobody has, with what its last user left in it (zeros at first): of the size that
  /// make() was told. Errors: the device's.
  Result<std::shared_ptr<Piece>> take();

 private:
  struct Shelf {
    explicit Shelf(std::shared_ptr<kernels::Device> of) : device(std::move(of)) {}
    std::shared_ptr<kernels::Device> device;  // outlives the pieces
    std::size_t bytes = 0;
    std::mutex mutex;
    std::vector<std::unique_ptr<Piece>> free;  // guarded by mutex
  };
  std::shared_ptr<Shelf> shelf_;
};

/// Of one rank; used by one thread at a time, but for what share() gave.
class PinnedPackets {
 public:
  PinnedPackets(std::shared_ptr<kernels::Device> device, std::size_t tensors)
      : pool_(std::move(device)), places_(tensors) {}

  /// A tensor's packets take so many bytes, behind those of the tensors before it.
  void add(std::uint32_t tensor, std::size_t bytes);
  /// After all of them: makes what so many steps take, beyond which it is made when it is needed.
  /// Errors: the device's.
  Result<void> make(std::size_t steps) {
    return bytes_ == 0 ? Result<void>() : pool_.make(bytes_, steps);
  }

  bool has(std::uint32_t tensor) const { return places_[tensor].bytes > 0; }
  /// Where a tensor's begin, a multiple of 64, and where they end.
  std::size_t begin_of(std::uint32_t tensor) const { return places_[tensor].at; }
  std::size_t end_of(std::uint32_t tensor) const {
    return places_[tensor].at + places_[tensor].bytes;
  }
  /// Of all tensors.
  std::size_t bytes() const { return bytes_; }

  /// Packets of the next step follow.
  void begin() { piece_ = nullptr; }
  /// The step's piece: what is written to it stays within the tensors' places. Errors: the
  /// device's.
  Result<std::byte*> piece();
  /// A tensor's, which are there.
  Bytes share(std::uint32_t tensor) const;

 private:
  struct Place {
    std::size_t at = 0;
    std::size_t bytes = 0;
  };
  PinnedPool pool_;
  std::vector<Place> places_;
  std::size_t bytes_ = 0;
  std::shared_ptr<PinnedPool::Piece> piece_;  // of this step; null: none yet
};

}  // namespace sterna::actors
