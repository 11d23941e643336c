#include "tests/fuzz/message_list.h"

#include <algorithm>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "launcher/bench/actors/messages.h"
#include "launcher/owner/owner_words.h"
#include "launcher/probe/probe_messages.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/link/link_messages.h"
#include "runtime/message/actor_ref.h"

namespace sterna::fuzz {

namespace {

void add(std::vector<Known>& all, const Known& known) {
  const bool there =
      std::any_of(all.begin(), all.end(), [&](const Known& k) { return k.type == known.type; });
  if (!there) all.push_back(known);
}

template <Message M>
void add_message(std::vector<Known>& all) {
  const MessageFields* fields = nullptr;
  if constexpr (requires { M::fields(); }) fields = &M::fields();
  add(all, {&kMessageType<M>, capnp::Schema::from<typename M::Wire>(), fields,
            []() -> std::unique_ptr<Mail> {
              M plain;  // named: of the temporary, g++ 12 fears that it is not initialised
              return std::make_unique<MessageMail<M>>(std::move(plain));
            }});
  if constexpr (Askable<M>) {
    if constexpr (!std::is_void_v<ReplyTo<M>> && !std::is_same_v<ReplyTo<M>, M>) {
      add_message<ReplyTo<M>>(all);
    }
  }
}

template <class... Messages>
void add_interface(std::vector<Known>& all, const Interface<Messages...>&) {
  (add_message<Messages>(all), ...);
}

template <class... Interfaces>
std::vector<Known> all_of() {
  std::vector<Known> all;
  (add_interface(all, Interfaces{}), ...);
  return all;
}

struct OfLinks : Interface<Hello, Welcome, Heartbeat, Goodbye, Redial, Watch, Down> {};
/// Packed: on standard input, in StartActor, in a Note.
struct Told
    : Interface<Bootstrap, MemberNote, OriginNote, NameNote, PeerContact, actors::ServerArgs,
                actors::WorkerArgs, actors::ReaderArgs, actors::EvaluatorArgs, launcher::NoArgs,
                launcher::OwnerWord, launcher::ProberArgs> {};

}  // namespace

const std::vector<Known>& every_message() {
  static const std::vector<Known> all =
      all_of<OfLinks, Told, Agent, Coordinator, Node, Control, LauncherControl,
             actors::ParameterServerInterface, actors::InputReaderInterface,
             actors::WorkerInterface, actors::EvaluatorInterface, actors::Observer,
             actors::CheckpointKeeperInterface, launcher::EchoInterface, launcher::BenchPeer,
             launcher::ProberInterface>();
  return all;
}

}  // namespace sterna::fuzz
