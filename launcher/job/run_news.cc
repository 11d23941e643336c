#include "launcher/job/run_news.h"

#include <fmt/format.h>

#include <optional>

#include "launcher/job/program_run.h"
#include "launcher/record/link_troubles.h"
#include "launcher/text/text_format.h"
#include "runtime/cluster/process_control.h"

namespace sterna::launcher {

namespace {
constexpr std::size_t kLogLinesShown = 5;
}

RunNews::RunNews(const ClusterFile& file, RunRecord& record, JobListener& listener)
    : file_(file), record_(record), listener_(listener) {}

void RunNews::logged(std::string_view line) {
  auto& lines = record_.status.log_lines;
  lines.emplace_back(line);
  ++record_.status.logged;
  if (lines.size() > kLogLinesShown) lines.erase(lines.begin());
  listener_.changed(record_);
}

void RunNews::ended(const ProcessDown& down, bool stopping) {
  const std::string& name = down.identity.name;
  mark_ended(record_.status, name, end_of(down, stopping), down.cause);
  note_end(record_, down, stopping);
  if (!down.wanted) {
    logged(death_in_words(file_, down));
    if (stopping) return;
    note({.kind = "death",
          .actor = name,
          .incarnation = down.identity.incarnation,
          .cause = down.full_cause()});
  } else if (down.cause == kHostDrained) {
    logged(name.substr(name.find('-') + 1) + " is drained");
    note({.kind = "drained", .actor = name, .cause = down.cause});
  }
}

void RunNews::comes_again(const ProcessRestarts& restarts) {
  const ProcessDown& down = restarts.down;
  const std::string moves =
      restarts.host != down.host ? "; it moves to " + restarts.host : std::string();
  const std::string words = death_in_words(file_, down) + moves;
  note({.kind = "actor_restart",
        .actor = down.identity.name,
        .incarnation = down.identity.incarnation,
        .cause = down.full_cause() + moves});
  note_actor_restart(record_, down, words);
  logged(words + (moves.empty() ? "; it is started again" : ""));
  if (!record_.result.actor_restarts.empty()) {
    listener_.actor_restarts(record_.result.actor_restarts.back());
  }
}

void RunNews::goes_on_without(const ProcessDown& down, const std::string& left) {
  const std::string words =
      fmt::format("{}; the run goes on without it: {}", death_in_words(file_, down), left);
  note({.kind = "lost",
        .actor = down.identity.name,
        .incarnation = down.identity.incarnation,
        .cause = down.full_cause() + "; " + left});
  note_loss(record_, down, words);
  notice(words);
  logged(words);
}

void RunNews::refilled(const PeerIdentity& server) {
  logged(server.name + " has the parameters again");
  note({.kind = "refilled", .actor = server.name, .incarnation = server.incarnation});
}

void RunNews::residuals_lost(const actors::ResidualsLost& lost) {
  const std::string words =
      fmt::format("{} rank{} without error feedback's residuals from step {} on", lost.ranks,
                  lost.ranks == 1 ? "" : "s", thousands(static_cast<std::int64_t>(lost.step)));
  logged(lost.worker + ": " + words);
  notice(lost.worker + ": " + words);
  note({.kind = "residuals_lost",
        .actor = lost.worker,
        .incarnation = lost.incarnation,
        .cause = words});
}

void RunNews::link_trouble(const LinkTrouble& trouble) {
  if (const std::string words = note_link_trouble(record_, trouble); !words.empty()) notice(words);
  note({.kind = trouble.over ? "relinked" : "apart",
        .actor = trouble.from_name + ", " + trouble.to_name,
        .cause = trouble.cause,
        .seconds = in_seconds(trouble.lasts)});
}

void RunNews::link_pace(const LinkPace& pace) {
  const std::string words = note_link_pace(record_, pace, file_.cluster.slow_link.count);
  notice(words);
  note({.kind = pace.over ? "slow_link_over" : "slow_link",
        .actor = pace.from_name + ", " + pace.to_name,
        .cause = words,
        .seconds = in_seconds(pace.lasts)});
}

void RunNews::host_added(const std::string& host) {
  logged(host + " is one of the run's hosts now");
  note({.kind = "added", .actor = node_name(host)});
  listener_.host_added(host);
}

void RunNews::injected(const FaultInjected& fault) {
  record_.result.injected_faults = ++record_.status.injected_faults;
  const std::string cause = fmt::format("{} ({})", name_of(fault.kind), fault.reason);
  note({.kind = "injected",
        .actor = fault.identity.name,
        .incarnation = fault.identity.incarnation,
        .cause = cause,
        .seconds = fault.lasts > Duration::zero() ? std::optional(in_seconds(fault.lasts))
                                                  : std::nullopt});
  logged(fmt::format("{}: {}", fault.identity.text(), cause));
}

void RunNews::checkpoint_missed(const std::string& line, std::uint64_t all) {
  record_.result.missed_checkpoints = all;
  listener_.checkpoint_missed(line);
  logged(line);
}

void RunNews::copy_missed(const std::string& line, std::uint64_t all) {
  record_.result.missed_copies = all;
  note({.kind = "missed_copy", .cause = line});
  notice(line);
  logged(line);
}

void RunNews::note(Event event) const {
  event.step = record_.status.step;
  listener_.event(event);
}

void RunNews::notice(const std::string& words) const { listener_.notice(words); }

}  // namespace sterna::launcher
