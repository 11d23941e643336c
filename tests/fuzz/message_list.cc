#include "tests/fuzz/message_list.h"

#include "runtime/actor_ref.h"
#include "runtime/link_messages.h"

namespace sterna {

namespace {
struct LinkMessages : Interface<Hello, Welcome, Heartbeat, Watch, Down> {};
}  // namespace

std::vector<const MessageType*> every_message_type() {
  std::vector<const MessageType*> all = message_types<LinkMessages>();
  return all;
}

}  // namespace sterna
