#include "runtime/zmq/zap_handler.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

namespace sterna {
namespace {

// version, request id, domain, address, routing id, mechanism, then the credentials
constexpr std::size_t kFixedFrames = 6;
constexpr std::size_t kLongestFrame = 256;
constexpr std::size_t kMostZapFrames = 8;

}  // namespace

Result<void> ZapHandler::start(const ZmqContext& context, uv_loop_t* loop) {
  STERNA_ASSIGN(socket_, ZmqSocket::open(context, ZMQ_REP));
  STERNA_TRY(socket_.set(ZMQ_LINGER, 0));
  STERNA_TRY(socket_.bind("inproc://zeromq.zap.01"));
  return watch_.start(loop, socket_);
}

void ZapHandler::turn() {
  if (!watch_.maybe()) return;
  while (answer_one()) {
  }
  watch_.rest();
}

bool ZapHandler::answer_one() {
  std::vector<std::string> frames;
  int more = 1;
  while (more != 0) {
    std::array<char, kLongestFrame> buffer;
    const int size = zmq_recv(socket_.get(), buffer.data(), buffer.size(), ZMQ_DONTWAIT);
    if (size < 0 && zmq_errno() == EINTR) continue;
    if (size < 0) return false;
    const std::size_t taken = std::min(static_cast<std::size_t>(size), buffer.size());
    if (frames.size() < kMostZapFrames) frames.emplace_back(buffer.data(), taken);
    std::size_t option_size = sizeof more;
    zmq_getsockopt(socket_.get(), ZMQ_RCVMORE, &more, &option_size);
  }
  frames.resize(kMostZapFrames);
  Result<PeerIdentity> verdict = judge(frames[5], frames[kFixedFrames], frames[kFixedFrames + 1]);
  const std::string user = verdict ? verdict->text() : std::string();
  if (!verdict) {
    std::string_view claimed;
    if (frames[5] == "PLAIN") claimed = frames[kFixedFrames];
    denied_(frames[3], claimed, verdict.error().message);
  }
  const std::array<std::string_view, kFixedFrames> reply = {
      frames[0], frames[1], verdict ? "200" : "400", verdict ? "OK" : "not admitted", user, ""};
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < reply.size() ? ZMQ_SNDMORE : 0);
    while (zmq_send(socket_.get(), reply[i].data(), reply[i].size(), flags) < 0 &&
           zmq_errno() == EINTR) {
    }
  }
  return true;
}

Result<PeerIdentity> ZapHandler::judge(std::string_view mechanism, std::string_view first,
                                       std::string_view second) const {
  if (mechanism == "CURVE") return admissions_.by_key(first);
  if (mechanism == "PLAIN") return admissions_.by_token(first, second);
  return Error{Errc::permission, "no credentials"};
}

}  // namespace sterna
