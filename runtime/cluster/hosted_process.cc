#include "runtime/cluster/hosted_process.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "runtime/base/duration_text.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/cluster/node.h"

namespace sterna {

namespace {

/// Spawns the process's first actor, which is its agent.
template <class A, class... Args>
A& spawn_agent(Process& process, Args&&... args) {
  const auto ref = process.spawn<A>(std::forward<Args>(args)...);
  assert(ref.id.local == kAgent);
  return static_cast<A&>(*process.find(ref.id.local));
}

}  // namespace

HostedProcess::HostedProcess(Machine& machine, Bootstrap bootstrap, const Registry& registry)
    : machine_(machine), bootstrap_(std::move(bootstrap)), registry_(registry) {}

HostedProcess::~HostedProcess() = default;

Result<Contact> HostedProcess::start() {
  const NetworkOptions& network = bootstrap_.network;
  if (bootstrap_.kind == ProcessKind::NODE && network.tcp && network.near) make_neighbourhood();
  STERNA_ASSIGN(connected_, ConnectedProcess::make(machine_, bootstrap_, registry_.schema_hash()));
  switch (bootstrap_.kind) {
    case ProcessKind::COORDINATOR:
      start_coordinator();
      break;
    case ProcessKind::NODE:
      start_node();
      break;
    case ProcessKind::ACTOR:
      start_actor();
      break;
    case ProcessKind::LAUNCHER:
      return Error{Errc::invalid_argument, "a launcher is not hosted"};
  }
  return connected_->contact();
}

/// All processes of this host will be this one's children, so it alone can say who belongs here.
void HostedProcess::make_neighbourhood() {
  Result<std::string> directory = machine_.make_near_directory(bootstrap_.run);
  if (!directory) {
    machine_.log("the processes of this host talk tcp among themselves: " +
                 directory.error().message);
    return;
  }
  bootstrap_.network.directory = std::move(directory).value();
  bootstrap_.network.neighbourhood = machine_.random().next() | 1;  // 0 stands for none
}

void HostedProcess::end(int code, const std::string& why) {
  if (exit_code_) return;
  exit_code_ = code;
  why_ = why;
  if (on_end_) on_end_();
}

EndOwnProcess HostedProcess::end_own_process() {
  return [this](int code, const std::string& why) { end(code, why); };
}

Result<void> HostedProcess::suffer(const Strike& strike) {
  if (!connected_) return Error{Errc::unavailable, "it has not started"};
  switch (strike.kind) {
    case FaultKind::KILL:
    case FaultKind::STOP:
      return Error{Errc::invalid_argument, "nobody kills or stops itself"};
    case FaultKind::CUT:
      machine_.shut_connections();
      break;
    case FaultKind::DELAY:
      machine_.log(fmt::format("for {} what comes is held back for {}, as was asked for",
                               duration_text(strike.lasts), duration_text(strike.by)));
      connected_->network().delay(strike.by, strike.lasts);
      break;
    case FaultKind::DROP:
      machine_.log(fmt::format("for {} what comes is thrown away, as was asked for",
                               duration_text(strike.lasts)));
      connected_->network().drop(strike.lasts);
      break;
    case FaultKind::DEVICE_FAULT: {
      ActorBase* const actor = process().find(main_actor_);
      if (actor == nullptr) return Error{Errc::unavailable, "its actor is not there"};
      Result<void> suffers = Error{Errc::internal, "its actor failed of that"};
      process().run_code_of(main_actor_, "suffer_device_fault",
                            [&] { suffers = actor->suffer_device_fault(); });
      STERNA_TRY(std::move(suffers));
      machine_.log("its device is about to fail, as was asked for");
      break;
    }
  }
  return {};
}

void HostedProcess::lease_lost(const std::string& cause) {
  if (exit_code_) return;  // its agent may be gone
  if (lease_lost_) lease_lost_(cause);
}

void HostedProcess::told_to_end() {
  if (exit_code_) return;
  if (told_to_end_) return told_to_end_();
  lease_lost("it was told to end by a signal");
}

/// Links tell of their ends in the middle of their own work; the agent hears of it in a later turn.
void HostedProcess::on_link_end(
    std::function<void(const Contact&, const std::string&, bool)> hook) {
  process().set_on_link_end([poster = process().poster(kAgent), hook = std::move(hook)](
                                const Contact& peer, const std::string& cause, bool fault) {
    poster.post([=] { hook(peer, cause, fault); });
  });
}

void HostedProcess::dial_above() {
  const ProcessId above{bootstrap_.uplink.process};
  process().set_agent(AnyRef(agent_of<Agent>(above)));
  connected_->links().set_tree_peer(above);
  connected_->links().dial(bootstrap_.uplink);
}

namespace {

/// Without its agent nobody would miss this process, or end it.
void end_with_agent(Process& process, EndOwnProcess end) {
  process.set_on_death([end = std::move(end)](LocalId dead, const std::string& cause) {
    if (dead == kAgent) end(kExitFailed, "its agent failed: " + cause);
  });
}

}  // namespace

void HostedProcess::start_coordinator() {
  end_with_agent(process(), end_own_process());
  // What it has to say to those who are not there yet waits until they are.
  process().set_introducer([](ProcessId) {});
  auto& agent = spawn_agent<CoordinatorActor>(process(), bootstrap_, machine_, end_own_process());
  agent.set_contact(connected_->contact());
  for (const Contact& launcher : bootstrap_.admit) {
    connected_->links().set_tree_peer({launcher.process});
  }
  for (const Contact& visitor : bootstrap_.operators) connected_->links().admit(visitor);
  on_link_end([&agent](const Contact& peer, const std::string& cause, bool fault) {
    agent.link_ended(peer, cause, fault);
  });
  lease_lost_ = [&agent](const std::string& cause) { agent.lease_lost(cause); };
}

void HostedProcess::start_node() {
  end_with_agent(process(), end_own_process());
  auto& agent =
      spawn_agent<NodeActor>(process(), bootstrap_, machine_, process(), end_own_process());
  on_link_end([&agent](const Contact& peer, const std::string& cause, bool fault) {
    agent.link_ended(peer, cause, fault);
  });
  lease_lost_ = [&agent](const std::string& cause) { agent.lease_lost(cause); };
  told_to_end_ = [&agent] { agent.told_to_end(); };
  const ProcessId coordinator{bootstrap_.uplink.process};
  for (const Contact& next : bootstrap_.successors) connected_->links().announce(next);
  process().set_introducer([this, coordinator, poster = process().poster(kAgent)](ProcessId peer) {
    if (peer == coordinator) return;  // what is for it waits until the next one dials
    poster.post(
        [this, peer] { connected_->links().unreachable(peer, "nobody introduced this process"); });
  });
  dial_above();
  agent.announce(connected_->contact());
}

void HostedProcess::start_actor() {
  const ProcessId node{bootstrap_.uplink.process};
  auto& agent = spawn_agent<ControlActor>(process(), node, end_own_process(),
                                          [this](const Strike& strike) { return suffer(strike); });
  lease_lost_ = [this](const std::string& cause) { end(kExitLostLease, cause); };
  const auto link_ended = [this, node](const Contact& peer, const std::string& cause, bool fault) {
    if (ProcessId{peer.process} == node) {
      lease_lost("the link to the node ended: " + cause);
    } else {
      report_link_end(process(), peer, cause, fault);
    }
  };
  process().set_on_link_end([&agent, node, link_ended, poster = process().poster(kAgent)](
                                const Contact& peer, const std::string& cause, bool fault) {
    // At once: what fails for want of this peer must not leave before it is known.
    if (ProcessId{peer.process} != node) agent.lost_a_peer({peer.process});
    poster.post([=] { link_ended(peer, cause, fault); });
  });
  process().set_introducer([&agent, poster = process().poster(kAgent)](ProcessId peer) {
    poster.post([&agent, peer] { agent.introduce(peer); });
  });
  report_link_troubles(process());
  dial_above();

  Result<Bytes> args = bootstrap_.args;
  if (bootstrap_.args_are_json) {
    const ByteView text = bootstrap_.args.view();
    args = registry_.args_from_json(bootstrap_.actor_type,
                                    {reinterpret_cast<const char*>(text.data()), text.size()});
  }
  Result<Registry::Made> made = args ? registry_.make(bootstrap_.actor_type, args->view())
                                     : Result<Registry::Made>(args.error());
  if (!made) {
    agent.leave(made.error().message);
    return;
  }
  // It may die before its id is known here: in started().
  process().set_on_death([this, &agent](LocalId dead, const std::string& cause) {
    if (ended()) return;
    if (dead == kAgent) return end(kExitFailed, "its agent failed: " + cause);
    if (dead == main_actor_) agent.leave(cause);
  });
  const std::uint64_t interface_id = made->type->interface_id;
  const ActorId actor = process().adopt(std::move(made->actor), *made->type, LocalId{});
  main_actor_ = actor.local;
  if (!process().doomed(actor.local)) agent.announce(connected_->contact(), {actor, interface_id});
}

}  // namespace sterna
