#include "tests/fuzz/message_list.h"

#include "runtime/actor_ref.h"
#include "runtime/cluster_messages.h"
#include "runtime/link_messages.h"

namespace sterna {

namespace {
struct LinkMessages : Interface<Hello, Welcome, Heartbeat, Watch, Down> {};

template <class... Interfaces>
std::vector<const MessageType*> all_of() {
  std::vector<const MessageType*> all;
  const auto add = [&all](const std::vector<const MessageType*>& types) {
    all.insert(all.end(), types.begin(), types.end());
  };
  (add(message_types<Interfaces>()), ...);
  return all;
}
}  // namespace

std::vector<const MessageType*> every_message_type() {
  return all_of<LinkMessages, Coordinator, Node, Control, LauncherControl>();
}

}  // namespace sterna
