#include "launcher/simulate/scheduler.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "launcher/simulate/scene_file.h"

namespace sterna::launcher {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// From the same step it may be lost three times.
constexpr std::uint64_t kMostEnds = 3;
constexpr std::string_view kNode = "node-";

}  // namespace

Scheduler::Scheduler(Drawer& draw, const Scene& scene) : draw_(draw), scene_(scene) {
  // Of two servers that hold the same mostly one is struck; where both are, nobody may have it.
  const std::uint64_t struck = draw.below(4);
  for (const ActorPlan& actor : scene.file.actors) {
    if (actor.role == Role::kWorker) workers_.push_back(actor.name);
    if (actor.role == Role::kParameterServer) {
      servers_.push_back(actor.name);
      if (actor.partner.empty()) alone_.push_back(actor.name);
      if (actor.partner.empty() || struck == (actor.replica ? 0 : 1)) continue;
    }
    again_.push_back(actor.name);
  }
  alone_come_again_ = scene.file.workers_hold_all();
  if (alone_come_again_ && !alone_.empty()) strike_alone();
  for (const HostSection& host : scene.file.hosts) {
    nodes_.push_back(std::string(kNode) + host.name);
  }
}

std::vector<Fault> Scheduler::schedule() {
  std::vector<Fault> schedule;
  const std::uint64_t count = draw_.between(6, 70);
  Duration at = draw_.time(milliseconds(60));
  while (schedule.size() < count) {
    Fault fault = schedule.empty() || !draw_.once_in(5) ? draw() : schedule.back();
    // Points and times are drawn apart: what strikes at which is a matter of chance.
    const bool repeats = fault.kind == FaultKind::repeat;
    if (!repeats) fault.point = draw_.once_in(3) ? draw_point(fault) : FaultPoint{};
    fault.at = fault.point.message.empty() ? at : Duration{};
    schedule.push_back(std::move(fault));
    at += gap();
  }
  if (draw_.once_in(4)) strike_first_connections(schedule);
  return schedule;
}

std::vector<Fault> Scheduler::isolations() {
  const HostSection& host = draw_.one_of(scene_.file.hosts);
  // (Workers move with what error feedback keeps, maybe there.)
  const bool stays = has_one_alone(host) || (keeps_residuals() && !does_without_);
  std::vector<Fault> faults;
  if (scene_.file.hosts.size() < 2) return faults;
  const std::array ways = {FaultKind::isolate, FaultKind::isolate, FaultKind::deafen,
                           FaultKind::mute};
  const Duration silence = scene_.file.cluster.silence;
  for (std::uint64_t left = draw_.between(1, 3); left > 0; --left) {
    Fault fault;
    fault.kind = draw_.one_of(ways);
    fault.who = host.name;
    fault.at = draw_.time(milliseconds(600));
    const bool for_long = !stays && !draw_.once_in(3);
    fault.lasts = for_long ? silence / 2 + draw_.time(3 * scene_.file.cluster.lease)
                           : microseconds(100) + draw_.time(milliseconds(400));
    faults.push_back(std::move(fault));
  }
  return faults;
}

std::vector<Fault> Scheduler::recalls() {
  const HostSection& host = draw_.one_of(scene_.file.hosts);
  std::vector<Fault> faults;
  const bool stays = has_one_alone(host) || (does_without_ && has_a_worker(host));
  if (scene_.file.hosts.size() < 2 || stays) return faults;
  // Told twice, it ends with all that is there.
  for (std::uint64_t left = keeps_residuals() ? 1 : draw_.between(1, 3); left > 0; --left) {
    Fault fault;
    fault.kind = FaultKind::recall;
    fault.who = host.name;
    fault.at = draw_.time(milliseconds(800));
    fault.lasts = milliseconds(1) + draw_.time(draw_.once_in(2) ? milliseconds(1500)
                                                                : 2 * scene_.file.cluster.silence);
    faults.push_back(std::move(fault));
  }
  // While what error feedback keeps is on its way.
  for (std::uint64_t left = keeps_residuals() ? draw_.between(1, 4) : 0; left > 0; --left) {
    const std::array said = {"ReadKept", "WriteKept", "WriteKept"};
    faults.push_back(strike_at(draw_.one_of(said), 2, std::string(kCoordinator)));
  }
  return faults;
}

std::vector<Fault> Scheduler::rarities() {
  std::vector<Fault> faults;
  const std::vector<std::string> pairs = servers_with_partners();
  const Duration patience = scene_.file.cluster.link_patience;
  const std::uint64_t which = draw_.below(3);
  if (which == 0 && !pairs.empty()) {
    strike_refilling(draw_.one_of(pairs), faults);
  } else if (which == 0 && strikes_alone_) {
    strike_recovering(draw_.one_of(alone_), faults);
  } else if (which == 1 && patience < std::chrono::seconds(10)) {
    Fault parted{.kind = FaultKind::part, .at = draw_.time(milliseconds(300))};
    choose_pair(parted, false);
    parted.lasts = patience + draw_.time(std::chrono::seconds(1));
    faults.push_back(parted);
    for (const std::string& node : nodes_) faults.push_back(strike_at("LinkReport", 1, node));
  } else {
    faults.push_back({.at = draw_.time(milliseconds(300)), .who = std::string(kCoordinator)});
    faults.push_back(strike_at("Resume", nodes_.size(), std::string(kCoordinator)));
  }
  return faults;
}

std::vector<Fault> Scheduler::lost_keeper() {
  if (scene_.file.hosts.size() < 2 || !keeps_residuals()) return {};
  std::vector<Fault> faults;
  const ActorPlan& lost = plan_of(worker());
  Duration at = draw_.time(milliseconds(200));
  for (int times = 0; times < 2; ++times) {
    faults.push_back({.at = at, .who = lost.name});
    at += milliseconds(20) + draw_.time(milliseconds(300));
  }
  const std::array said = {"ReadKept", "WriteKept", "StartProcess"};
  Fault keeper{.who = std::string(kNode) + lost.host};
  keeper.point = {.message = draw_.one_of(said),
                  .count = draw_.between(1, 3),
                  .speaker = std::string(kCoordinator),
                  .before = draw_.once_in(2)};
  if (draw_.once_in(2)) {
    keeper.point = {};
    keeper.at = at;
  }
  faults.push_back(std::move(keeper));
  return faults;
}

std::vector<Fault> Scheduler::disturbances() {
  std::vector<Fault> faults;
  const Duration silence = scene_.file.cluster.silence;
  for (std::uint64_t left = draw_.between(1, 6); left > 0; --left) {
    Fault fault;
    fault.kind = draw_.once_in(3) ? FaultKind::delay : FaultKind::drop;
    fault.who = draw_.once_in(3) ? draw_.one_of(again_) : worker();
    fault.at = draw_.time(milliseconds(600));
    if (fault.kind == FaultKind::delay) {
      fault.by = microseconds(100) + draw_.time(milliseconds(100));
    }
    fault.lasts = microseconds(100) + draw_.time(draw_.once_in(4) ? silence / 2 : milliseconds(60));
    faults.push_back(std::move(fault));
  }
  return faults;
}

void Scheduler::keep_checkpoints(Scene& scene) {
  actors::CheckpointSection& checkpoint = scene.file.checkpoint;
  checkpoint.every_steps = draw_.between(1, 10);
  checkpoint.restarts = kRestarts;
  for (std::uint64_t left = draw_.below(kMostEnds + 1); left > 0; --left) {
    const Fault fault{.at = draw_.time(milliseconds(1500)), .who = draw_victim()};
    scene.ends_with.push_back(fault.who);
    scene.schedule.push_back(fault);
  }
  for (std::uint64_t left = draw_.below(5); left > 0; --left) {
    Fault fault;
    fault.kind = draw_.once_in(2) ? FaultKind::unmount : FaultKind::tear;
    fault.who = draw_.once_in(3) ? kOwnerFiles : draw_.one_of(scene.file.hosts).name;
    fault.at = draw_.time(milliseconds(800));
    if (fault.kind == FaultKind::unmount) {
      fault.lasts = microseconds(100) + draw_.time(milliseconds(300));
    }
    scene.schedule.push_back(std::move(fault));
  }
}

std::string Scheduler::draw_victim() {
  const std::uint64_t which = draw_.below(4);
  const bool none_alone = alone_.empty() || alone_come_again_;
  return which <= 1 || none_alone ? draw_.one_of(nodes_) : draw_.one_of(alone_);
}

void Scheduler::strike_alone() {
  const std::uint64_t which = draw_.below(4);
  strikes_alone_ = which > 0;
  spares_workers_ = which == 1 || which == 2;
  if (spares_workers_) {
    std::erase_if(again_,
                  [&](const std::string& name) { return std::ranges::count(workers_, name) > 0; });
  }
  if (strikes_alone_) std::ranges::copy(alone_, std::back_inserter(again_));
}

bool Scheduler::has_one_alone(const HostSection& host) const {
  return std::ranges::any_of(scene_.file.actors, [&](const ActorPlan& actor) {
    return actor.host == host.name && std::ranges::count(alone_, actor.name) > 0;
  });
}

bool Scheduler::has_a_worker(const HostSection& host) const {
  return std::ranges::any_of(scene_.file.actors, [&](const ActorPlan& actor) {
    return actor.host == host.name && actor.role == Role::kWorker;
  });
}

bool Scheduler::keeps_residuals() const { return scene_.file.gradient.error_feedback; }

Duration Scheduler::gap() {
  const std::uint64_t which = draw_.below(10);
  if (which < 3) return {};
  if (which < 6) return draw_.time(milliseconds(10));
  return draw_.time(which < 9 ? milliseconds(60) : milliseconds(500));
}

std::vector<std::string> Scheduler::servers_with_partners() const {
  std::vector<std::string> found;
  for (const std::string& server : servers_) {
    const bool alone = std::ranges::count(alone_, server) > 0;
    if (!alone && std::ranges::count(again_, server) > 0) found.push_back(server);
  }
  return found;
}

bool Scheduler::ordered() const { return scene_.apart && alone_.empty(); }

const ActorPlan& Scheduler::plan_of(const std::string& name) const {
  return *std::ranges::find(scene_.file.actors, name, &ActorPlan::name);
}

void Scheduler::strike_refilling(const std::string& server, std::vector<Fault>& faults) {
  faults.push_back({.at = draw_.time(milliseconds(300)), .who = server});
  struct Said {
    const char* message;
    bool by_partner;
    std::uint64_t most;
  };
  const std::array said = {Said{"Enlist", false, 4},   Said{"CopyBoard", false, 1},
                           Said{"BoardCopy", true, 1}, Said{"CopyChunk", false, 4},
                           Said{"ChunkCopy", true, 4}, Said{"ActorWhole", false, 1}};
  for (std::uint64_t left = draw_.between(1, 3); left > 0; --left) {
    const Said& one = draw_.one_of(said);
    Fault fault =
        strike_at(one.message, one.most, one.by_partner ? plan_of(server).partner : server);
    if (draw_.once_in(2)) fault.who = server;
    faults.push_back(std::move(fault));
  }
}

void Scheduler::strike_recovering(const std::string& server, std::vector<Fault>& faults) {
  Duration at = draw_.time(milliseconds(300));
  if (draw_.once_in(2)) {  // a version that not all workers have got
    faults.push_back({.kind = FaultKind::cut, .at = at, .who = server, .other = worker()});
    at += draw_.time(2 * scene_.longest_delay);
  }
  faults.push_back({.at = at, .who = server});
  const std::array servers = {"ShowHeld", "CopyChunk", "TakeOver", "ActorWhole"};
  const std::array workers = {"Held", "ChunkCopy"};
  for (std::uint64_t left = draw_.between(1, 3); left > 0; --left) {
    const bool answer = draw_.once_in(3);
    Fault fault = answer ? strike_at(draw_.one_of(workers), 2, worker())
                         : strike_at(draw_.one_of(servers), 3, server);
    if (draw_.once_in(2)) fault.who = server;
    faults.push_back(std::move(fault));
  }
}

Fault Scheduler::strike_at(const char* message, std::uint64_t most, const std::string& speaker) {
  Fault fault;
  if (draw_.once_in(3)) {
    fault.kind = FaultKind::cut;
    choose_pair(fault, true);
  } else {
    fault.who = victim();
  }
  fault.point = {.message = message,
                 .count = draw_.between(1, most),
                 .speaker = speaker,
                 .before = draw_.once_in(2)};
  return fault;
}

void Scheduler::strike_first_connections(std::vector<Fault>& schedule) {
  for (std::uint64_t left = draw_.between(1, 3); left > 0; --left) {
    Fault fault;
    fault.kind = FaultKind::cut;
    choose_pair(fault, false);
    fault.at = draw_.time(6 * scene_.longest_delay);
    schedule.push_back(std::move(fault));
  }
}

FaultPoint Scheduler::draw_point(const Fault& fault) {
  const std::array workers = {"Push",   "Push",   "Pull",       "Offer",   "NextBatch",
                              "Rejoin", "Rejoin", "WorkerDone", "Enlisted"};
  const std::array servers = {"PushReply", "Parameters", ordered() ? "Forward" : "Agreed",
                              "Rejoined", "Handover"};
  const std::array refilling = {"Enlist",    "CopyBoard", "CopyChunk",
                                "BoardCopy", "ChunkCopy", "ActorWhole"};
  const std::array recovering = {"ShowHeld", "ShowHeld", "CopyChunk", "ActorWhole"};
  const std::array holders = {"Held", "Held", "Held", "ChunkCopy"};
  const std::array others = {"Evaluated", "Concluded",   "TakeOver", "Batch",
                             "Pull",      "JobFinished", "Release"};
  const std::array coordinators = {
      "Found", "ProcessRestarts", "StartProcess", "Admit", "Dial", "Note", "Note", "Resume"};
  const std::array nodes = {"Ready", "Spawned", "ProcessDown", "Connect", "Find", "LinkReport"};
  FaultPoint point;
  point.before = draw_.once_in(2);
  const std::uint64_t which = draw_.below(10);
  if (which < 5 && fault.who == kCoordinator) {
    point.speaker = kCoordinator;
    point.message = draw_.one_of(coordinators);
  } else if (which < 5 && std::ranges::count(workers_, fault.who) > 0) {
    point.speaker = fault.who;
    point.message = draw_.one_of(workers);
  } else if (which < 6 && strikes_alone_ && draw_.once_in(2)) {
    const bool answer = draw_.once_in(2);
    point.speaker = answer ? worker() : draw_.one_of(alone_);
    point.message = draw_.one_of(answer ? holders : recovering);
  } else if (which < 6) {
    point.speaker = draw_.one_of(servers_);
    point.message = draw_.one_of(servers);
    if (alone_.empty() && draw_.once_in(2)) point.message = draw_.one_of(refilling);
    if (ordered() && draw_.once_in(2)) point.message = "Forward";
  } else if (which < 7 && ordered()) {
    point.speaker = draw_.one_of(servers_);
    point.message = "Forward";
  } else if (which < 7) {
    point.speaker = "coordinator";
    point.message = draw_.one_of(coordinators);
  } else if (which < 8) {
    point.speaker = draw_.one_of(nodes_);
    point.message = draw_.one_of(nodes);
  } else {
    point.speaker = draw_.one_of(again_);
    point.message = std::ranges::count(workers_, point.speaker) > 0 ? draw_.one_of(workers)
                                                                    : draw_.one_of(others);
  }
  const std::array rare = {"Rejoin",     "Rejoined",    "TakeOver",  "Handover",
                           "WorkerDone", "JobFinished", "Evaluated", "Concluded",
                           "Release",    "Enlisted",    "ShowHeld",  "Held"};
  const bool few = std::ranges::count(rare, point.message) > 0 ||
                   std::ranges::count(refilling, point.message) > 0 ||
                   point.speaker == "coordinator" || point.speaker.starts_with(kNode);
  point.count = 1 + draw_.below(few ? 6 : 80);
  return point;
}

Fault Scheduler::draw_repeat() {
  const std::array asks = {"Push", "Pull", "Offer", "NextBatch", "Rejoin"};
  Fault fault;
  fault.kind = FaultKind::repeat;
  fault.who = worker();
  fault.point = {.message = draw_.one_of(asks),
                 .count = 1 + draw_.below(80),
                 .speaker = fault.who,
                 .before = true};
  return fault;
}

Fault Scheduler::draw() {
  Fault fault;
  const std::uint64_t which = draw_.below(22);
  if (which >= 20) return draw_repeat();
  if (which < 9) {
    fault.kind = FaultKind::kill;
    fault.who = victim();
  } else if (which < 12) {
    fault.kind = FaultKind::freeze;
    fault.who = victim();
    const Duration silence = scene_.file.cluster.silence;
    const std::uint64_t long_it_is = draw_.below(8);
    fault.lasts = long_it_is == 0   ? silence + draw_.time(silence)
                  : long_it_is == 1 ? draw_.time(silence)
                                    : draw_.time(silence / 4);
  } else if (which < 17) {
    fault.kind = FaultKind::cut;
    choose_pair(fault, true);
    if (draw_.once_in(3)) fault.lasts = draw_.time(milliseconds(400));
  } else {
    fault.kind = which < 18 ? FaultKind::part : FaultKind::stall;
    choose_pair(fault, false);
    fault.lasts = draw_.time(scene_.file.cluster.silence / 4);
  }
  // A schedule says how long what lasts does.
  if (fault.kind != FaultKind::kill && fault.kind != FaultKind::cut) {
    fault.lasts = std::max<Duration>(fault.lasts, microseconds(100));
  }
  return fault;
}

std::string Scheduler::victim() {
  if (draw_.once_in(10)) return std::string(kCoordinator);
  if (spares_workers_) return draw_.one_of(draw_.once_in(2) ? again_ : alone_);
  return draw_.once_in(3) ? draw_.one_of(again_) : worker();
}

const std::string& Scheduler::worker() { return draw_.one_of(workers_); }

void Scheduler::choose_pair(Fault& fault, bool tree) {
  const std::uint64_t which = draw_.below(tree ? 10 : 7);
  if (which < 6) {
    fault.who = draw_.one_of(servers_);
    fault.other = draw_.once_in(5) ? scene_.file.names_of(Role::kEvaluator).front() : worker();
    if (ordered() && draw_.once_in(3)) fault.other = plan_of(fault.who).partner;
  } else if (which < 7) {
    fault.who = draw_.one_of(scene_.file.names_of(Role::kInputReader));
    fault.other = worker();
  } else if (which < 8) {
    fault.who = "launcher";
    fault.other = draw_.once_in(2) ? "coordinator" : draw_.one_of(again_);
  } else if (which < 9) {
    fault.who = "coordinator";
    fault.other = draw_.one_of(nodes_);
  } else {
    const ActorPlan& actor = draw_.one_of(scene_.file.actors);
    fault.who = actor.name;
    fault.other = std::string(kNode) + actor.host;
  }
  if (draw_.once_in(2)) std::swap(fault.who, fault.other);
}

std::vector<Fault> Scheduler::fullness() {
  std::vector<Fault> faults;
  for (std::uint64_t left = draw_.between(1, 3); left > 0; --left) {
    faults.push_back({.kind = FaultKind::fill,
                      .at = draw_.time(milliseconds(800)),
                      .who = draw_.once_in(3) ? kOwnerFiles : draw_.one_of(scene_.file.hosts).name,
                      .lasts = microseconds(100) + draw_.time(milliseconds(300))});
  }
  return faults;
}

std::vector<Fault> Scheduler::slowness() {
  std::vector<Fault> faults;
  const bool keeps = scene_.file.checkpoint.on();
  for (std::uint64_t left = draw_.between(1, 4); left > 0; --left) {
    Fault fault;
    fault.kind = FaultKind::slow;
    fault.who = keeps && draw_.once_in(3) ? kOwnerFiles : draw_.one_of(scene_.file.hosts).name;
    fault.at = draw_.time(milliseconds(800));
    fault.by = microseconds(100) + draw_.time(milliseconds(100));
    fault.lasts = microseconds(100) + draw_.time(milliseconds(400));
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace sterna::launcher
