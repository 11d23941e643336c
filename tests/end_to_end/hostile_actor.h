// An actor of the job that misbehaves when told to: over its own link, by way of mail that writes
// what it likes. It also floods, for the tests of a receiver that stops reading.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cluster/cluster_messages.h"
#include "tests/end_to_end/hostile.capnp.h"
#include "tests/runtime/cluster/cluster_test_actor.h"

namespace sterna::test {

struct Misbehave {
  using Wire = wire::Misbehave;
  std::string towards;
  std::string how;
  STERNA_INLINE_MESSAGE(Misbehave, FIELD(towards, Towards), FIELD(how, How))
};
struct Taken {
  using Wire = wire::Taken;
  std::uint64_t bytes = 0;
  STERNA_INLINE_MESSAGE(Taken, FIELD(bytes, Bytes))
};
struct Blob {
  using Wire = wire::Blob;
  using Reply = Taken;
  static constexpr Lane kLane = Lane::data;
  Bytes bytes;
  STERNA_INLINE_MESSAGE(Blob, FIELD(bytes, Bytes))
};
struct Flooded {
  using Wire = wire::Flooded;
  std::uint32_t answered = 0;
  std::uint32_t late = 0;
  std::uint32_t refused = 0;
  std::uint32_t other = 0;
  std::uint64_t queued_bytes = 0;
  std::int64_t resident_bytes = 0;
  STERNA_INLINE_MESSAGE(Flooded, FIELD(answered, Answered), FIELD(late, Late),
                        FIELD(refused, Refused), FIELD(other, Other),
                        FIELD(queued_bytes, QueuedBytes), FIELD(resident_bytes, ResidentBytes))
};
/// Asks the actor of that name with so many Blobs at once.
struct Flood {
  using Wire = wire::Flood;
  using Reply = Flooded;
  std::string towards;
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
  Duration deadline{};
  STERNA_INLINE_MESSAGE(Flood, FIELD(towards, Towards), FIELD(messages, Messages),
                        FIELD(bytes, Bytes), FIELD(deadline, Deadline))
};

struct Hostile : Interface<Misbehave, Flood, Blob> {};

/// Mail whose body, and envelope, is written by a function.
struct OddMail final : Mail {
  using Write = std::function<void(schema::Envelope::Builder&)>;
  explicit OddMail(Write w, const MessageType* type = nullptr)
      : Mail(type, Lane::control), write(std::move(w)) {}
  void encode_body(schema::Envelope::Builder& envelope, WireWriter&) const override {
    write(envelope);
  }
  Write write;
};

/// Of this process, without what its allocator keeps back.
inline std::int64_t resident_bytes() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

class HostileActor final : public Actor<Hostile> {
 public:
  explicit HostileActor(PeerArgs) {}

  Taken on(Blob blob) { return {blob.bytes.size()}; }

  Task<void> on(Misbehave order) {
    Result<ActorRef<Peer>> found = co_await find_actor<Peer>(process(), order.towards, kPatience);
    if (!found) co_return fail(found.error().message);
    const ActorRef<Peer> victim = *found;
    auto asked = ask(victim, Deposit{0}, kPatience);
    const Result<Balance> open = co_await asked;
    if (!open) co_return fail(open.error().message);
    const auto both_lanes = [&] { return process().links()->connected(victim.id.process); };
    while (!both_lanes()) co_await sleep(std::chrono::milliseconds(5));
    misbehave(victim, order.how);
  }

  Task<Result<Flooded>> on(Flood order) {
    Result<ActorRef<Hostile>> found =
        co_await find_actor<Hostile>(process(), order.towards, kPatience);
    if (!found) co_return found.error();
    const std::int64_t before = resident_bytes();
    std::vector<Future<Taken>> answers;
    Flooded result;
    for (std::uint32_t i = 0; i < order.messages; ++i) {
      const auto buffer = make_buffer(order.bytes);
      std::fill(buffer->data(), buffer->data() + order.bytes, std::byte{1});
      Blob blob{share(buffer)};
      answers.push_back(ask(*found, std::move(blob), order.deadline));
      result.queued_bytes = std::max(result.queued_bytes, process().links()->queued_bytes());
    }
    result.resident_bytes = resident_bytes() - before;
    for (Future<Taken>& answer : answers) {
      const Result<Taken> taken = co_await answer;
      if (taken) {
        ++result.answered;
      } else if (taken.error().code == Errc::deadline) {
        ++result.late;
      } else if (taken.error().code == Errc::overloaded) {
        ++result.refused;
      } else {
        ++result.other;
      }
      result.queued_bytes = std::max(result.queued_bytes, process().links()->queued_bytes());
    }
    result.resident_bytes = std::max(result.resident_bytes, resident_bytes() - before);
    co_return result;
  }

 private:
  static constexpr Duration kPatience = std::chrono::seconds(10);

  void misbehave(ActorRef<Peer> victim, const std::string& how) {
    Links& links = *process().links();
    const ProcessId to = victim.id.process;
    Header header;
    header.target = victim.id.local;
    header.type_id = type_id_of<Deposit>();
    const auto send = [&](OddMail::Write write) {
      (void)links.send(to, header, std::make_unique<OddMail>(std::move(write))).ok();
    };
    if (how == "garbage") {
      send([](schema::Envelope::Builder& envelope) {
        // The body's pointer is the word before its bytes.
        auto body = envelope.initBody().initAs<capnp::Data>(64);
        std::fill(body.begin() - 8, body.end(), kj::byte{0xff});
      });
    } else if (how == "kind") {
      send([](auto& envelope) { envelope.setKind(static_cast<Kind>(77)); });
    } else if (how == "sequence") {
      // Over each connection that it is given for that, too.
      const auto wrong = [](auto& envelope) { envelope.setSequence(envelope.getSequence() + 7); };
      (void)links.send(to, header, std::make_unique<OddMail>(wrong, &kMessageType<Deposit>)).ok();
    } else if (how == "foreign") {
      header.type_id = type_id_of<Leaving>();
      send([](auto& envelope) { envelope.initBody().template initAs<Leaving::Wire>(); });
    } else if (how == "order") {
      tell(agent_of<Control>(to), Stop{});
    } else if (how == "down") {
      links.send_down(to, {{kLauncherProcess, kAgent}, "launcher", 1, "a lie"});
    } else if (how == "credit") {
      tell(victim, Block{1000});  // so that all of it is there before any is consumed
      process().set_chaos([](const Header&, ProcessId) {
        return Links::Fate{Links::Fate::Kind::repeat, {}};  // at once, whatever the credit
      });
      for (int i = 0; i < 1000; ++i) {
        send([](auto& envelope) {
          envelope.initBody().template initAs<capnp::Data>(40'000);
          envelope.initBody().template initAs<Deposit::Wire>();
        });
      }
    }
  }
};

}  // namespace sterna::test
