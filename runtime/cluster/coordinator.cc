// CoordinatorActor: the directory, issuing identities, and bringing processes together.
#include "runtime/cluster/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/actor/wait_for.h"
#include "runtime/message/packed_message.h"

namespace sterna {

namespace {
/// Names and causes of the dead are kept for those who ask later, but not all of them for ever.
constexpr std::size_t kMembers = 4096;
/// Of incarnations that others have followed fewer: somebody may still report of one.
constexpr std::ptrdiff_t kMostFollowed = 128;
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

Result<void> check_actor_name(const std::string& name) {
  if (!is_reserved_name(name)) return {};
  return Error{Errc::invalid_argument,
               "'" + name +
                   "' cannot name an actor: the run's own processes are called coordinator, "
                   "launcher and node-HOST; give it another name"};
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
    member.state = State::READY;
    member.contact = launcher;
    names_[launcher.identity.name] = member.process;
    members_[member.process] = std::move(member);
  }
  take_over();
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
  return member == nullptr || member->state == State::DEAD ? nullptr : member;
}

CoordinatorActor::Member* CoordinatorActor::named(const std::string& name) {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : find(found->second);
}

bool CoordinatorActor::is_newest(const Member& member) const {
  const auto found = names_.find(member.identity.name);
  return found != names_.end() && found->second == member.process;
}

// ---- the directory ----

Task<CoordinatorActor::Member*> CoordinatorActor::ready_member(std::string name, Time deadline) {
  while (true) {
    Member* member = named(name);
    const bool awaited = member == nullptr || member->state == State::STARTING ||
                         (member->state == State::DEAD && comes_again(name));
    if (!awaited || now() >= deadline || stopping_) co_return member;
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

Task<CoordinatorActor::Member*> CoordinatorActor::settled(ProcessId id, Time deadline) {
  while (true) {
    Member* member = find(id);
    if (member == nullptr || member->state != State::STARTING) co_return member;
    if (now() >= deadline || stopping_) co_return member;
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

std::string CoordinatorActor::why_not(const std::string& name) const {
  const auto found = names_.find(name);
  const auto member = found == names_.end() ? members_.end() : members_.find(found->second);
  if (member == members_.end()) return "nobody is called '" + name + "'";
  if (member->second.state == State::STARTING) return name + " is not ready yet";
  if (comes_again(name)) return name + " is being started again: " + member->second.cause;
  return name + " is dead: " + member->second.cause;
}

Task<Result<Found>> CoordinatorActor::on(Find find) {
  if (const auto own = published_.find(find.name); own != published_.end()) {
    co_return Found{own->second, 1};
  }
  const Member* member = co_await ready_member(find.name, now() + find.patience);
  if (member == nullptr) co_return Error{Errc::not_found, why_not(find.name)};
  if (member->state == State::DEAD && !comes_again(find.name)) {
    // Nobody fails for want of it before its death is known.
    Error dead{Errc::actor_down, why_not(find.name)};
    Task<void> kept = journaled();
    co_await kept;
    co_return dead;
  }
  if (member->state != State::READY) co_return Error{Errc::deadline, why_not(find.name)};
  co_return Found{member->actor, member->identity.incarnation};
}

Task<Result<void>> CoordinatorActor::on(Ready ready) {
  STERNA_CO_TRY(from_node());
  const ProcessId id{ready.contact.process};
  const Member* member = find(id);
  const bool own = member != nullptr && member->process == sender().process;
  const bool childs = member != nullptr && member->node == sender().process;
  if ((!own && !childs) || member->identity != ready.contact.identity) {
    process().blame_sender("it speaks for a process that is not its own");
    co_return Error{Errc::permission, "a node speaks for its own processes only"};
  }
  // Who has not heard the answer says it again.
  if (member->state == State::READY && member->actor == ready.actor) co_return Result<void>{};
  if (member->state != State::STARTING) {
    co_return Error{Errc::already_exists, member->identity.text() + " is not starting any more"};
  }
  Member known = *member;
  known.state = State::READY;
  known.contact = std::move(ready.contact);
  known.actor = ready.actor;
  note_member(known);
  // With its node a host that was given back is the run's again.
  if (own && drained_.erase(known.host) > 0) note("drained " + known.host, {});
  Task<void> kept = journaled();
  co_await kept;
  Member* now_ready = find(id);
  if (now_ready == nullptr || now_ready->state == State::DEAD) {
    co_return Error{Errc::already_exists, known.identity.text() + " is not starting any more"};
  }
  now_ready->state = State::READY;
  now_ready->leased = now();
  now_ready->contact = known.contact;
  now_ready->actor = known.actor;
  log(known.identity.text() + " is ready");
  if (drained_.contains(known.host)) empty_drained();
  changed_.notify_all();
  co_return Result<void>{};
}

// ---- issuing ----

Result<Bootstrap> CoordinatorActor::issue(ProcessKind kind, const std::string& name,
                                          const std::string& host) {
  STERNA_TRY(check_name(name));
  if (kind == ProcessKind::ACTOR) STERNA_TRY(check_actor_name(name));
  const Member* present = named(name);
  if (present != nullptr && present->state != State::DEAD) {
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
  if (kind != ProcessKind::NODE) issued.successors.clear();
  issued.host = host;
  ++next_process_;
  ++incarnations_[name];
  Member member;
  member.kind = kind;
  member.process = issued.process;
  member.identity = issued.identity;
  member.host = host;
  names_[name] = issued.process;
  note("name " + name, pack(NameNote{name, issued.identity.incarnation}));
  note_member(member);
  members_[issued.process] = std::move(member);
  return issued;
}

void CoordinatorActor::forget_oldest_dead() {
  const auto followed = [this](const auto& m) {
    return m.second.state == State::DEAD && !is_newest(m.second);
  };
  const bool many = std::ranges::count_if(members_, followed) >= kMostFollowed;
  if (!many && members_.size() < kMembers) return;
  const auto dead = std::ranges::find_if(
      members_, [&](const auto& m) { return many ? followed(m) : m.second.state == State::DEAD; });
  if (dead == members_.end()) return;
  const auto name = names_.find(dead->second.identity.name);
  if (name != names_.end() && name->second == dead->first) names_.erase(name);
  note_forgotten(dead->first);
  members_.erase(dead);
}

Task<Result<Bootstrap>> CoordinatorActor::on(AddNode add) {
  STERNA_CO_TRY(from_launcher());
  Result<Bootstrap> issued = issue(ProcessKind::NODE, node_name(add.host), add.host);
  if (!issued) co_return std::move(issued).error();
  Bootstrap node = std::move(issued).value();
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
  note_member(member);
  Task<void> kept = journaled();
  co_await kept;
  co_return node;
}

Task<Result<Started>> CoordinatorActor::on(StartActor start) {
  STERNA_CO_TRY(from_launcher());
  for (auto member = members_.begin(); start.host.empty() && member != members_.end(); ++member) {
    if (member->second.kind == ProcessKind::NODE) start.host = member->second.host;
  }
  if (std::exchange(start.again, false)) {
    Task<std::optional<Result<Started>>> waiting =
        started_before(start.name, now() + start.patience);
    std::optional<Result<Started>> before = co_await waiting;
    const bool misfit = before && before->ok() && start.interface_id != 0 &&
                        (*before)->actor.interface_id != start.interface_id;
    if (misfit && find_live((*before)->process) != nullptr) {
      co_return end_misfit((*before)->process, start.type);
    }
    if (before) co_return std::move(*before);
  }
  if (comes_again(start.name)) co_return Error{Errc::already_exists, why_not(start.name)};
  if (start.restart.times > 0 && start.bytes() > StartActor::kMostKept) {
    co_return Error{Errc::invalid_argument,
                    fmt::format("{} cannot be started: what it is started from, here and "
                                "elsewhere, takes {} bytes, and at most {} can be kept for its "
                                "restarts",
                                start.name, start.bytes(), StartActor::kMostKept)};
  }
  Task<Result<Started>> starting = begin(std::move(start));
  co_return co_await starting;
}

Task<std::optional<Result<Started>>> CoordinatorActor::started_before(std::string name,
                                                                      Time deadline) {
  Task<void> kept = journaled();
  co_await kept;
  while (const Member* known = named(name)) {
    const Started started{known->process, known->status.pid, known->actor};
    const bool dead = known->state == State::DEAD && !comes_again(name);
    if (known->state == State::READY || (dead && known->done && !stopping_)) co_return started;
    if (dead) co_return Error{Errc::actor_down, name + " did not start: " + known->cause};
    if (now() >= deadline || stopping_) {
      co_return Error{Errc::deadline, name + " did not start: it was not ready in time"};
    }
    co_await wait_for(changed_, process().timers(), deadline);
  }
  co_return std::nullopt;
}

Task<Result<Started>> CoordinatorActor::begin(StartActor start) {
  Task<void> alone = surely_gone(start.name);
  co_await alone;
  Time deadline = now() + start.patience;
  STERNA_CO_ASSIGN(Bootstrap issued, issue(ProcessKind::ACTOR, start.name, start.host));
  if (!comes_again(start.name)) take_in(start);
  note_origin(start.name);
  const ProcessId process_id = issued.process;
  const auto failed = [&](Error error) {
    if (Member* member = find_live(process_id)) {
      ProcessDown down;
      down.cause = error.message;
      mark_dead(*member, down);
    }
    return error;
  };

  const std::string its_node = node_name(start.host);
  const Member* node = co_await ready_member(its_node, deadline);
  if (node != nullptr) {
    const ProcessId id = node->process;
    Task<void> heard = resumed(id, deadline);
    co_await heard;
    node = find_live(id);
  }
  if (node == nullptr || node->state != State::READY) {
    co_return failed({Errc::unavailable, start.name + " cannot start: " + why_not(its_node)});
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
  const ActorRef<Node> agent = agent_of<Node>(node->process);
  const auto origin = origins_.find(start.name);
  const ProcessId kept_by = origin == origins_.end() ? ProcessId{} : origin->second.kept_by;
  if (kept_by != ProcessId{} && kept_by != agent.id.process) {
    Task<Result<void>> bringing = bring_kept(start.name, agent.id.process);
    const Result<void> brought = co_await bringing;
    if (find_live(process_id) == nullptr) {
      co_return Error{Errc::actor_down, start.name + " did not start: its node is gone"};
    }
    if (!brought) {
      origin->second.lost_here = kMostOnOneHost;  // better on another, such as where it was
      co_return failed(
          {brought.error().code, start.name + " cannot start: " + brought.error().message});
    }
    deadline = now() + start.patience;
  }
  if (origin != origins_.end() && kept_by != agent.id.process) {
    origin->second.kept_by = agent.id.process;
    note_origin(start.name);
  }
  {
    Member& member = *find(process_id);
    member.node = agent.id.process;
    note_member(member);
  }
  Task<void> kept = journaled();
  co_await kept;
  if (find_live(process_id) == nullptr) {
    co_return Error{Errc::actor_down, start.name + " did not start: its node is gone"};
  }
  Task<Result<Spawned>> ordering = order_start(agent, start.host, std::move(issued));
  const Result<Spawned> spawned = co_await ordering;
  // An order that nobody has answered may be carried out, or may yet be.
  const bool unknown =
      resuming_.contains(agent.id.process) || (!spawned && spawned.error().code == Errc::deadline);
  if (!spawned && unknown) {
    Task<void> ended = end_unknown(process_id);
    co_await ended;
  }
  if (!spawned) co_return failed(Error(spawned.error()).in(start.name + " cannot start"));

  Task<Member*> settling = settled(process_id, deadline);
  (void)co_await settling;
  kept = journaled();
  co_await kept;
  const Member* own = find(process_id);
  if (own != nullptr && own->state == State::READY) {
    if (kept_by != ProcessId{} && kept_by != agent.id.process && find_live(kept_by) != nullptr) {
      tell(agent_of<Node>(kept_by), ForgetKept{start.name});
    }
    if (start.interface_id != 0 && own->actor.interface_id != start.interface_id) {
      co_return end_misfit(process_id, start.type);
    }
    co_return Started{process_id, spawned->pid, own->actor};
  }
  if (own != nullptr && own->done && !stopping_) {
    // It had nothing to do but what it did as it started.
    co_return Started{process_id, spawned->pid, {}};
  }
  if (own != nullptr && own->state == State::DEAD) {
    co_return Error{Errc::actor_down, start.name + " did not start: " + own->cause};
  }
  const std::string late = "it was not ready in time";
  tell(agent, EndProcess{process_id, late, true});
  co_return failed({Errc::deadline, start.name + " did not start: " + late});
}

/// All at once they would find no room on the link: those of a host that is lost, say, on another.
Task<Result<Spawned>> CoordinatorActor::order_start(ActorRef<Node> node, std::string host,
                                                    Bootstrap issued) {
  const ProcessId id = issued.process;
  const std::uint64_t most = process().options().link.window[0] / 2;
  ByteWindow& orders = orders_.try_emplace(std::move(host), poster(), most).first->second;
  auto room = orders.take(pack(issued).size());
  const ByteWindow::Share share = co_await room;
  if (find_live(id) == nullptr) co_return Error{Errc::actor_down, "its node is gone"};
  StartProcess order{std::move(issued)};
  auto asked = ask(node, std::move(order), kControlDeadline);
  co_return co_await asked;
}

/// Nobody has its address, and the run goes on without it.
Error CoordinatorActor::end_misfit(ProcessId process, const std::string& type) {
  Member& member = *find(process);
  ProcessDown down;
  down.cause = "actors of type " + type + " have another interface than its starter asks for";
  down.wanted = true;
  Error error{Errc::invalid_argument, member.identity.name + " did not start: " + down.cause};
  tell(agent_of<Node>(member.node), EndProcess{process, down.cause, true});
  mark_dead(member, std::move(down));
  return error;
}

// ---- bringing processes together ----

ProcessId CoordinatorActor::node_of(const Member& member) {
  return member.kind == ProcessKind::NODE ? member.process : member.node;
}

Task<Result<void>> CoordinatorActor::order_admit(ProcessId who, Contact contact) {
  const Member* member = find_live(who);
  if (member == nullptr) co_return Error{Errc::actor_down, "it is dead"};
  Task<void> heard = resumed(node_of(*member), now() + kControlDeadline);
  co_await heard;
  member = find_live(who);
  if (member == nullptr) co_return Error{Errc::actor_down, "it is dead"};
  Admit admit{who, std::move(contact)};
  if (member->kind == ProcessKind::LAUNCHER) {
    auto asked = ask(agent_of<LauncherControl>(who), std::move(admit), kControlDeadline);
    co_return co_await asked;
  }
  const ProcessId via = member->kind == ProcessKind::NODE ? who : member->node;
  auto asked = ask(agent_of<Node>(via), std::move(admit), kControlDeadline);
  co_return co_await asked;
}

Task<Result<void>> CoordinatorActor::order_dial(ProcessId who, Contact contact) {
  const Member* member = find_live(who);
  if (member == nullptr) co_return Error{Errc::actor_down, "it is dead"};
  Task<void> heard = resumed(node_of(*member), now() + kControlDeadline);
  co_await heard;
  member = find_live(who);
  if (member == nullptr) co_return Error{Errc::actor_down, "it is dead"};
  Dial dial{who, std::move(contact)};
  if (member->kind == ProcessKind::LAUNCHER) {
    auto asked = ask(agent_of<LauncherControl>(who), std::move(dial), kControlDeadline);
    co_return co_await asked;
  }
  auto asked = ask(agent_of<Node>(member->node), std::move(dial), kControlDeadline);
  co_return co_await asked;
}

Task<Result<void>> CoordinatorActor::introduce(ProcessId lower, ProcessId higher) {
  // The one who is dialled must know the other's key before it knocks.
  const Member* dialler = find_live(lower);
  if (dialler == nullptr) co_return Error{Errc::actor_down, "it died meanwhile"};
  STERNA_CO_TRY(order_admit(higher, dialler->contact));
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
  if (to == nullptr || to->state != State::READY) {
    const bool dead = to != nullptr && to->state == State::DEAD;
    co_return Error{Errc::actor_down, dead ? to_name + " is dead: " + to->cause : why_not(to_name)};
  }
  from = co_await settled(connect.from, deadline);
  if (from == nullptr || from->state != State::READY) {
    co_return Error{Errc::actor_down, "the asker is not ready"};
  }
  // It may have died while the other settled.
  to = find_live(connect.to);
  if (to == nullptr) co_return Error{Errc::actor_down, why_not(to_name)};
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
  // An order is lost with the link on which it was under way, though nobody else is: then whoever
  // asked asks again.
  if (!result && result.error().code == Errc::actor_down && find_live(connect.from) != nullptr &&
      find_live(connect.to) != nullptr) {
    result = Error{Errc::deadline, result.error().message};
  }
  changed_.notify_all();
  // As with Find.
  if (!result) {
    Task<void> kept = journaled();
    co_await kept;
  }
  co_return result;
}

// ---- tests and tools ----

Task<Result<void>> CoordinatorActor::on(Publish publish) {
  STERNA_CO_TRY(from_launcher());
  STERNA_CO_TRY(check_name(publish.name));
  if (!publish.actor.id) {
    co_return Error{Errc::invalid_argument, "no actor was given for the name " + publish.name};
  }
  const auto known = published_.find(publish.name);
  const bool again =
      self_.identity.incarnation > 1 && known != published_.end() && known->second == publish.actor;
  if (named(publish.name) != nullptr || (known != published_.end() && !again)) {
    co_return Error{Errc::already_exists, "the name " + publish.name + " is taken"};
  }
  published_[publish.name] = publish.actor;
  note("published " + publish.name, pack(publish));
  Task<void> kept = journaled();
  co_await kept;
  co_return Result<void>{};
}

Task<Result<PeerContact>> CoordinatorActor::on(AdmitExtra admit) {
  STERNA_CO_TRY(from_launcher());
  if (find({admit.extra.process}) != nullptr || names_.contains(admit.extra.identity.name)) {
    co_return Error{Errc::already_exists, "the extra peer's name or process id is taken"};
  }
  const Member* member = named(admit.name);
  if (member == nullptr || member->state != State::READY) {
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
  auto asked = ask(agent_of<Node>(via), question, kControlDeadline);
  co_return co_await asked;
}

}  // namespace sterna
