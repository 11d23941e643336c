#include "launcher/simulate/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "runtime/base/duration_text.h"
#include "runtime/base/random.h"

namespace sterna::launcher {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// More than any schedule has faults.
constexpr int kRestarts = 1000;
constexpr std::string_view kNode = "node-";

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  bool once_in(std::uint64_t times) { return below(times) == 0; }
  template <class List>
  const auto& one_of(const List& list) {
    return *std::next(std::begin(list), static_cast<std::ptrdiff_t>(below(std::size(list))));
  }
  Duration time(Duration most) {
    const auto steps = static_cast<std::uint64_t>(most / microseconds(100));
    return microseconds(100) * static_cast<std::int64_t>(below(steps + 1));
  }

 private:
  SeededRandom random_;
};

/// The cluster file of a scene; `job` gets what its bits depend on.
std::string draw_file(Drawer& draw, std::string& job) {
  const std::uint64_t workers = draw.between(1, 3);
  const std::uint64_t ranks = draw.between(1, 2);
  const std::uint64_t hosts = draw.between(1, 3);
  const std::array codecs = {"ternary", "ternary", "ternary", "none", "ternary_entropy", "bf16"};
  const std::array scalers = {"own", "shared", "mean"};
  const std::array optimizers = {"momentum", "adam"};
  const std::string codec = draw.one_of(codecs), scaler = draw.one_of(scalers);
  // Only sums of trits of one scaler may travel down.
  const bool trits = codec.starts_with("ternary"), sums = trits && scaler != "own";
  const char* down = draw.once_in(3) ? "parameters_bf16" : "parameters";
  if (trits && draw.once_in(4)) down = "ternary";
  if (sums && draw.once_in(2)) down = "average";
  job = fmt::format(
      "[job]\nnet = \"mlp\"\nhidden = [8]\nsteps = {}\nbatch = 2\nseed = {}\ncpu_isa = "
      "\"avx2\"\n\n[data]\nname = \"synthetic\"\nsize = 28\nchannels = 1\n\n[optimizer]\nname = "
      "\"{}\"\nlearning_rate = 0.01\n\n[gradient]\nmin_size = 1\ncodec = \"{}\"\nscaler = "
      "\"{}\"\ndown = \"{}\"\n\n[evaluator]\nevery = {}\nexamples = 8\nbatch = 8\n",
      draw.once_in(3) ? 12 : 30, draw.between(1, 2), draw.one_of(optimizers), codec, scaler, down,
      draw.once_in(2) ? 3 : 10);
  const std::array backoffs = {"1ms", "20ms", "200ms"};
  const std::string again =
      fmt::format("restart = {}\nwithin = \"{}\"\nbackoff = \"{}\"\n", kRestarts,
                  draw.once_in(4) ? "10m" : "500ms", draw.one_of(backoffs));
  std::string file = fmt::format(
      "format = 1\n\n[cluster]\nname = \"simulated\"\ntransport = \"tcp\"\nsecurity = "
      "\"none\"\nheartbeat = \"500ms\"\nsilence = \"{}\"\nlink_patience = \"{}\"\n\n",
      draw.once_in(2) ? "5s" : "2s", draw.once_in(2) ? "30s" : "4s");
  for (std::uint64_t i = 0; i < hosts; ++i) {
    file += fmt::format("[[host]]\nname = \"h{}\"\n\n", i);
  }
  file += fmt::format("[[actor]]\nrole = \"parameter_server\"\ncount = {}\n\n", draw.between(1, 2));
  file += fmt::format("[[actor]]\nrole = \"worker\"\ncount = {}\nranks = {}\n{}\n", workers, ranks,
                      again);
  file += fmt::format("[[actor]]\nrole = \"input_reader\"\ncount = {}\n{}\n", draw.between(1, 2),
                      again);
  file += fmt::format("[[actor]]\nrole = \"evaluator\"\n{}\n", again);
  file += job;
  job += fmt::format("ranks = {}\n", workers * ranks);
  return file;
}

/// Draws what goes wrong: often the same again, or something soon after the last, or at once.
class Scheduler {
 public:
  Scheduler(Drawer& draw, const Scene& scene) : draw_(draw), scene_(scene) {
    for (const ActorPlan& actor : scene.file.actors) {
      (actor.role == Role::kParameterServer ? servers_ : again_).push_back(actor.name);
      if (actor.role == Role::kWorker) workers_.push_back(actor.name);
    }
    for (const HostSection& host : scene.file.hosts) {
      nodes_.push_back(std::string(kNode) + host.name);
    }
  }

  std::vector<Fault> schedule() {
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
    return schedule;
  }

  /// One that does not come again.
  std::string draw_victim() {
    const std::uint64_t which = draw_.below(4);
    if (which == 0) return "coordinator";
    return which == 1 ? draw_.one_of(nodes_) : draw_.one_of(servers_);
  }

 private:
  Duration gap() {
    const std::uint64_t which = draw_.below(10);
    if (which < 3) return {};
    if (which < 6) return draw_.time(milliseconds(10));
    return draw_.time(which < 9 ? milliseconds(60) : milliseconds(500));
  }

  /// Often of the one who is struck; else of whom it talks with.
  FaultPoint draw_point(const Fault& fault) {
    const std::array workers = {"Push",      "Push",   "Pull",   "Offer",
                                "NextBatch", "Rejoin", "Rejoin", "WorkerDone"};
    const std::array servers = {"PushReply", "Parameters", "Agreed", "Rejoined", "Handover"};
    const std::array others = {"Evaluated", "Concluded",   "TakeOver", "Batch",
                               "Pull",      "JobFinished", "Release"};
    const std::array coordinators = {"Found", "ProcessRestarts", "StartProcess", "Admit", "Dial"};
    const std::array nodes = {"Ready", "Spawned", "ProcessDown", "Connect", "Find"};
    FaultPoint point;
    point.before = draw_.once_in(2);
    const std::uint64_t which = draw_.below(10);
    if (which < 5 && std::ranges::count(workers_, fault.who) > 0) {
      point.speaker = fault.who;
      point.message = draw_.one_of(workers);
    } else if (which < 6) {
      point.speaker = draw_.one_of(servers_);
      point.message = draw_.one_of(servers);
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
    const std::array rare = {"Rejoin",      "Rejoined",  "TakeOver",  "Handover", "WorkerDone",
                             "JobFinished", "Evaluated", "Concluded", "Release"};
    const bool few = std::ranges::count(rare, point.message) > 0 ||
                     point.speaker == "coordinator" || point.speaker.starts_with(kNode);
    point.count = 1 + draw_.below(few ? 6 : 80);
    return point;
  }

  /// What says itself what it is about.
  Fault draw_repeat() {
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

  Fault draw() {
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

  /// Two times of three a worker.
  const std::string& victim() { return draw_.once_in(3) ? draw_.one_of(again_) : worker(); }
  const std::string& worker() { return draw_.one_of(workers_); }

  /// Two that talk with each other. `tree`: maybe of those by which the run is held together.
  void choose_pair(Fault& fault, bool tree) {
    const std::uint64_t which = draw_.below(tree ? 10 : 7);
    if (which < 6) {
      fault.who = draw_.one_of(servers_);
      fault.other = draw_.once_in(5) ? "evaluator" : worker();
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

  Drawer& draw_;
  const Scene& scene_;
  std::vector<std::string> servers_;
  std::vector<std::string> workers_;
  std::vector<std::string> again_;  ///< who comes again
  std::vector<std::string> nodes_;
};

}  // namespace

Result<Scene> draw_scene(std::uint64_t seed) {
  Drawer draw(seed);
  Scene scene;
  scene.seed = seed;
  const std::string text = draw_file(draw, scene.job);
  STERNA_ASSIGN(scene.file, parse_cluster_file(text, fmt::format("seed {}", seed)));
  const std::array<Duration, 4> delays = {microseconds(100), milliseconds(1), milliseconds(4),
                                          milliseconds(15)};
  scene.longest_delay = draw.one_of(delays);
  scene.longest_job = draw.one_of(delays);
  Scheduler scheduler(draw, scene);
  scene.schedule = scheduler.schedule();
  if (draw.once_in(10)) {
    scene.ends_with = scheduler.draw_victim();
    const std::size_t place = draw.below(scene.schedule.size());
    scene.schedule[place] = {
        .kind = FaultKind::kill, .at = scene.schedule[place].at, .who = scene.ends_with};
  }
  return scene;
}

std::string describe(const Scene& scene) {
  const ClusterFile& file = scene.file;
  return fmt::format(
      "{} hosts, {} servers, {} readers, {} workers with {} ranks in all; {} steps, codec {}, "
      "scaler rule {}, down {}, evaluated every {}; messages take up to {}, jobs up to {}, silence "
      "{}, link_patience {}",
      file.hosts.size(), file.count(Role::kParameterServer), file.count(Role::kInputReader),
      file.count(Role::kWorker), file.ranks(), file.job.steps, file.gradient.codec,
      static_cast<int>(file.gradient.scaler), static_cast<int>(file.gradient.down),
      file.evaluation.every, duration_text(scene.longest_delay), duration_text(scene.longest_job),
      duration_text(file.cluster.silence), duration_text(file.cluster.link_patience));
}

}  // namespace sterna::launcher
