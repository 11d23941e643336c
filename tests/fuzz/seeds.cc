// The messages that the fuzzer starts from: of every type the plainest and one with something in
// every field, and some with bulk bytes.
#include "actors/job/messages.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/transport/frame_batch.h"
#include "tests/fuzz/decode_input.h"
#include "tests/fuzz/message_list.h"
#include "tests/fuzz/sample_message.h"

namespace sterna::fuzz {

namespace {

Bytes bytes(std::size_t size) {
  const auto buffer = make_buffer(size);
  for (std::size_t i = 0; i < size; ++i) buffer->data()[i] = static_cast<std::byte>(i);
  return share(buffer, size);
}

class Seeds {
 public:
  void add(const Mail& mail, Kind kind) {
    add(mail.type == nullptr ? 0 : mail.type->type_id, kind,
        [&](auto& envelope, WireWriter& writer) { mail.encode_body(envelope, writer); });
  }
  template <Message M>
  void add(const M& message, Kind kind = Kind::TELL) {
    add(type_id_of<M>(), kind, [&](auto& envelope, WireWriter& writer) {
      message.encode(envelope.initBody().template initAs<typename M::Wire>(), writer);
    });
  }
  /// A packed message of one frame (runtime/message/packed_message.h).
  void add(const Bytes& packed) {
    constexpr std::size_t kBefore = 2 * sizeof(std::uint32_t);
    add_frames({std::string(text_of(packed.view().subspan(kBefore)))});
  }
  /// What has been added last, twice, as one batch.
  void add_batch() {
    FrameBatchWriter batch;
    for (int i = 0; i < 2; ++i) batch.add(std::as_bytes(std::span(last_)));
    const ByteView frame = batch.frame();
    inputs.push_back(
        input_of({std::string(reinterpret_cast<const char*>(frame.data()), frame.size())}, 0));
  }
  std::vector<std::string> inputs;

 private:
  template <class Fill>
  void add(std::uint64_t type_id, Kind kind, Fill&& fill) {
    Header header;
    header.target = {(1ULL << 32U) | 2};
    header.source = {(1ULL << 32U) | 3};
    header.correlation = 7;
    header.kind = kind;
    header.type_id = type_id;
    header.sequence = 9;
    EnvelopeEncoder encoder;
    std::vector<std::string> frames;
    const auto encoded = encoder.encode_unchecked(header, fill);
    for (const OutFrame& frame : encoded.value()) {
      frames.emplace_back(reinterpret_cast<const char*>(frame.view.data()), frame.view.size());
    }
    add_frames(frames);
  }
  void add_frames(const std::vector<std::string>& frames) {
    last_ = frames.front();
    // Every other one misaligned.
    inputs.push_back(input_of(frames, inputs.size() % 2 == 0 ? 0 : 4));
  }
  std::string last_;
};

/// With frames of their own: all other messages are one.
void add_bulk(Seeds& seeds) {
  StartProcess start;
  start.bootstrap.args = bytes(5000);
  seeds.add(start, Kind::ASK);
  actors::Push push;
  for (std::uint32_t i = 0; i < 3; ++i) {
    push.packets.push_back({.chunk = i, .payload = bytes(i == 1 ? 16 : 4096 + 128 * i)});
  }
  seeds.add(push, Kind::ASK);
}

}  // namespace

std::vector<std::string> seeds() {
  Seeds seeds;
  for (const Known& known : every_message()) seeds.add(*known.plain(), Kind::TELL);
  for (const Known& known : every_message()) seeds.add(sample_message(known));
  add_bulk(seeds);
  seeds.add(FailureMail(Error{Errc::deadline, "too late"}), Kind::FAILURE);
  seeds.add(EmptyMail(), Kind::REPLY);
  seeds.add(EmptyMail(), Kind::CANCEL);
  seeds.add_batch();
  return seeds.inputs;
}

}  // namespace sterna::fuzz
