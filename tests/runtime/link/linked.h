// Links as their tests use them: with an owner that writes down what it hears, on a MemoryNetwork;
// and Stranger, a peer that speaks the frames of links by hand, as no link of ours would.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/link/link.h"
#include "runtime/link/link_messages.h"
#include "runtime/transport/disturbed_transport.h"
#include "tests/runtime/message/held_message.h"
#include "tests/runtime/message/test_messages.h"
#include "tests/runtime/sim/memory_peer.h"

namespace sterna::test {

class Linked final : private Links::Owner, private Loop::Source {
 public:
  Linked(MemoryNetwork& network, Random& random, std::uint64_t process, const std::string& name,
         LinkOptions options, Loop* own_loop = nullptr, std::uint64_t incarnation = 1)
      : contact{process, {name, incarnation}, "", "", "key-" + name, ""},
        transport(std::make_unique<MemoryTransport>(network, contact.identity,
                                                    Credentials{"key-" + name, "", ""}),
                  network.loop()),
        loop_(own_loop != nullptr ? *own_loop : network.loop()) {
    EXPECT_TRUE(transport.listen(contact).ok());
    options.self = {process};
    options.identity = contact.identity;
    Links::Owner& owner = *this;
    links.emplace(
        owner, transport, loop_, timers, random,
        [this](std::string_view line) { log.emplace_back(line); }, std::move(options));
    loop_.add(*this);
  }
  ~Linked() noexcept override { loop_.remove(*this); }

  /// Tells `to`'s actor 5 to add `amount`.
  Result<void> tell(ProcessId to, std::int64_t amount) {
    return send(to, Kind::TELL, std::make_unique<MessageMail<Add>>(Add{amount}));
  }
  /// Tells it so many bytes, on the data lane.
  Result<void> tell_bulk(ProcessId to, std::size_t bytes) {
    return send(to, Kind::TELL,
                std::make_unique<MessageMail<Blob>>(Blob{share(make_buffer(bytes))}));
  }
  Result<void> send(ProcessId to, Kind kind, std::unique_ptr<Mail> mail) {
    Header header{{5}, {6}, 7, kind};
    header.type_id = mail->type->type_id;
    return links->send(to, header, std::move(mail));
  }
  /// What has been told, in order: the amounts.
  std::vector<std::int64_t> amounts() const {
    std::vector<std::int64_t> all;
    for (const auto& mail : mails) {
      if (mail->type == &kMessageType<Add>) {
        all.push_back(static_cast<const MessageMail<Add>&>(*mail).message.amount);
      }
    }
    return all;
  }

  Contact contact;
  DisturbedTransport transport;
  Timers timers;  // outlive the links
  std::optional<Links> links;
  bool asleep = false;  ///< its loop does not turn
  std::vector<std::unique_ptr<Mail>> mails;
  std::vector<std::string> failures;  ///< "KIND CODE: why"
  std::vector<LocalId> watched;
  std::vector<DownNotice> downs;
  std::vector<ProcessId> introductions;
  std::vector<std::string> ends;      ///< "NAME: cause", with "(fault)" where it was one
  std::vector<std::string> troubles;  ///< "NAME: cause, N ms", with "over" where it was
  struct Pace {
    std::string peer;
    std::uint64_t rate;
    Duration lasts;
    bool over;
  };
  std::vector<Pace> paces;
  std::vector<std::string> log;

 private:
  Expected expect(const Header& header, ProcessId) override {
    for (const MessageType* type : {&kMessageType<Add>, &kMessageType<Blob>}) {
      if (type->type_id == header.type_id) return {type, false};
    }
    return {nullptr, true};
  }
  void deliver(std::unique_ptr<Mail> mail) override { mails.push_back(std::move(mail)); }
  void failed_to_send(const Header& header, ActorId, const Error& error) override {
    failures.push_back(std::string(header.kind == Kind::ASK ? "ask" : "other") + " " +
                       std::string(name(error.code)) + ": " + error.message);
  }
  void watch_requested(ProcessId, LocalId actor) override { watched.push_back(actor); }
  void down_received(const DownNotice& notice) override { downs.push_back(notice); }
  void introduce(ProcessId peer) override { introductions.push_back(peer); }
  void link_ended(const Contact& peer, const std::string& cause, bool fault) override {
    ends.push_back(peer.identity.name + ": " + cause + (fault ? " (fault)" : ""));
  }
  void link_trouble(const Contact& peer, const std::string& cause, Duration lasts,
                    bool over) override {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(lasts).count();
    troubles.push_back(peer.identity.name + ": " + cause + ", " + std::to_string(ms) + " ms" +
                       (over ? ", over" : ""));
  }
  void link_pace(const Contact& peer, std::uint64_t rate, Duration lasts, bool over) override {
    paces.push_back({peer.identity.name, rate, lasts, over});
  }
  LinkStatistics statistics() override { return {{}, 1, 2, 3, 4}; }

  void turn() override { timers.fire(loop_.now(), 10); }
  bool ready() override { return !asleep && timers.next() <= loop_.now(); }
  Time next_deadline() override { return asleep ? kNever : timers.next(); }

  Loop& loop_;
};

class Stranger {
 public:
  Stranger(MemoryNetwork& network, std::uint64_t process, const std::string& name)
      : peer(network, process, name) {
    peer.on_received = [this](ChannelId channel, Lane lane, InMessage& message) {
      hear(channel, lane, message);
    };
  }
  /// A Hello that says the truth.
  Hello hello() const {
    Hello hello;
    hello.protocol = kProtocolVersion;
    hello.session = 77;
    hello.process = {peer.contact.process};
    hello.incarnation = 1;
    hello.credit = 1 << 20;
    return hello;
  }
  /// Says Hello on both lanes.
  void dial(const Linked& to, const Hello& hello) {
    for (const Lane lane : {Lane::control, Lane::data}) {
      channels[index(lane)] = peer.transport.dial(lane, to.contact).value();
      next[index(lane)] = 1;
      say(lane, hello);
    }
  }
  /// To the link itself, or to an actor, under the number that is due.
  template <class M>
  void say(Lane lane, const M& message, LocalId target = {}) {
    if constexpr (std::is_same_v<M, Hello> || std::is_same_v<M, Welcome>) {
      say_as(0, lane, message, target);
    } else if constexpr (std::is_same_v<M, Heartbeat> || std::is_same_v<M, Goodbye> ||
                         std::is_same_v<M, Redial>) {
      say_as(next[index(lane)], lane, message, target);
    } else {
      say_as(next[index(lane)]++, lane, message, target);
    }
  }
  template <class M>
  void say_as(std::uint64_t number, Lane lane, const M& message, LocalId target = {}) {
    Header header;
    header.target = target;
    header.sequence = number;
    header.received = received;
    EXPECT_TRUE(peer.transport.send(channels[index(lane)], encode(encoder, header, message)).ok());
  }
  /// A message of any kind, under the number that `header` has.
  void say(Lane lane, const Header& header, const Mail& mail) {
    const auto frames = encoder.encode(
        header, [&](auto& envelope, WireWriter& writer) { mail.encode_body(envelope, writer); });
    EXPECT_TRUE(peer.transport.send(channels[index(lane)], frames.value()).ok());
  }
  static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }

  MemoryPeer peer;
  std::array<ChannelId, kLanes> channels = {};
  std::array<std::uint64_t, kLanes> next = {1, 1};
  std::array<std::uint32_t, kLanes> received = {};  ///< what it says that it waits for
  EnvelopeEncoder encoder;
  std::vector<Welcome> welcomes;
  std::vector<Hello> hellos;
  std::vector<Heartbeat> heartbeats;
  std::size_t redials = 0;
  std::uint64_t told_bytes = 0;  ///< charged, of all that was told to actors

 private:
  void hear(ChannelId channel, Lane lane, InMessage& message) {
    const auto any = [](void*, const Header& header) {
      for (const MessageType* type : {&kMessageType<Hello>, &kMessageType<Welcome>,
                                      &kMessageType<Heartbeat>, &kMessageType<Redial>}) {
        if (type->type_id == header.type_id) return Expected{type, false};
      }
      return Expected{};
    };
    const Result<Decoded> decoded = decode_envelope(message, any, nullptr);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    if (!decoded->mail) {
      told_bytes += charge(message);
    } else if (decoded->mail->type == &kMessageType<Welcome>) {
      welcomes.push_back(body<Welcome>(*decoded->mail));
    } else if (decoded->mail->type == &kMessageType<Heartbeat>) {
      heartbeats.push_back(body<Heartbeat>(*decoded->mail));
    } else if (decoded->mail->type == &kMessageType<Redial>) {
      ++redials;
    } else {
      hellos.push_back(body<Hello>(*decoded->mail));
      channels[index(lane)] = channel;
    }
  }
  template <class M>
  static const M& body(const Mail& mail) {
    return static_cast<const MessageMail<M>&>(mail).message;
  }
};

class LinkFixture : public testing::Test {
 protected:
  std::unique_ptr<Linked> make(std::uint64_t process, const std::string& name) {
    return std::make_unique<Linked>(network, random, process, name, options);
  }
  /// `a` lets `b` in, and the other way round.
  static void acquaint(Linked& a, Linked& b) {
    a.links->admit(b.contact);
    b.links->admit(a.contact);
  }
  /// Brings a link between the two about.
  void link(Linked& a, Linked& b) {
    acquaint(a, b);
    a.links->dial(b.contact);
    pass(std::chrono::milliseconds(1));
  }
  void pass(Duration time) {
    loop.run_until([] { return false; }, loop.now() + time);
  }

  static constexpr ProcessId kA{1};
  static constexpr ProcessId kB{2};
  SimLoop loop;
  MemoryNetwork network{loop};
  SeededRandom random{1};
  LinkOptions options;
};

}  // namespace sterna::test
