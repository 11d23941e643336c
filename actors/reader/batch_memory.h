// BatchMemory: how much the pictures may take that a reader has prepared and the transport has not
// sent yet. Who would prepare more waits, in order.
//
//   auto wait = memory.take(bytes);
//   ByteWindow::Share share = co_await wait;
//   ... prepare the batch ...
//   co_return memory.lend(std::move(batch), std::move(share));
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "actors/job/messages.h"
#include "runtime/actor/byte_window.h"

namespace sterna::actors {

/// For the loop thread of the actor whose poster() it is given; the batches that it lends may be
/// let go by any thread, also after its end.
class BatchMemory {
 public:
  /// `most` bytes.
  BatchMemory(const Poster& poster, std::uint64_t most);
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;
  ~BatchMemory();

  ByteWindow::Wait take(std::uint64_t bytes) { return window_.take(bytes); }
  /// `batch`; the share is given back when the last who holds some of it lets go.
  Batch lend(Batch batch, ByteWindow::Share share);
  /// Bytes that are taken now.
  std::uint64_t taken() const { return window_.taken(); }

 private:
  class Way;
  ByteWindow window_;
  std::map<std::uint64_t, ByteWindow::Share> lent_;
  std::uint64_t next_ = 0;
  std::shared_ptr<Way> back_;  // how other threads say that they let go
};

}  // namespace sterna::actors
