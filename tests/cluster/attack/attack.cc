// The attacker of the cluster tests: it has no key and little of the machine (nice 19), connects to
// what it is aimed at, and says in one line of JSON what came of it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/cluster/attack/flood.h"
#include "tests/cluster/attack/scan.h"

namespace {

using sterna::Duration;
using sterna::test::FloodOptions;
using sterna::test::FloodReport;
using sterna::test::ScanReport;
using sterna::test::Target;

Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

nlohmann::json to_json(const FloodReport& report) {
  return {{"mode", "flood"},
          {"seconds", report.seconds},
          {"attempts", report.attempts},
          {"noise", report.connections[0]},
          {"half_handshakes", report.connections[1]},
          {"without_key", report.connections[2]},
          {"refused", report.refused},
          {"bytes_sent", report.bytes_sent},
          {"bytes_received", report.bytes_received},
          {"open_at_most", report.open_at_most},
          {"held_longest", report.held_longest},
          {"accepted", report.accepted}};
}

nlohmann::json to_json(const ScanReport& report) {
  nlohmann::json open = nlohmann::json::array();
  for (const Target& target : report.open) {
    open.push_back(target.address + ":" + std::to_string(target.port));
  }
  return {{"mode", "scan"},
          {"seconds", report.seconds},
          {"open", open},
          {"refused", report.refused},
          {"silent", report.silent}};
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kNice = 19;
  constexpr double kPatience = 1;  // seconds
  FloodOptions options;
  std::vector<std::string> targets;
  double seconds = 60;
  bool unthrottled = false;

  CLI::App app("An attacker who has no key");
  app.require_subcommand(1);
  CLI::App* flood = app.add_subcommand("flood", "connections of three kinds, a third each");
  CLI::App* scan = app.add_subcommand("scan", "a connection to each port");
  for (CLI::App* mode : {flood, scan}) {
    mode->add_option("--target", targets, "ADDRESS:PORTS, like 10.0.0.1:7000-7009,7100")
        ->required();
  }
  flood->add_option("--rate", options.rate, "new connections a second")->check(CLI::PositiveNumber);
  flood->add_option("--bytes", options.bytes, "bytes a second, all together");
  flood->add_option("--seconds", seconds, "how long");
  flood->add_option("--open", options.open_at_most, "connections at the same time, at most");
  flood->add_option("--seed", options.seed, "of its random bytes");
  flood->add_flag("--unthrottled", unthrottled, "as many connections and bytes as there can be");
  CLI11_PARSE(app, argc, argv);

  for (const std::string& text : targets) {
    const auto parsed = sterna::test::parse_targets(text);
    if (!parsed) {
      std::fprintf(stderr, "attack: \"%s\" is not ADDRESS:PORTS\n", text.c_str());
      return 2;
    }
    options.targets.insert(options.targets.end(), parsed->begin(), parsed->end());
  }
  options.duration = from_seconds(seconds);
  if (unthrottled) options.rate = 0;
  if (::nice(kNice) < 0) std::perror("attack: nice");

  const nlohmann::json report =
      scan->parsed() ? to_json(sterna::test::scan(options.targets, from_seconds(kPatience)))
                     : to_json(sterna::test::flood(options));
  std::puts(report.dump().c_str());
  return 0;
}
