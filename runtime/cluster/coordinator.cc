// CoordinatorActor: the directory, issuing identities, and bringing processes together.
#include "runtime/cluster/coordinator.h"

#include <algorithm>
#include <vector>

#include "runtime/actor/wait_for.h"

namespace sterna {

namespace {
/// Names and causes of the dead are kept for those who ask later, but not all of them for ever.
constexpr std::size_t kMembers = 4096;
/// How often one who waits for another's introduction looks whether that one has been given up.
constexpr Duration kLookAgain = std::chrono::milliseconds(200);
/// A name becomes part of file names and of log lines.
constexpr std::size_t kLongestName = 64;

Result<void> check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kLongestName &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                    });
  if (good && name.front() != '.') return {};
  return Error{Errc::invalid_argument, "'" + name +
                                           "' cannot name a process: use at most 64 letters, "
                                           "digits, '-', '_' and '.'"};
}
}  // namespace

CoordinatorActor::CoordinatorActor(const Bootstrap& self, Machine& machine,
                                   EndOwnProcess end_process)
    : self_(self), machine_(machine), end_process_(std::move(end_process)) {
  for (const Contact& launcher : self.admit) {
    Member member;
    member.kind = ProcessKind::LAUNCHER;
    member.process = {launcher.process};
    member.identity = launcher.identity;
    member.host = self.host;
    member.state = State::ready;
    member.contact = launcher;
    names_[launcher.identity.name] = member.process;
    members_[member.process] = std::move(member);
  }
}

// ---- who may say what ----

Result<void> CoordinatorActor::from_launcher() const {
  if (sender().process == kLauncherProcess) return {};
  process().blame_sender("only the launcher may ask for this");
  return Error{Errc::permission, "only the launcher may ask for this"};
}

Result<void> CoordinatorActor::from_node() const {
  const auto found = members_.find(sender().process);
  if (found != members_.end() && found->second.kind == ProcessKind::NODE) return {};
  process().blame_sender("only a node may say this");
  return Error{Errc::permission, "only a node may say this"};
}

CoordinatorActor::Member* CoordinatorActor::find(ProcessId process) {
  const auto found = members_.find(process);
  return found == members_.end() ? nullptr : &found->second;
}

CoordinatorActor::Member* CoordinatorActor::find_live(ProcessId process) {
  Member* member = find(process);
  return member == nullptr || member->state == State::dead ? nullptr : member;
}

CoordinatorActor::Member* CoordinatorActor::named(const std::string& name) {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : find(found->second);
}

// ---- the directory ----

Task<CoordinatorActor::Member*> CoordinatorActor::ready_member(std::string name, Time deadline) {
  while (true) {
    Member* member = named(name);
    const bool awaited = member == nullptr || member->state == State::starting ||
                         (member->state == State::dead && comes_again(name));
    if (!awaited || now() >= deadline || stopping_) co_return member;
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

Task<CoordinatorActor::Member*> CoordinatorActor::settled(ProcessId id, Time deadline) {
  while (true) {
    Member* member = find(id);
    if (member == nullptr || member->state != State::starting) co_return member;
    if (now() >= deadline || stopping_) co_return member;
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

std::string CoordinatorActor::why_not(const std::string& name) const {
  const auto found = names_.find(name);
  const auto member = found == names_.end() ? members_.end() : members_.find(found->second);
  if (member == members_.end()) return "nobody is called '" + name + "'";
  if (member->second.state == State::starting) return name + " is not ready yet";
  if (comes_again(name)) return name + " is being started again: " + member->second.cause;
  return name + " is dead: " + member->second.cause;
}

Task<Result<Found>> CoordinatorActor::on(Find find) {
  if (const auto own = published_.find(find.name); own != published_.end()) {
    co_return Found{own->second, 1};
  }
  const Member* member = co_await ready_member(find.name, now() + find.patience);
  if (member == nullptr) co_return Error{Errc::not_found, why_not(find.name)};
  if (member->state == State::dead && !comes_again(find.name)) {
    co_return Error{Errc::actor_down, why_not(find.name)};
  }
  if (member->state != State::ready) co_return Error{Errc::deadline, why_not(find.name)};
  co_return Found{member->actor, member->identity.incarnation};
}

Result<void> CoordinatorActor::on(Ready ready) {
  STERNA_TRY(from_node());
  Member* member = find({ready.contact.process});
  const bool own = member != nullptr && member->process == sender().process;
  const bool childs = member != nullptr && member->node == sender().process;
  if ((!own && !childs) || member->identity != ready.contact.identity) {
    process().blame_sender("it speaks for a process that is not its own");
    return Error{Errc::permission, "a node speaks for its own processes only"};
  }
  if (member->state != State::starting) {
    return Error{Errc::already_exists, member->identity.text() + " is not starting any more"};
  }
  member->state = State::ready;
  member->contact = ready.contact;
  member->actor = ready.actor;
  log(member->identity.text() + " is ready");
  changed_.notify_all();
  return {};
}

// ---- issuing ----

Result<Bootstrap> CoordinatorActor::issue(ProcessKind kind, const std::string& name,
                                          const std::string& host) {
  STERNA_TRY(check_name(name));
  const Member* present = named(name);
  if (present != nullptr && present->state != State::dead) {
    return Error{Errc::already_exists, "there is already a process called '" + name + "'"};
  }
  if (stopping_) return Error{Errc::unavailable, "the run is stopping"};
  forget_oldest_dead();
  if (members_.size() >= kMembers) {
    return Error{Errc::overloaded,
                 "the run has " + std::to_string(kMembers) + " processes, which is its limit"};
  }
  Bootstrap issued = self_;
  issued.kind = kind;
  issued.process = {next_process_};
  issued.identity = {name, incarnations_[name] + 1};
  STERNA_ASSIGN(issued.credentials, machine_.keys().issue());
  issued.admit.clear();
  issued.operators.clear();
  issued.host = host;
  ++next_process_;
  ++incarnations_[name];
  Member member;
  member.kind = kind;
  member.process = issued.process;
  member.identity = issued.identity;
  member.host = host;
  names_[name] = issued.process;
  members_[issued.process] = std::move(member);
  return issued;
}

void CoordinatorActor::forget_oldest_dead() {
  if (members_.size() < kMembers) return;
  const auto dead = std::find_if(members_.begin(), members_.end(),
                                 [](const auto& m) { return m.second.state == State::dead; });
  if (dead == members_.end()) return;
  const auto name = names_.find(dead->second.identity.name);
  if (name != names_.end() && name->second == dead->first) names_.erase(name);
  members_.erase(dead);
}

Result<Bootstrap> CoordinatorActor::on(AddNode add) {
  STERNA_TRY(from_launcher());
  STERNA_ASSIGN(Bootstrap node, issue(ProcessKind::NODE, "node-" + add.host, add.host));
  node.uplink = contact_;
  node.network = add.network;
  node.log_directory = add.log_directory;
  node.environment = add.environment;
  Member& member = *find(node.process);
  member.network = std::move(add.network);
  member.log_directory = std::move(add.log_directory);
  member.environment = std::move(add.environment);
  process().links()->set_tree_peer(node.process);
  process().links()->admit(node.contact(machine_.keys().hash(node.credentials.token)));
  return node;
}

Task<Result<Started>> CoordinatorActor::on(StartActor start) {
  STERNA_CO_TRY(from_launcher());
  for (auto member = members_.begin(); start.host.empty() && member != members_.end(); ++member) {
    if (member->second.kind == ProcessKind::NODE) start.host = member->second.host;
  }
  if (comes_again(start.name)) co_return Error{Errc::already_exists, why_not(start.name)};
  const auto origin = origins_.find(start.name);
  if (origin != origins_.end() && origin->second.start.name.empty()) origin->second.start = start;
  Task<Result<Started>> starting = begin(std::move(start));
  co_return co_await std::move(starting);
}

Task<Result<Started>> CoordinatorActor::begin(StartActor start) {
  const Time deadline = now() + start.patience;
  STERNA_CO_ASSIGN(Bootstrap issued, issue(ProcessKind::ACTOR, start.name, start.host));
  const ProcessId process_id = issued.process;
  const auto failed = [&](Error error) {
    if (Member* member = find_live(process_id)) {
      ProcessDown down;
      down.cause = error.message;
      mark_dead(*member, down);
    }
    return error;
  };

  const std::string node_name = "node-" + start.host;
  const Member* node = co_await ready_member(node_name, deadline);
  if (node == nullptr || node->state != State::ready) {
    co_return failed({Errc::unavailable, start.name + " cannot start: " + why_not(node_name)});
  }
  issued.uplink = node->contact;
  issued.actor_type = start.type;
  issued.args = start.args;
  issued.args_are_json = start.args_are_json;
  issued.compute_threads = start.compute_threads;
  issued.network = node->network;
  issued.log_directory = node->log_directory;
  issued.environment = node->environment;
  issued.environment.insert(issued.environment.end(), start.environment.begin(),
                            start.environment.end());
  issued.memory_limit = start.memory_limit;
  find(process_id)->node = node->process;
  const ActorRef<Node> agent = agent_of<Node>(node->process);
  StartProcess order{std::move(issued)};
  const Result<Spawned> spawned = co_await ask(agent, std::move(order), kControlDeadline);
  if (!spawned) co_return failed(Error(spawned.error()).in(start.name + " cannot start"));

  const Member* own = co_await settled(process_id, deadline);
  if (own != nullptr && own->state == State::ready) {
    co_return Started{process_id, spawned->pid, own->actor};
  }
  if (own != nullptr && own->done && !stopping_) {
    // It had nothing to do but what it did as it started.
    co_return Started{process_id, spawned->pid, {}};
  }
  if (own != nullptr && own->state == State::dead) {
    co_return Error{Errc::actor_down, start.name + " did not start: " + own->cause};
  }
  const std::string late = "it was not ready in time";
  tell(agent, EndProcess{process_id, late, true});
  co_return failed({Errc::deadline, start.name + " did not start: " + late});
}

// ---- bringing processes together ----

Task<Result<void>> CoordinatorActor::order_admit(ProcessId who, Contact contact) {
  const Member* member = find_live(who);
  if (member == nullptr) co_return Error{Errc::actor_down, "it is dead"};
  Admit admit{who, std::move(contact)};
  if (member->kind == ProcessKind::LAUNCHER) {
    co_return co_await ask(agent_of<LauncherControl>(who), std::move(admit), kControlDeadline);
  }
  const ProcessId via = member->kind == ProcessKind::NODE ? who : member->node;
  co_return co_await ask(agent_of<Node>(via), std::move(admit), kControlDeadline);
}

Task<Result<void>> CoordinatorActor::order_dial(ProcessId who, Contact contact) {
  const Member* member = find_live(who);
  if (member == nullptr) co_return Error{Errc::actor_down, "it is dead"};
  Dial dial{who, std::move(contact)};
  if (member->kind == ProcessKind::LAUNCHER) {
    co_return co_await ask(agent_of<LauncherControl>(who), std::move(dial), kControlDeadline);
  }
  co_return co_await ask(agent_of<Node>(member->node), std::move(dial), kControlDeadline);
}

Task<Result<void>> CoordinatorActor::introduce(ProcessId lower, ProcessId higher) {
  // The one who is dialled must know the other's key before it knocks.
  STERNA_CO_TRY(order_admit(higher, find(lower)->contact));
  const Member* acceptor = find_live(higher);
  if (acceptor == nullptr) co_return Error{Errc::actor_down, "it died meanwhile"};
  co_return co_await order_dial(lower, acceptor->contact);
}

Task<Result<void>> CoordinatorActor::on(Connect connect) {
  const bool by_launcher = sender().process == kLauncherProcess;
  if (!by_launcher) {
    STERNA_CO_TRY(from_node());
  } else {
    connect.from = kLauncherProcess;
  }
  const Member* from = find_live(connect.from);
  const Member* to = find(connect.to);
  if (from == nullptr || to == nullptr || connect.from == connect.to) {
    co_return Error{Errc::not_found, "no such process"};
  }
  if (from->condemned || to->condemned) co_return Error{Errc::actor_down, "it is being ended"};
  const Time deadline = now() + kControlDeadline;
  const std::string to_name = to->identity.name;
  to = co_await settled(connect.to, deadline);
  if (to == nullptr || to->state != State::ready) {
    const bool dead = to != nullptr && to->state == State::dead;
    co_return Error{Errc::actor_down, dead ? to_name + " is dead: " + to->cause : why_not(to_name)};
  }
  from = co_await settled(connect.from, deadline);
  if (from == nullptr || from->state != State::ready) {
    co_return Error{Errc::actor_down, "the asker is not ready"};
  }
  // Both may ask at once: one introduction serves both.
  const bool first = from->identity.name < to->identity.name;
  const std::pair pair =
      first ? std::pair(connect.from, connect.to) : std::pair(connect.to, connect.from);
  while (introducing_.contains(pair)) {
    if (now() >= deadline) co_return Error{Errc::deadline, "the introduction takes too long"};
    // One whose asker has gone ends without a word.
    const Time look = std::min(deadline, now() + kLookAgain);
    co_await wait_for(changed_, process().timers(), look);
  }
  introducing_.insert(pair);
  struct Done {
    CoordinatorActor& self;
    std::pair<ProcessId, ProcessId> pair;
    ~Done() { self.introducing_.erase(pair); }
  };
  Result<void> result;
  {
    const Done done{*this, pair};
    result = co_await introduce(pair.first, pair.second);
  }
  changed_.notify_all();
  co_return result;
}

// ---- tests and tools ----

Result<void> CoordinatorActor::on(Publish publish) {
  STERNA_TRY(from_launcher());
  if (named(publish.name) != nullptr || !published_.emplace(publish.name, publish.actor).second) {
    return Error{Errc::already_exists, "the name " + publish.name + " is taken"};
  }
  return {};
}

Task<Result<PeerContact>> CoordinatorActor::on(AdmitExtra admit) {
  STERNA_CO_TRY(from_launcher());
  if (find({admit.extra.process}) != nullptr || names_.contains(admit.extra.identity.name)) {
    co_return Error{Errc::already_exists, "the extra peer's name or process id is taken"};
  }
  const Member* member = named(admit.name);
  if (member == nullptr || member->state != State::ready) {
    co_return Error{Errc::not_found, why_not(admit.name)};
  }
  const Contact contact = member->contact;
  STERNA_CO_TRY(order_admit(member->process, admit.extra));
  co_return PeerContact{contact};
}

Task<Result<Inspection>> CoordinatorActor::on(Inspect question) {
  STERNA_CO_TRY(from_visitor());
  if (question.process == process().id()) co_return inspect(*process().links());
  const Member* member = find_live(question.process);
  if (member == nullptr) co_return Error{Errc::not_found, "no such process"};
  const ProcessId via = member->kind == ProcessKind::NODE ? member->process : member->node;
  if (!via) co_return Error{Errc::not_found, "no node knows this process"};
  co_return co_await ask(agent_of<Node>(via), question, kControlDeadline);
}

}  // namespace sterna
