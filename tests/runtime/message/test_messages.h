// Messages that the runtime's tests speak.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/message/fields.h"
#include "tests/runtime/message/test_messages.capnp.h"

namespace sterna::test {

namespace wire = schema::test;

struct Total {
  using Wire = wire::Total;
  std::int64_t value = 0;
  STERNA_INLINE_MESSAGE(Total, FIELD(value, Value))
};

struct Add {
  using Wire = wire::Add;
  using Reply = Total;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(Add, FIELD(amount, Amount))
};

/// Answered after a while.
struct Slow {
  using Wire = wire::Slow;
  using Reply = Total;
  Duration delay{};
  STERNA_INLINE_MESSAGE(Slow, FIELD(delay, Nanoseconds))
};

/// Bulk bytes, echoed.
struct Blob {
  using Wire = wire::Blob;
  using Reply = Blob;
  static constexpr Lane kLane = Lane::data;
  Bytes data;
  STERNA_INLINE_MESSAGE(Blob, FIELD(data, Data))
};

/// Many at once.
struct Blobs {
  using Wire = wire::Blobs;
  std::vector<Blob> blobs;
  std::vector<double> weights;
  STERNA_INLINE_MESSAGE(Blobs, FIELD(blobs, Blobs), FIELD(weights, Weights))
};

/// Makes the handler fail.
struct Boom {
  using Wire = wire::Boom;
  using Reply = void;
  STERNA_INLINE_MESSAGE(Boom)
};

struct Counter : Interface<Add, Slow, Blob, Boom> {};

}  // namespace sterna::test
