#include "launcher/simulate/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "launcher/simulate/drawer.h"
#include "launcher/simulate/scene_file.h"
#include "launcher/simulate/scheduler.h"
#include "runtime/base/duration_text.h"

namespace sterna::launcher {

namespace {

/// Of so many seeds one is a job whose ranks do not go in step.
constexpr std::uint64_t kApart = 8;
constexpr std::uint64_t kCheckpointsApart = 0x636865636b;
constexpr std::uint64_t kStartsApart = 0x7374617274;
constexpr std::uint64_t kFeedbackApart = 0x66656564;
constexpr std::uint64_t kLastStepApart = 0x6c617374;
constexpr std::uint64_t kKeeperApart = 0x6b656570;
constexpr std::uint64_t kSlowApart = 0x736c6f77;
constexpr std::uint64_t kFullApart = 0x66756c6c;

/// Where the codec leaves anything.
void feed_back(std::string& text) {
  constexpr std::string_view kTable = "[gradient]\n";
  const std::size_t table = text.find(kTable);
  if (table == std::string::npos || text.find("codec = \"none\"") != std::string::npos) return;
  text.insert(table + kTable.size(), "error_feedback = true\n");
}

/// Where there are any.
void take_last_scalers(std::string& text) {
  constexpr std::string_view kKey = "\nscaler = \"";
  const std::size_t key = text.find(kKey);
  if (key == std::string::npos || text.find("codec = \"ternary") == std::string::npos) return;
  const std::size_t value = key + kKey.size();
  text.replace(value, text.find('"', value) - value, "last_step");
}

}  // namespace

Result<Scene> draw_scene(std::uint64_t seed) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  Scene scene;
  scene.seed = seed;
  scene.apart = seed % kApart == 0;
  Drawer draw(seed);
  std::string text = scene.apart ? draw_file_apart(draw) : draw_file(draw, scene.job);
  if (!scene.apart && Drawer(seed ^ kFeedbackApart).once_in(4)) {
    feed_back(text);
    feed_back(scene.job);
  }
  if (!scene.apart && Drawer(seed ^ kLastStepApart).once_in(6)) {
    take_last_scalers(text);
    take_last_scalers(scene.job);
  }
  STERNA_ASSIGN(scene.file, parse_cluster_file(text, fmt::format("seed {}", seed)));
  const std::array<Duration, 4> delays = {microseconds(100), milliseconds(1), milliseconds(4),
                                          milliseconds(15)};
  scene.longest_delay = draw.one_of(delays);
  scene.longest_job = draw.one_of(delays);
  Scheduler scheduler(draw, scene);
  scene.schedule = scheduler.schedule();
  if (draw.once_in(10)) {
    scene.ends_with.push_back(scheduler.draw_victim());
    const std::size_t place = draw.below(scene.schedule.size());
    scene.schedule[place] = {
        .kind = FaultKind::kill, .at = scene.schedule[place].at, .who = scene.ends_with.back()};
  } else if (draw.once_in(6)) {
    std::ranges::copy(scheduler.isolations(), std::back_inserter(scene.schedule));
  } else if (draw.once_in(3)) {
    std::ranges::copy(scheduler.rarities(), std::back_inserter(scene.schedule));
  } else if (draw.once_in(3)) {
    std::ranges::copy(scheduler.recalls(), std::back_inserter(scene.schedule));
  }
  if (draw.once_in(3)) {
    std::ranges::copy(scheduler.disturbances(), std::back_inserter(scene.schedule));
  }
  if (Drawer keeper(seed ^ kKeeperApart); scene.ends_with.empty() && keeper.once_in(6)) {
    const std::vector<Fault> lost = Scheduler(keeper, scene).lost_keeper();
    if (!lost.empty()) scene.ends_with.push_back(lost.back().who);
    std::ranges::copy(lost, std::back_inserter(scene.schedule));
  }
  const bool hosts_suffer = std::ranges::any_of(
      scene.schedule, [](const Fault& fault) { return is_of_host(fault.kind); });
  Drawer more(seed ^ kCheckpointsApart);  // so that all else is as it was without
  if (!scene.apart && !hosts_suffer && more.once_in(scene.ends_with.empty() ? 6 : 2)) {
    Scheduler(more, scene).keep_checkpoints(scene);
  }
  if (Drawer slow(seed ^ kSlowApart); slow.once_in(5)) {
    std::ranges::copy(Scheduler(slow, scene).slowness(), std::back_inserter(scene.schedule));
  }
  if (Drawer full(seed ^ kFullApart); scene.file.checkpoint.on() && full.once_in(3)) {
    std::ranges::copy(Scheduler(full, scene).fullness(), std::back_inserter(scene.schedule));
  }
  if (Drawer starts(seed ^ kStartsApart); starts.once_in(4)) {
    for (std::uint64_t left = starts.between(1, 2); left > 0; --left) {
      scene.schedule.push_back({.kind = FaultKind::kill,
                                .at = starts.time(milliseconds(120)),
                                .starting = true,
                                .who = std::string(kCoordinator)});
    }
  }
  return scene;
}

std::string describe(const Scene& scene) {
  const ClusterFile& file = scene.file;
  return fmt::format(
      "{} hosts, {} servers, {} readers, {} workers with {} ranks in all; {}{}, {} steps, codec "
      "{}{}, scaler rule {}, down {}, evaluated every {}, {}; messages take up to {}, jobs up to "
      "{}, silence {}, link_patience {}",
      file.hosts.size(), file.count(Role::kParameterServer), file.count(Role::kInputReader),
      file.count(Role::kWorker), file.ranks(), file.scheme.name,
      file.scheme.quorum > 0 ? fmt::format(" with a quorum of {}", file.scheme.quorum) : "",
      file.job.steps, file.gradient.codec, file.gradient.error_feedback ? " with feedback" : "",
      static_cast<int>(file.gradient.scaler), static_cast<int>(file.gradient.down),
      file.evaluation.every,
      file.checkpoint.on() ? fmt::format("kept every {}", file.checkpoint.every_steps) : "not kept",
      duration_text(scene.longest_delay), duration_text(scene.longest_job),
      duration_text(file.cluster.silence), duration_text(file.cluster.link_patience));
}

}  // namespace sterna::launcher
