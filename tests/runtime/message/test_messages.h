// Messages that the runtime's tests speak.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/message/actor_ref.h"
#include "tests/runtime/message/test_messages.capnp.h"

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

}  // namespace sterna::test
