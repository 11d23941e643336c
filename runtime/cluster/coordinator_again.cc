// CoordinatorActor: what it has its owner keep, and how its next incarnation goes on from that. All
// that the owner keeps was kept before anything followed from it; so what is in there is taken for
// told, and told again, and what is not, for never begun.
#include <algorithm>
#include <vector>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/message/packed_message.h"

namespace sterna {

namespace {

/// A node that lives can be dialled at once, and again in the next two heartbeats.
constexpr int kMostDials = 4;
/// Who dials us himself does so within that.
constexpr int kHeartbeatsToDial = 2;
constexpr Duration kLaneOpens = std::chrono::milliseconds(5);
/// Who has not heard of one for so much longer than it is dialled has given it up by now.
constexpr Duration kDeathsAreNews = std::chrono::seconds(30);

constexpr std::string_view kStart = "start ";

std::string member_key(ProcessId process) { return "member " + std::to_string(process.value); }

}  // namespace

// ---- noting ----

/// Leaves with all others that belong together, in journaled().
void CoordinatorActor::note(std::string key, Bytes value) {
  unsaid_.push_back({std::move(key), std::move(value)});
}

Task<void> CoordinatorActor::noting(Note note) {
  const std::uint64_t number = note.number;
  for (bool told = false;; told = true) {
    Future<void> answer =
        ask(agent_of<LauncherControl>(kLauncherProcess), Note(note), kControlDeadline);
    const Result<void> kept = co_await answer;
    if (kept) break;
    const Error& error = kept.error();
    // Without its owner it ends, and all else with it.
    if (error.code == Errc::actor_down || error.code == Errc::cancelled) co_return;
    const std::string line = "what the run's owner is to keep did not reach it: " + error.message;
    // Everything would wait for it, for ever.
    if (!may_yet_be_answered(error.code)) {
      fail(line);
      co_return;
    }
    if (!told) log(line + "; trying again");
    co_await sleep(kAskAgain);
  }
  unkept_.erase(number);
  kept_more_.notify_all();
}

std::uint64_t CoordinatorActor::journal() {
  if (unsaid_.empty()) return noted_;
  unkept_.insert(++noted_);
  run(noting({std::exchange(unsaid_, {}), noted_}));
  return noted_;
}

Task<void> CoordinatorActor::journaled() {
  const std::uint64_t mine = journal();
  while (!is_kept(mine)) co_await kept_more_.wait();
}

void CoordinatorActor::note_member(const Member& member) {
  MemberNote known;
  known.kind = member.kind;
  known.node = member.node;
  known.network = member.network;
  known.log_directory = member.log_directory;
  known.environment = member.environment;
  known.state = member.state;
  known.contact = member.contact;
  known.actor = member.actor;
  known.condemned = member.condemned;
  known.at_fault = member.at_fault;
  known.cause = member.cause;
  known.down = member.down;
  known.down.process = member.process;
  known.down.identity = member.identity;
  known.down.host = member.host;
  known.died = Duration(member.died.ns);
  note(member_key(member.process), pack(known));
}

void CoordinatorActor::note_forgotten(ProcessId process) { note(member_key(process), {}); }

/// By itself, as it may be as large as a message can be; and once, whatever comes of it. Before its
/// node has the order nothing follows from it.
void CoordinatorActor::note_start(const StartActor& start) {
  journal();
  note(std::string(kStart) + start.name, pack(start));
  journal();
}

void CoordinatorActor::note_origin(const std::string& name) {
  const auto found = origins_.find(name);
  if (found == origins_.end() || stopping_) return;
  const Origin& origin = found->second;
  OriginNote known;
  known.name = name;
  known.hosts = {origin.start.host};
  for (const ActorPlace& place : origin.start.elsewhere) known.hosts.push_back(place.host);
  known.lost_here = origin.lost_here;
  known.under_way = origin.under_way;
  known.ordered_away = origin.ordered_away;
  known.kept_by = origin.kept_by;
  for (const Origin::Restart& one : origin.restarts) {
    known.restarts.push_back({Duration(one.at.ns), one.cause});
  }
  note("origin " + name, pack(known));
}

/// Until its node has heard of this incarnation: before, what is said to it may be lost with a
/// link.
Task<void> CoordinatorActor::resumed(ProcessId node, Time deadline) {
  while (resuming_.contains(node) && now() < deadline) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

// ---- taking over ----

void CoordinatorActor::take_over() {
  std::vector<const JournalEntry*> entries;
  for (const JournalPage& page : self_.journal) {
    for (const JournalEntry& entry : page.entries) entries.push_back(&entry);
  }
  // From what an actor was started, before how it stands with it.
  std::stable_partition(entries.begin(), entries.end(),
                        [](const JournalEntry* one) { return one->key.starts_with(kStart); });
  for (const JournalEntry* entry : entries) {
    if (const Result<void> known = recover(*entry); !known) {
      machine_.log("the journal's " + entry->key + ": " + known.error().message);
    }
  }
  self_.journal.clear();
}

Result<void> CoordinatorActor::recover(const JournalEntry& entry) {
  const std::string kind = entry.key.substr(0, entry.key.find(' '));
  const ByteView value = entry.value.view();
  if (kind == "member") {
    STERNA_ASSIGN(MemberNote note, unpack<MemberNote>(value));
    recover_member(std::move(note));
  } else if (kind == "start") {
    STERNA_ASSIGN(StartActor start, unpack<StartActor>(value));
    origins_[start.name].start = std::move(start);
  } else if (kind == "origin") {
    STERNA_ASSIGN(OriginNote note, unpack<OriginNote>(value));
    Origin& origin = origins_[note.name];
    arrange(origin.start, note.hosts);
    origin.lost_here = note.lost_here;
    origin.under_way = note.under_way;
    origin.ordered_away = note.ordered_away;
    origin.kept_by = note.kept_by;
    for (PastRestart& one : note.restarts) {
      origin.restarts.push_back({Time{one.at.count()}, std::move(one.cause)});
    }
  } else if (kind == "name") {
    STERNA_ASSIGN(const NameNote note, unpack<NameNote>(value));
    incarnations_[note.name] = note.incarnation;
  } else if (kind == "published") {
    STERNA_ASSIGN(const Publish note, unpack<Publish>(value));
    published_[note.name] = note.actor;
  } else if (kind == "drained") {
    STERNA_ASSIGN(const Drain note, unpack<Drain>(value));
    drained_.insert(note.host);
  }
  return {};
}

void CoordinatorActor::recover_member(MemberNote note) {
  Member member;
  member.kind = note.kind;
  member.process = note.down.process;
  member.identity = note.down.identity;
  member.node = note.node;
  member.host = note.down.host;
  member.network = std::move(note.network);
  member.log_directory = std::move(note.log_directory);
  member.environment = std::move(note.environment);
  member.state = note.state;
  member.contact = std::move(note.contact);
  member.actor = note.actor;
  member.condemned = note.condemned;
  member.at_fault = note.at_fault;
  member.cause = std::move(note.cause);
  member.done = note.state == State::DEAD && note.down.wanted;
  member.down = std::move(note.down);
  member.died = Time{note.died.count()};
  member.leased = member.died;
  next_process_ = std::max(next_process_, member.process.value + 1);
  // Ids are issued in their order.
  ProcessId& latest = names_[member.identity.name];
  latest = std::max(latest, member.process);
  members_[member.process] = std::move(member);
}

/// Of one that was told where else it may be: where it is by now, and what is left elsewhere.
void CoordinatorActor::arrange(StartActor& start, const std::vector<std::string>& hosts) {
  if (hosts.empty()) return;
  const auto here = std::ranges::find(start.elsewhere, hosts.front(), &ActorPlace::host);
  if (here != start.elsewhere.end()) take_place(start, *here);
  std::ranges::stable_sort(start.elsewhere, {}, [&](const ActorPlace& place) {
    return std::ranges::find(hosts, place.host) - hosts.begin();
  });
}

/// With a loop to wait in.
void CoordinatorActor::go_on() {
  if (self_.identity.incarnation <= 1) return;
  log("going on where the one before was lost");
  tell_deaths_again(agent_of<LauncherControl>(kLauncherProcess));
  std::vector<ProcessId> condemned;
  std::vector<ProcessId> uncertain;  // nodes that were being started
  std::vector<ProcessId> begun;      // actors whose first start was under way
  for (auto& [id, member] : members_) {
    if (member.state == State::DEAD || member.kind == ProcessKind::LAUNCHER) continue;
    if (member.kind == ProcessKind::NODE && member.state == State::STARTING) {
      uncertain.push_back(id);
    } else if (member.kind == ProcessKind::NODE) {
      member.leased = now();
      process().links()->set_tree_peer(id);
      resuming_.insert(id);
    } else if (member.condemned) {
      condemned.push_back(id);
    } else if (member.state == State::STARTING && !comes_again(member.identity.name)) {
      begun.push_back(id);
    }
  }
  const std::set<ProcessId> to_resume = resuming_;
  for (const ProcessId node : to_resume) run(resuming(node, true));
  for (const ProcessId node : uncertain) {
    ProcessDown down;
    down.cause = kStartUnknown;
    down.wanted = true;
    mark_dead(*find(node), std::move(down));
  }
  std::vector<std::string> to_come;  // by now; whom we find dead below begins anew
  for (const auto& [name, origin] : origins_) {
    if (origin.under_way) to_come.push_back(name);
  }
  for (auto& [id, member] : members_) {
    const Member* node = find(member.node);
    const bool left_alone = member.kind == ProcessKind::ACTOR && member.state != State::DEAD &&
                            node != nullptr && node->state == State::DEAD;
    if (!left_alone) continue;
    ProcessDown down;
    down.cause = node->identity.name + " is gone: " + node->cause;
    down.consequence = true;
    mark_dead(member, std::move(down));
  }
  for (const ProcessId id : condemned) run(condemning_on(id));
  for (const ProcessId id : begun) run(starting_on(id));
  for (const std::string& name : to_come) run(restarting_on(name));
  empty_drained();
}

template <class I>
void CoordinatorActor::tell_deaths_again(ActorRef<I> to) {
  const Duration news = self_.link_patience + kDeathsAreNews;
  for (const auto& [id, member] : members_) {
    if (member.state != State::DEAD || now() - member.died > news) continue;
    const std::string& name = member.identity.name;
    const bool followed = names_.at(name) != id || comes_again(name);
    if (followed) {
      const auto origin = origins_.find(name);
      tell(to, ProcessRestarts{member.down,
                               origin == origins_.end() ? member.host : origin->second.start.host});
    } else {
      tell(to, member.down);
    }
  }
}

/// Links with a node again and has it say again what nobody may have heard. `dials`: it has not
/// been told where we are; else it does.
Task<void> CoordinatorActor::resuming(ProcessId id, bool dials) {
  Links& links = *process().links();
  Result<void> heard;
  for (int attempt = 1;; ++attempt) {
    const Member* node = find_live(id);
    if (node == nullptr || stopping_) break;
    links.admit(node->contact);
    if (dials) links.dial(node->contact);
    Resume resume{contact_, self_.successors};
    const Duration patience =
        dials ? 2 * self_.silence + kControlDeadline : kHeartbeatsToDial * self_.heartbeat;
    Future<void> answer = ask(agent_of<Node>(id), std::move(resume), patience);
    heard = co_await answer;
    // A link that is lost before both its lanes are open is not dialled again by itself.
    while (heard && links.identity_of(id) != nullptr && !links.connected(id)) {
      co_await sleep(kLaneOpens);
    }
    if (heard && links.connected(id)) break;
    if (heard) {
      heard = Error{Errc::actor_down, "the link to it was lost"};
      attempt = 0;  // it lives
    }
    const bool silent = heard.error().code == Errc::deadline ||
                        heard.error().message.ends_with(kSilence) ||
                        heard.error().message.ends_with(kNoAnswer);
    if (silent || attempt >= kMostDials) break;
    co_await sleep(self_.heartbeat / 2);
  }
  resuming_.erase(id);
  resumed_at_ = now();
  changed_.notify_all();
  Member* node = find_live(id);
  if (node == nullptr || stopping_) co_return;
  node->leased = std::max(node->leased, links.last_open(id));
  if (!heard) {
    ProcessDown down;
    down.cause = heard.error().message;
    mark_dead(*node, std::move(down));
    co_return;
  }
  tell_deaths_again(agent_of<Node>(id));
}

/// An actor's first start was under way. Where its node has it, it will be ready. Else it never
/// was, and has no incarnation: others take a second one for one that comes again.
Task<void> CoordinatorActor::starting_on(ProcessId id) {
  const Member* begun = find_live(id);
  if (begun == nullptr) co_return;
  const ProcessId node = begun->node;
  Result<Sought> there = Sought{};
  while (find_live(node) != nullptr && !stopping_) {
    Task<void> heard = resumed(node, kNever);
    co_await heard;
    Future<Sought> answer = ask(agent_of<Node>(node), SeekProcess{id}, kControlDeadline);
    there = co_await answer;
    if (there) break;
    co_await sleep(self_.heartbeat / 2);
  }
  Member* own = find_live(id);
  if (own == nullptr || own->state != State::STARTING || stopping_) co_return;
  if (there && there->began) {
    own->status.pid = there->pid;
    co_return;
  }
  const std::string name = own->identity.name;
  names_.erase(name);
  --incarnations_[name];
  members_.erase(id);
  note("name " + name, pack(NameNote{name, incarnations_[name]}));
  note_forgotten(id);
  changed_.notify_all();
}

/// Until it has ended, if it ever was.
Task<void> CoordinatorActor::end_unknown(ProcessId id) {
  Task<bool> ending = order_end(id, std::string(kStartUnknown), true);
  const bool was_there = co_await ending;
  if (was_there) {
    Task<Member*> ended = settled(id, kNever);
    (void)co_await ended;
  }
  Member* unknown = find_live(id);
  if (unknown == nullptr || stopping_) co_return;
  ProcessDown down;
  down.cause = kStartUnknown;
  mark_dead(*unknown, std::move(down));
}

/// The next incarnation of an actor was to come. Where it had been issued, nobody knows whether it
/// was started: it is ended, and yet another one is.
Task<void> CoordinatorActor::restarting_on(std::string name) {
  Origin& origin = origins_.at(name);
  Member* last = named(name);
  if (last != nullptr && last->state == State::READY) {
    origin.under_way = false;
    note_origin(name);
    changed_.notify_all();
    co_return;
  }
  if (last != nullptr && last->state == State::STARTING) {
    Task<void> ended = end_unknown(last->process);
    co_await ended;
    if (!origin.under_way) co_return;
  }
  Task<void> next = restarting(std::move(name));
  co_await next;
}

Task<void> CoordinatorActor::condemning_on(ProcessId id) {
  const Member* member = find_live(id);
  if (member == nullptr) co_return;
  Task<bool> ending = order_end(id, member->cause, member->at_fault);
  (void)co_await ending;
}

}  // namespace sterna
