// How much memory a peer's list may take. Cap'n Proto lets a list say that it has many structs
// without any bytes, or with fewer than the schema's, and reads each of them as all defaults: a few
// bytes would become as many of ours as the list claims.
#pragma once

#include <capnp/any.h>
#include <capnp/schema.h>

#include "runtime/base/result.h"

namespace sterna {

/// Of a list of structs, before anything is made of it: that each has the bytes that its schema
/// gives it, as every sender of ours writes it. Then the list is bounded by the message's size.
template <class Struct>
Result<void> check_elements(typename capnp::List<Struct>::Reader list) {
  if (list.size() == 0) return {};
  const auto expected = capnp::Schema::from<Struct>().getProto().getStruct();
  const capnp::AnyStruct::Reader first = list[0];  // all are of one size
  constexpr std::size_t kWord = sizeof(capnp::word);
  if (first.getDataSection().size() >= expected.getDataWordCount() * kWord &&
      first.getPointerSection().size() >= expected.getPointerCount()) {
    return {};
  }
  return Error{Errc::malformed, "a list whose elements lack their bytes"};
}

}  // namespace sterna
