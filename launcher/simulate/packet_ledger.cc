#include "launcher/simulate/packet_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/parameters/parameter_hash.h"
#include "runtime/message/wire.h"

namespace sterna::launcher {

namespace {

using actors::Parameters;
using actors::Push;
using actors::PushReply;
using actors::Verdict;

class Frames final : public InMessage {
 public:
  explicit Frames(const std::vector<Bytes>& frames) : frames_(frames) {}
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override { return frames_[index].view(); }
  Bytes keep(std::size_t index) override { return frames_[index]; }

 private:
  const std::vector<Bytes>& frames_;
};

Expected pushes_and_answers(void*, const Header& header) {
  if (header.kind == Kind::ASK && header.type_id == type_id_of<Push>()) {
    return {&kMessageType<Push>, false};
  }
  if (header.kind == Kind::REPLY && header.type_id == type_id_of<PushReply>()) {
    return {&kMessageType<PushReply>, false};
  }
  if (header.kind == Kind::REPLY && header.type_id == type_id_of<Parameters>()) {
    return {&kMessageType<Parameters>, false};
  }
  return {};
}

template <class M>
const M& body(const Decoded& decoded) {
  return static_cast<const MessageMail<M>&>(*decoded.mail).message;
}

}  // namespace

void PacketLedger::saw(const std::string& from, const std::string& to,
                       const std::vector<Bytes>& frames) {
  Frames message(frames);
  const Result<Decoded> decoded = decode_envelope(message, pushes_and_answers, nullptr);
  if (!decoded || decoded->mail == nullptr) return;
  const Header& header = decoded->header;
  if (header.type_id == type_id_of<Parameters>()) return sends(from, body<Parameters>(*decoded));
  const std::string correlation = std::to_string(header.correlation);
  if (header.kind == Kind::FAILURE) return;
  if (header.kind == Kind::ASK) {
    asks(asked_[{from, to, correlation}], body<Push>(*decoded));
  } else if (const auto asked = asked_.find({to, from, correlation}); asked != asked_.end()) {
    answers(asked->second, body<PushReply>(*decoded));
  }
}

void PacketLedger::asks(Asked& known, const Push& push) {
  if (known.incarnation == push.incarnation) return;  // over another connection
  if (known.incarnation > 0 && !known.answered) {
    for (const std::uint32_t chunk : known.chunks) ++chunks_[chunk].unknown;
  }
  known = {.incarnation = push.incarnation, .rank = push.rank, .step = push.step, .chunks = {}};
  for (const actors::Packet& packet : push.packets) {
    known.chunks.push_back(packet.chunk);
    std::uint64_t& next =
        next_.try_emplace({push.rank, packet.chunk}, job_.first_step).first->second;
    if (push.step > next && skipped_.size() < kMostSkipped) {
      skipped_.push_back(fmt::format("of rank {}, chunk {}, push {} comes, and {} never did",
                                     push.rank, packet.chunk, push.step, next));
    }
    next = std::max(next, push.step + 1);
  }
}

void PacketLedger::answers(Asked& asked, const PushReply& reply) {
  if (std::exchange(asked.answered, true)) return;
  for (std::size_t i = 0; i < std::min(asked.chunks.size(), reply.verdicts.size()); ++i) {
    if (reply.verdicts[i] == Verdict::DUPLICATE) ++repeated_;
    if (reply.verdicts[i] == Verdict::DROPPED) ++late_;
    if (reply.verdicts[i] != Verdict::ACCEPTED) continue;
    ++counted_;
    ++chunks_[asked.chunks[i]].counted;
    ++accepted_[{asked.rank, asked.step, asked.chunks[i]}];
  }
}

void PacketLedger::sends(const std::string& server, const Parameters& parameters) {
  for (const actors::ParameterChunk& one : parameters.chunks) {
    // What is not trained has every version.
    const std::uint64_t version = one.version > 0 ? one.version : parameters.version;
    const std::array<std::uint64_t, 4> key{static_cast<std::uint64_t>(parameters.kind),
                                           static_cast<std::uint64_t>(one.codec), one.chunk,
                                           version};
    const actors::Hash hash = actors::hash_of(one.payload.view());
    const auto [sent, is_first] = sent_.try_emplace(key, Sent{server, hash});
    if (is_first) continue;
    if (sent->second.server != server) ++compared_;
    if (sent->second.hash == hash || different_.size() == kMostSkipped) continue;
    different_.push_back(fmt::format("version {} of chunk {} is another from {} than from {}",
                                     version, one.chunk, server, sent->second.server));
  }
}

std::vector<std::string> PacketLedger::faults(bool ended) const {
  std::vector<std::string> faults = skipped_;
  faults.insert(faults.end(), different_.begin(), different_.end());
  for (const auto& [packet, times] : accepted_) {
    if (times == 1) continue;
    faults.push_back(fmt::format("that of rank {}, push {}, chunk {} counts {} times", packet[0],
                                 packet[1], packet[2], times));
  }
  std::map<std::uint32_t, Of> chunks = chunks_;
  for (const auto& [key, asked] : asked_) {
    if (asked.answered) continue;
    for (const std::uint32_t chunk : asked.chunks) ++chunks[chunk].unknown;
  }
  const std::uint64_t wanted = (job_.steps - job_.first_step) * job_.counted_ranks();
  for (const auto& [chunk, of] : chunks) {
    const bool too_few = ended && of.counted + of.unknown < wanted;
    if (of.counted <= wanted && !too_few) continue;
    faults.push_back(
        fmt::format("of chunk {} count {} packets, and {} are not known; all versions "
                    "are made of {}",
                    chunk, of.counted, of.unknown, wanted));
  }
  return faults;
}

}  // namespace sterna::launcher
