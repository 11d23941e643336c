#include "launcher/past/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/text/text_table.h"
#include "launcher/view/status_json.h"
#include "runtime/cluster/process_control.h"

namespace sterna::launcher {
namespace {

constexpr int kOverviewFormat = 1;

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

struct RefusalKind {
  const char* key;
  const char* words;
  std::uint64_t Inspection::*count;
};
constexpr std::array<RefusalKind, 5> kRefusals = {{
    {"no_valid_key", "without a valid key or name", &Inspection::authentication_denials},
    {"handshakes", "failed handshakes", &Inspection::handshake_failures},
    {"other_builds", "of another run or build", &Inspection::refused_hellos},
    {"malformed_messages", "malformed messages", &Inspection::decode_errors},
    {"muted_messages", "messages of muted peers", &Inspection::muted_messages},
}};

}  // namespace

RunStatus status_of(const RunState& state, const Overview& overview) {
  RunStatus status;
  if (Result<RunStatus> told = parse_status(text_of(overview.report.view()))) {
    status = std::move(told).value();
  } else {
    status.config = state.name;
    status.phase = "starting";
  }
  status.run_directory = state.id;
  for (ActorStatus& actor : status.actors) {
    for (const ProcessStatus& member : overview.members) {
      if (member.identity.name != actor.name) continue;
      if (!actor.has_ended()) actor.state = member.state;
      actor.host = member.host;
      actor.incarnation = member.identity.incarnation;
      actor.pid = member.pid;
      actor.memory_bytes = member.resident_bytes;
      actor.queue_bytes = member.queued_bytes;
      actor.loop_lag_ms = milliseconds(member.loop_lag);
      actor.bytes_in = member.bytes_in;
      actor.bytes_out = member.bytes_out;
    }
  }
  return status;
}

bool has_host(const Overview& overview, const std::string& host) {
  return std::ranges::any_of(overview.members, [&](const ProcessStatus& member) {
    return member.identity.name == node_name(host) && member.state == "running";
  });
}

std::string other_hosts(const RunState& state, const std::string& host) {
  std::vector<std::string> names;
  for (const StateHost& known : state.hosts) names.push_back(known.name);
  const bool known = std::ranges::find(names, host) != names.end();
  return known ? "" : fmt::format("; its hosts are {}", fmt::join(names, ", "));
}

std::string overview_json(const RunState& state, const Overview& overview,
                          const std::optional<Inspection>& counted) {
  Json json;
  json["format"] = kOverviewFormat;
  json["id"] = state.id;
  json["head"] = state.head;
  json["run_directory"] = state.run_directory;
  json["stopping"] = overview.stopping;
  json["hosts"] = Json::array();
  for (const StateHost& host : state.hosts) {
    json["hosts"].push_back({{"name", host.name}, {"ssh", host.ssh}});
  }
  json["members"] = Json::array();
  for (const ProcessStatus& member : overview.members) {
    json["members"].push_back({{"name", member.identity.name},
                               {"incarnation", member.identity.incarnation},
                               {"host", member.host},
                               {"pid", member.pid},
                               {"state", member.state},
                               {"memory_bytes", member.resident_bytes},
                               {"queue_bytes", member.queued_bytes},
                               {"loop_lag_ms", milliseconds(member.loop_lag)},
                               {"bytes_in", member.bytes_in},
                               {"bytes_out", member.bytes_out}});
  }
  if (counted) {
    for (const RefusalKind& kind : kRefusals) json["refused"][kind.key] = *counted.*kind.count;
  }
  json["status"] = Json::parse(text_of(overview.report.view()), nullptr, false);
  if (json["status"].is_discarded()) json["status"] = nullptr;
  return json_line(json);
}

std::vector<std::string> member_table(const Overview& overview, std::size_t width) {
  const std::vector<TableColumn> titles = {
      {"process"},         {"host", false, 0, 2},  {"state"},
      {"pid", true, 0, 4}, {"memory", true, 0, 6}, {"queued", true, 0, 3},
      {"lag", true, 0, 5}, {"in", true, 0, 1},     {"out", true, 0, 1},
  };
  std::vector<std::vector<std::string>> rows;
  for (const ProcessStatus& member : overview.members) {
    rows.push_back({member.identity.text(), member.host, member.state, std::to_string(member.pid),
                    bytes_text(member.resident_bytes), bytes_text(member.queued_bytes),
                    fmt::format("{:.1f} ms", milliseconds(member.loop_lag)),
                    bytes_text(member.bytes_in), bytes_text(member.bytes_out)});
  }
  return text_table(titles, rows, width);
}

Inspection sum_of(const std::vector<Inspection>& counted) {
  Inspection sum;
  for (const Inspection& one : counted) {
    sum.authentication_denials += one.authentication_denials;
    sum.handshake_failures += one.handshake_failures;
    sum.disconnects += one.disconnects;
    sum.muted_messages += one.muted_messages;
    sum.decode_errors += one.decode_errors;
    sum.refused_hellos += one.refused_hellos;
    sum.sequence_gaps += one.sequence_gaps;
    sum.faults += one.faults;
    sum.open_links += one.open_links;
  }
  return sum;
}

std::string refusals_line(const Inspection& counted) {
  std::string line;
  for (const RefusalKind& kind : kRefusals) {
    if (counted.*kind.count == 0) continue;
    line += fmt::format("{}{} {}", line.empty() ? "refused: " : ", ",
                        thousands(static_cast<std::int64_t>(counted.*kind.count)), kind.words);
  }
  return line;
}

}  // namespace sterna::launcher
