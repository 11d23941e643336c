// Every message that any process of Sterna decodes from a peer, and every one it is started with.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "runtime/message/message.h"

namespace sterna::fuzz {

/// A message type, and how to make the plainest message of it.
struct Known {
  const MessageType* type;
  std::unique_ptr<Mail> (*plain)();
};

/// Each once.
const std::vector<Known>& every_message();

}  // namespace sterna::fuzz
