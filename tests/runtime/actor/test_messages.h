// Messages and actors that the runtime's tests speak.
#pragma once

#include <string>
#include <vector>

#include "runtime/actor/process.h"
#include "tests/runtime/actor/test_messages.capnp.h"

namespace sterna::test {

namespace wire = schema::test;

struct Total {
  using Wire = wire::Total;
  std::int64_t value = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setValue(value); }
  static Result<Total> decode(Wire::Reader in, WireReader&) { return Total{in.getValue()}; }
};

struct Add {
  using Wire = wire::Add;
  using Reply = Total;
  std::int64_t amount = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setAmount(amount); }
  static Result<Add> decode(Wire::Reader in, WireReader&) { return Add{in.getAmount()}; }
};

/// Answered after a while.
struct Slow {
  using Wire = wire::Slow;
  using Reply = Total;
  Duration delay{};
  void encode(Wire::Builder out, WireWriter&) const { out.setNanoseconds(delay.count()); }
  static Result<Slow> decode(Wire::Reader in, WireReader&) {
    return Slow{Duration(in.getNanoseconds())};
  }
};

/// Bulk bytes, echoed.
struct Blob {
  using Wire = wire::Blob;
  using Reply = Blob;
  static constexpr Lane kLane = Lane::data;
  Bytes data;
  void encode(Wire::Builder out, WireWriter& writer) const { out.adoptData(writer.data(data)); }
  static Result<Blob> decode(Wire::Reader in, WireReader& reader) {
    return Blob{reader.bytes(in.getData())};
  }
};

/// Makes the handler fail.
struct Boom {
  using Wire = wire::Boom;
  using Reply = void;
  void encode(Wire::Builder, WireWriter&) const {}
  static Result<Boom> decode(Wire::Reader, WireReader&) { return Boom{}; }
};

struct Counter : Interface<Add, Slow, Blob, Boom> {};

class CounterActor final : public Actor<Counter> {
 public:
  explicit CounterActor(bool throws = false, int* alive = nullptr)
      : throws_(throws), alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~CounterActor() override {
    if (alive_ != nullptr) --*alive_;
  }
  Total on(Add add) { return Total{total_ += add.amount}; }
  Task<Total> on(Slow slow) {
    Held held(*this);
    co_await sleep(slow.delay);
    co_return Total{total_};
  }
  Blob on(Blob blob) { return blob; }
  Result<void> on(Boom) {
    if (throws_) throw std::runtime_error("boom");
    return Error{Errc::remote, "refused to boom"};
  }
  int held() const { return held_; }

 private:
  struct Held {
    explicit Held(CounterActor& owner) : actor(owner) { ++actor.held_; }
    ~Held() { --actor.held_; }
    CounterActor& actor;
  };
  std::int64_t total_ = 0;
  int held_ = 0;
  bool throws_;
  int* alive_;
};

}  // namespace sterna::test
