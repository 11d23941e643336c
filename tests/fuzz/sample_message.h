// A message with something in every field, made from its schema alone.
#pragma once

#include <capnp/dynamic.h>

#include <functional>

#include "tests/fuzz/message_list.h"

namespace sterna::fuzz {

/// What is changed of a sample before it is sent.
using Change = std::function<void(capnp::DynamicStruct::Builder)>;

/// One of this type, packed (runtime/message/packed_message.h): numbers that differ, two elements
/// in every list, and what the message's own check needs besides.
Bytes sample_message(const Known& known, const Change& change = {});

/// What a receiver makes of it, packed again as it would send it on.
Result<Bytes> sent_on(const Known& known, const Bytes& packed);

/// Its values, as Cap'n Proto writes them.
std::string values_of(const Known& known, const Bytes& packed);

}  // namespace sterna::fuzz
