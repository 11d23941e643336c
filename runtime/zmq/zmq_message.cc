#include "runtime/zmq/zmq_message.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sterna {
namespace {

// Below this a copy is cheaper than the allocation of a shared owner and its way back.
constexpr std::size_t kZeroCopyBytes = 64 << 10;
// Smaller received frames lie inside the zmq_msg_t or share libzmq's 8 KB receive batch: a copy is
// cheaper than keeping the batch alive.
constexpr std::size_t kKeepInPlaceBytes = 8 << 10;

struct KeptFrame {
  KeptFrame() { zmq_msg_init(&message); }
  ~KeptFrame() { zmq_msg_close(&message); }
  KeptFrame(const KeptFrame&) = delete;
  KeptFrame& operator=(const KeptFrame&) = delete;
  zmq_msg_t message;
};

ByteView view_of(zmq_msg_t& message) {
  return {static_cast<const std::byte*>(zmq_msg_data(&message)), zmq_msg_size(&message)};
}

using Owner = std::shared_ptr<const void>;
// Runs on an I/O thread: lets go and does nothing else.
void let_go(void*, void* owner) { delete static_cast<Owner*>(owner); }

int send_frame(void* socket, zmq_msg_t& message, int flags) {
  int rc = -1;
  do {
    rc = zmq_msg_send(&message, socket, flags);
  } while (rc < 0 && zmq_errno() == EINTR);
  return rc;
}

int make_frame(zmq_msg_t& message, const OutFrame& frame) {
  const std::size_t size = frame.view.size();
  if (frame.owner != nullptr && size >= kZeroCopyBytes) {
    auto owner = std::make_unique<Owner>(frame.owner);
    // libzmq's signature is not const, but it only reads.
    auto* data = const_cast<std::byte*>(frame.view.data());
    const int rc = zmq_msg_init_data(&message, data, size, &let_go, owner.get());
    if (rc == 0) (void)owner.release();
    return rc;
  }
  const int rc = zmq_msg_init_size(&message, size);
  if (rc == 0 && size != 0) std::memcpy(zmq_msg_data(&message), frame.view.data(), size);
  return rc;
}

}  // namespace

ZmqMessage::ZmqMessage() {
  zmq_msg_init(&routing_id_);
  for (zmq_msg_t& frame : frames_) zmq_msg_init(&frame);
}

ZmqMessage::~ZmqMessage() {
  zmq_msg_close(&routing_id_);
  for (zmq_msg_t& frame : frames_) zmq_msg_close(&frame);
}

bool ZmqMessage::receive_frame(const ZmqSocket& socket, zmq_msg_t& frame) {
  int rc = -1;
  do {
    rc = zmq_msg_recv(&frame, socket.get(), ZMQ_DONTWAIT);
  } while (rc < 0 && zmq_errno() == EINTR);
  return rc >= 0;
}

bool ZmqMessage::receive(const ZmqSocket& socket) {
  assert(count_ == 0);
  if (!receive_frame(socket, routing_id_)) return false;
  bytes_ = 0;
  overflow_ = false;
  bool more = zmq_msg_more(&routing_id_) != 0;
  while (more) {
    // What is too much overwrites the last slot: it has to be read, not kept.
    overflow_ = count_ == kMostFrames;
    zmq_msg_t& frame = frames_[overflow_ ? kMostFrames - 1 : count_];
    if (!receive_frame(socket, frame)) break;
    if (!overflow_) ++count_;
    bytes_ += zmq_msg_size(&frame);
    more = zmq_msg_more(&frame) != 0;
  }
  return true;
}

void ZmqMessage::release() {
  for (std::size_t i = 0; i < count_; ++i) {
    zmq_msg_close(&frames_[i]);
    zmq_msg_init(&frames_[i]);
  }
  if (any_kept_) kept_.fill({});
  any_kept_ = false;
  count_ = 0;
}

std::string_view ZmqMessage::routing_id() {
  return {static_cast<const char*>(zmq_msg_data(&routing_id_)), zmq_msg_size(&routing_id_)};
}

int ZmqMessage::descriptor() { return count_ == 0 ? -1 : zmq_msg_get(&frames_[0], ZMQ_SRCFD); }

std::string_view ZmqMessage::user() {
  const char* user = count_ == 0 ? nullptr : zmq_msg_gets(&frames_[0], "User-Id");
  return user == nullptr ? std::string_view() : std::string_view(user);
}

bool ZmqMessage::all_from(std::string_view user) {
  for (std::size_t i = 0; i < count_; ++i) {
    const char* from = zmq_msg_gets(&frames_[i], "User-Id");
    if (from == nullptr || user != from) return false;
  }
  return true;
}

ByteView ZmqMessage::frame(std::size_t index) const {
  assert(index < count_);
  if (kept_[index].data() != nullptr) return kept_[index].view();
  return view_of(frames_[index]);
}

Bytes ZmqMessage::keep(std::size_t index) {
  assert(index < count_);
  Bytes& kept = kept_[index];
  if (kept.data() != nullptr) return kept;
  any_kept_ = true;
  const ByteView view = view_of(frames_[index]);
  // A small frame stays where it is too, because views of it may be in use.
  if (view.size() < kKeepInPlaceBytes) return copy_bytes(view);
  auto owner = std::make_shared<KeptFrame>();
  zmq_msg_move(&owner->message, &frames_[index]);
  const ByteView moved = view_of(owner->message);
  kept = Bytes(std::move(owner), moved);
  return kept;
}

Result<void> send_message(const ZmqSocket& socket, std::string_view routing_id,
                          std::span<const OutFrame> frames) {
  assert(!frames.empty() && frames.size() <= kMostFrames);
  // Only the first part can be refused: a ROUTER checks then that the peer is there and has room.
  // If the peer goes away later, libzmq drops the rest of the message, still whole or nothing.
  zmq_msg_t part;
  zmq_msg_init_size(&part, routing_id.size());
  std::memcpy(zmq_msg_data(&part), routing_id.data(), routing_id.size());
  int rc = send_frame(socket.get(), part, ZMQ_DONTWAIT | ZMQ_SNDMORE);
  if (rc < 0 && zmq_errno() == EAGAIN) {
    // Room that the I/O thread has made is only seen once its commands are processed.
    socket.events();
    rc = send_frame(socket.get(), part, ZMQ_DONTWAIT | ZMQ_SNDMORE);
  }
  if (rc < 0) {
    const int why = zmq_errno();
    zmq_msg_close(&part);
    if (why == EAGAIN) return Error{Errc::overloaded, "the peer does not take messages any more"};
    return Error{Errc::actor_down, "the connection is gone"};
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (make_frame(part, frames[i]) != 0) {
      // Out of memory: an empty frame instead keeps the message complete; the receiver refuses it.
      zmq_msg_init(&part);
    }
    const int flags = ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    if (send_frame(socket.get(), part, flags) < 0) {
      const Error error = zmq_error("cannot send");
      zmq_msg_close(&part);
      return error;
    }
  }
  return {};
}

}  // namespace sterna
