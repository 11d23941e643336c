#include "launcher/view/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

/// Bytes that take so long on a slow network that somebody may wonder.
constexpr std::uint64_t kWorthSaying = 1'000'000;
/// The part of the time that workers wait for data, or training for the evaluator, from which it is
/// said what would help.
constexpr double kStarved = 0.1;
/// ... that training waits for the evaluator from which it is said.
constexpr double kWorthSayingOfWaits = 0.005;
/// Readers that hold training up decode hardly more than it takes.
constexpr double kMuchFaster = 3;
constexpr std::size_t kSlowLinksShown = 3;

/// "3 actors: 1 running, 2 done"; of actors that train, their steps say more.
std::string states_of(const std::vector<ActorStatus>& actors) {
  std::string text = counted(actors.size(), "actor") + ":";
  std::string_view comma;
  for (const char* state :
       {"starting", "running", "restarting", "stopping", "done", "stopped", "killed", "dead"}) {
    const auto count = std::count_if(actors.begin(), actors.end(), [&](const ActorStatus& actor) {
      return actor.state == state;
    });
    if (count == 0) continue;
    text += fmt::format("{} {} {}", comma, count, state);
    comma = ",";
  }
  return text;
}

/// "reader0 decodes 410 pictures/s on 1 thread"; of several the slowest and the fastest, and the
/// threads of each.
std::string rates_of(const std::vector<ReaderRate>& readers) {
  const auto slower = [](const ReaderRate& a, const ReaderRate& b) {
    return a.pictures_per_second < b.pictures_per_second;
  };
  const auto [least, most] = std::minmax_element(readers.begin(), readers.end(), slower);
  const std::string slowest = thousands(std::llround(least->pictures_per_second));
  const std::string fastest = thousands(std::llround(most->pictures_per_second));
  const std::uint32_t threads = least->threads;
  const std::string on = fmt::format("on {} thread{}", threads, threads == 1 ? "" : "s");
  if (readers.size() == 1) {
    return fmt::format("{} decodes {} pictures/s {}", printable(least->reader), slowest, on);
  }
  const std::string range = slowest == fastest ? slowest : slowest + " to " + fastest;
  return fmt::format("{} readers decode {} pictures/s each {}", readers.size(), range, on);
}

/// Whether readers decode so much more than training takes that others would change nothing: then
/// it waits for a host or a link.
bool have_time_left(const std::vector<ReaderRate>& readers, std::optional<double> taken) {
  double decoded = 0;
  for (const ReaderRate& reader : readers) decoded += reader.pictures_per_second;
  return taken && decoded > kMuchFaster * *taken;
}

/// How long workers wait for data and, where that is long, what would help.
void add_data_facts(double wait, const RunStatus& status, std::vector<Fact>& all) {
  const std::vector<ReaderRate>& readers = status.readers;
  const Style style = wait >= kStarved ? Style::wait : Style::plain;
  const bool bound = wait >= kStarved && !have_time_left(readers, status.examples_per_second);
  all.push_back({fmt::format("{}{:.0f} % of the time waits for data", bound ? "input-bound: " : "",
                             100 * wait),
                 style});
  if (!readers.empty()) all.push_back({rates_of(readers), style});
  if (bound) all.push_back({"more input readers or data.threads would help", style});
}

/// The last evaluation, and precision@1 of what else was evaluated: "on train 0.9990, of
/// parameters 0.9710".
void add_precision(const RunStatus& status, std::vector<Fact>& all) {
  if (!status.precision_at_1) return;
  std::string text = fmt::format("precision@1 {:.4f}", *status.precision_at_1);
  if (status.recall_at_5) text += fmt::format(", recall@5 {:.4f}", *status.recall_at_5);
  if (!status.precision_what.empty()) text += " " + printable(status.precision_what);
  text += fmt::format(" at step {}", thousands(status.precision_step));
  all.push_back({std::move(text), Style::bold});
  if (!status.others.empty()) {
    std::vector<std::string> others;
    for (const OtherPrecision& other : status.others) {
      others.push_back(fmt::format("{} {:.4f}", printable(other.what), other.precision_at_1));
    }
    all.push_back({fmt::format("{}", fmt::join(others, ", "))});
  }
  if (status.late_packets > 0) {
    all.push_back({counted(status.late_packets, "late packet")});
  }
  if (status.staleness) {
    all.push_back({fmt::format("gradients {:.2f} versions old, {} at most", *status.staleness,
                               thousands(static_cast<std::int64_t>(status.most_stale)))});
  }
  if (!status.lost_workers.empty()) {
    all.push_back({fmt::format("without {}", fmt::join(status.lost_workers, ", "))});
  }
  if (status.skipped_evaluations > 0) {
    all.push_back({counted(status.skipped_evaluations, "evaluation") + " skipped"});
  }
}

/// How much of the time training stands still until the evaluator has taken a version.
void add_evaluator_wait(double wait, std::vector<Fact>& all) {
  if (wait < kWorthSayingOfWaits) return;
  const bool stands = wait >= kStarved;
  const Style style = stands ? Style::wait : Style::plain;
  all.push_back({fmt::format("{:.0f} % of the time waits for the evaluator", 100 * wait), style});
  if (stands) all.push_back({"fewer evaluator.examples or behind = \"skip\" would help", style});
}

}  // namespace

std::vector<Fact> facts(const RunStatus& status) {
  std::vector<Fact> all;
  if (status.phase != "training" && !status.phase.empty()) {
    all.push_back({printable(status.phase), status.phase == "failed" ? Style::bad : Style::wait});
  }
  // Before the first step big nets and batches travel for a while.
  std::uint64_t received = 0;
  for (const ActorStatus& actor : status.actors) received += actor.bytes_in;
  if (status.phase == "starting" && received >= kWorthSaying) {
    all.push_back({bytes_text(received) + " received"});
  }
  if (status.steps == 0 && !status.actors.empty()) all.push_back({states_of(status.actors)});
  if (status.loss) {
    const double decay = status.decay_loss.value_or(0);
    std::string text = fmt::format("loss {:.4f}", *status.loss);
    if (decay != 0) text += fmt::format(" (weight decay {:.4f})", decay);
    all.push_back({std::move(text)});
  }
  add_precision(status, all);
  if (status.examples_per_second) {
    all.push_back(
        {fmt::format("{} examples/s", thousands(std::llround(*status.examples_per_second)))});
  }
  for (std::size_t i = 0; i < std::min(kSlowLinksShown, status.slow_links.size()); ++i) {
    const SlowLink& link = status.slow_links[i];
    all.push_back({fmt::format("{} on {} sends to {} on {} at most {}/s", printable(link.from),
                               printable(link.from_host), printable(link.to),
                               printable(link.to_host), bytes_text(link.bytes_per_second)),
                   Style::wait});
  }
  if (status.evaluator_wait) add_evaluator_wait(*status.evaluator_wait, all);
  if (status.data_wait) add_data_facts(*status.data_wait, status, all);
  if (status.bits_up) {
    std::string text = fmt::format("bits/element {:.2f} up", *status.bits_up);
    if (status.bits_down) text += fmt::format(", {:.2f} down", *status.bits_down);
    all.push_back({std::move(text)});
  }
  if (status.nonzero) {
    std::string text = fmt::format("{:.1f} % of trits not 0", 100 * *status.nonzero);
    if (status.saturated) text += fmt::format(", {:.2f} % saturated", 100 * *status.saturated);
    all.push_back({std::move(text)});
  }
  if (status.restarts > 0) all.push_back({counted(status.restarts, "restart")});
  if (status.actor_restarts > 0) {
    all.push_back({counted(status.actor_restarts, "actor") + " started again"});
  }
  std::string time = seconds_text(status.elapsed_seconds) + " elapsed";
  if (status.left_seconds) time += ", " + seconds_text(*status.left_seconds) + " left";
  all.push_back({std::move(time)});
  return all;
}

}  // namespace sterna::launcher
