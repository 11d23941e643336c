// A message as another process has it.
#pragma once

#include "runtime/message/packed_message.h"

namespace sterna::actors {

template <Message M>
Result<M> round_trip(const M& message) {
  const Bytes packed = pack(message);
  return unpack<M>(packed.view());
}

}  // namespace sterna::actors
