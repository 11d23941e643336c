#include "actors/encode/pinned_packets.h"

#include <utility>

namespace sterna::actors {
namespace {

/// Of a cache line; and what lies between two tensors' is never written, so that packets are sent
/// with zeros behind them.
constexpr std::size_t kAlignment = 64;

}  // namespace

Result<void> PinnedPool::make(std::size_t bytes, std::size_t pieces) {
  const std::lock_guard lock(shelf_->mutex);
  shelf_->bytes = bytes;
  while (shelf_->free.size() < pieces) {
    STERNA_ASSIGN(Piece made, Piece::make(*shelf_->device, bytes));
    shelf_->free.push_back(std::make_unique<Piece>(std::move(made)));
  }
  return {};
}

Result<std::shared_ptr<PinnedPool::Piece>> PinnedPool::take() {
  std::unique_ptr<Piece> piece;
  {
    const std::lock_guard lock(shelf_->mutex);
    if (!shelf_->free.empty()) {
      piece = std::move(shelf_->free.back());
      shelf_->free.pop_back();
    }
  }
  if (!piece) {
    STERNA_ASSIGN(Piece made, Piece::make(*shelf_->device, shelf_->bytes));
    piece = std::make_unique<Piece>(std::move(made));
  }
  return std::shared_ptr<Piece>(piece.release(), [shelf = shelf_](Piece* used) {
    std::unique_ptr<Piece> back(used);
    const std::lock_guard lock(shelf->mutex);
    shelf->free.push_back(std::move(back));
  });
}

void PinnedPackets::add(std::uint32_t tensor, std::size_t bytes) {
  places_[tensor] = {bytes_, bytes};
  bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Result<std::byte*> PinnedPackets::piece() {
  if (piece_ == nullptr) {
    STERNA_ASSIGN(piece_, pool_.take());
  }
  return piece_->data();
}

Bytes PinnedPackets::share(std::uint32_t tensor) const {
  return {piece_, {piece_->data() + places_[tensor].at, places_[tensor].bytes}};
}

}  // namespace sterna::actors
