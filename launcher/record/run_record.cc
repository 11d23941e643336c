#include "launcher/record/run_record.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

void count_waits(RunRecord& record, Time now) {
  if (!record.first_step_began || record.status.phase != "training") return;
  const Time since = record.waited_at.value_or(*record.first_step_began);
  if (!record.waiting.empty()) record.waited += now - since;
  record.waited_at = now;
  const double waited = in_seconds(record.waited);
  const double trained = in_seconds(now - *record.first_step_began);
  record.waits.add(trained, waited, trained);
  record.status.evaluator_wait = fraction(record.waits.part(), record.waits.whole());
  record.result.evaluator_wait = fraction(waited, trained);
}

void update_actors(RunStatus& status, const StatusReport& report) {
  for (const ProcessStatus& process : report.processes) {
    for (ActorStatus& actor : status.actors) {
      if (actor.name != process.identity.name || actor.has_ended()) continue;
      actor.state = process.state;
      actor.pid = process.pid;
      actor.host = process.host;
      actor.incarnation = process.identity.incarnation;
      actor.memory_bytes = process.resident_bytes;
      actor.queue_bytes = process.queued_bytes;
      actor.loop_lag_ms = std::chrono::duration<double, std::milli>(process.loop_lag).count();
      actor.bytes_in = process.bytes_in;
      actor.bytes_out = process.bytes_out;
    }
  }
}

std::string end_of(const ProcessDown& down, bool stopping) {
  if (!down.wanted) return "dead";
  if (!stopping) return "done";
  return down.signal == SIGKILL ? "killed" : "stopped";
}

void mark_ended(RunStatus& status, const std::string& name, const std::string& end,
                const std::string& cause) {
  for (ActorStatus& actor : status.actors) {
    if (actor.name != name) continue;
    actor.state = end;
    if (end == "dead" || end == "killed") actor.cause = cause;
  }
}

void note_loss(RunRecord& record, const ProcessDown& down, const std::string& in_words) {
  if (!record.workers_lost.insert(down.identity.name).second) return;
  mark_ended(record.status, down.identity.name, "dead", in_words);
  record.status.lost_workers.push_back(down.identity.name);
  record.result.lost_workers.push_back(
      {down.identity.name, down.identity.incarnation, record.status.step, in_words});
}

void note_actor_restart(RunRecord& record, const ProcessDown& down, const std::string& in_words) {
  for (ActorStatus& actor : record.status.actors) {
    if (actor.name == down.identity.name) actor.state = "restarting";
  }
  ++record.status.actor_restarts;
  record.status.actor_restart = in_words;
  std::vector<ActorRestart>& made = record.result.actor_restarts;
  if (made.size() == RunResult::kMostActorRestarts) return;
  made.push_back({down.identity.name, down.identity.incarnation, record.status.step, in_words});
}

std::string death_in_words(const ClusterFile& file, const ProcessDown& down) {
  std::string words = describe(down);
  const auto actor =
      std::find_if(file.actors.begin(), file.actors.end(),
                   [&](const ActorPlan& plan) { return plan.name == down.identity.name; });
  if (file.hosts.size() > 1 && actor != file.actors.end())
    words.insert(down.identity.text().size(),
                 " on " + (down.host.empty() ? actor->host : down.host));
  return words;
}

void note_plans(RunResult& result, const std::string& worker, actors::DevicePlans by) {
  if (by.device.empty()) return;
  for (PlansOfWorkers& known : result.plans) {
    if (known.device != by.device || known.plans != by.plans) continue;
    known.workers.push_back(worker);
    return;
  }
  if (result.plans.size() == RunResult::kMostPlans) return;
  result.plans.push_back({{worker}, std::move(by.device), std::move(by.plans)});
}

bool all_done(const RunRecord& record, const std::set<std::string>& workers) {
  return std::ranges::all_of(workers, [&](const std::string& name) {
    return record.workers_done.contains(name) || record.workers_lost.contains(name);
  });
}

}  // namespace sterna::launcher
