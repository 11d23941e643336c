// Every message that any process of Sterna decodes from a peer, and every one it is started with.
#pragma once

#include <capnp/schema.h>

#include <memory>
#include <vector>

#include "runtime/message/field_rules.h"
#include "runtime/message/message.h"

namespace sterna::fuzz {

/// A message type, its schema, its list of fields, and how to make the plainest message of it.
struct Known {
  const MessageType* type;
  capnp::StructSchema schema;
  const MessageFields* fields;  ///< null: it has code of its own
  std::unique_ptr<Mail> (*plain)();
};

/// Each once.
const std::vector<Known>& every_message();

}  // namespace sterna::fuzz
