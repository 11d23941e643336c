// Every message that any process of Sterna decodes from a peer.
#pragma once

#include <vector>

#include "runtime/message.h"

namespace sterna {

std::vector<const MessageType*> every_message_type();

}  // namespace sterna
