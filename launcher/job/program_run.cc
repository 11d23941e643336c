#include "launcher/job/program_run.h"

#include <algorithm>

namespace sterna::launcher {

void expect_actors(RunRecord& record, const ClusterFile& file) {
  record.result.awaited = file.awaited();
  for (const ActorPlan& actor : file.actors) {
    record.result.actors.push_back({actor.name, actor.type, actor.host, "", ""});
  }
}

void note_end(RunRecord& record, const ProcessDown& down, bool stopping) {
  const auto is_its = [&](const auto& actor) { return actor.name == down.identity.name; };
  auto& ends = record.result.actors;
  const auto end = std::find_if(ends.begin(), ends.end(), is_its);
  if (end == ends.end() || !end->end.empty()) return;
  end->end = end_of(down, stopping);
  if (!down.wanted) end->cause = describe(down);
  if (end->end == "killed") end->cause = down.cause;
  auto& shown = record.status.actors;
  const auto status = std::find_if(shown.begin(), shown.end(), is_its);
  if (status == shown.end()) return;
  status->state = end->end;
  status->cause = end->cause;
}

std::vector<LogReader::Log> logs_of(const ClusterFile& file, const Cluster& cluster) {
  std::vector<LogReader::Log> logs;
  for (const ActorPlan& actor : file.actors) {
    const auto node = cluster.process_of("node-" + actor.host);
    if (node) logs.push_back({actor.name, *node});
  }
  return logs;
}

}  // namespace sterna::launcher
