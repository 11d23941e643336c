#include "launcher/view/status_json.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "launcher/text/json_line.h"

namespace sterna::launcher {
namespace {

constexpr int format = 1;

std::optional<double> number_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (value.is_null()) return std::nullopt;
  return value.get<double>();
}

Json actor_json(const ActorStatus& actor) {
  return {{"name", actor.name},
          {"role", actor.role},
          {"host", actor.host},
          {"incarnation", actor.incarnation},
          {"state", actor.state},
          {"pid", actor.pid},
          {"memory_bytes", actor.memory_bytes},
          {"queue_bytes", actor.queue_bytes},
          {"loop_lag_ms", actor.loop_lag_ms},
          {"bytes_in", actor.bytes_in},
          {"bytes_out", actor.bytes_out}};
}

ActorStatus actor_of(const Json& json) {
  ActorStatus actor;
  actor.name = json.at("name");
  actor.role = json.at("role");
  actor.host = json.at("host");
  actor.incarnation = json.at("incarnation");
  actor.state = json.at("state");
  actor.pid = json.at("pid");
  actor.memory_bytes = json.at("memory_bytes");
  actor.queue_bytes = json.at("queue_bytes");
  actor.loop_lag_ms = json.at("loop_lag_ms");
  actor.bytes_in = json.at("bytes_in");
  actor.bytes_out = json.at("bytes_out");
  return actor;
}

}  // namespace

std::string status_json(const RunStatus& status) {
  Json json;
  json["format"] = format;
  json["config"] = status.config;
  json["run_directory"] = status.run_directory;
  json["phase"] = status.phase;
  json["step"] = status.step;
  json["steps"] = status.steps;
  json["elapsed_seconds"] = json_number(status.elapsed_seconds);
  json["left_seconds"] = json_number(status.left_seconds);
  json["loss"] = json_number(status.loss);
  json["examples_per_second"] = json_number(status.examples_per_second);
  json["precision_at_1"] = json_number(status.precision_at_1);
  json["precision_step"] = status.precision_step;
  json["bits_up"] = json_number(status.bits_up);
  json["bits_down"] = json_number(status.bits_down);
  json["nonzero"] = json_number(status.nonzero);
  json["saturated"] = json_number(status.saturated);
  json["raw_bytes_up"] = status.raw_bytes_up;
  json["coded_bytes_up"] = status.coded_bytes_up;
  json["raw_bytes_down"] = status.raw_bytes_down;
  json["coded_bytes_down"] = status.coded_bytes_down;
  json["actors"] = Json::array();
  for (const ActorStatus& actor : status.actors) json["actors"].push_back(actor_json(actor));
  json["codecs"] = status.codecs;
  json["log_lines"] = status.log_lines;
  return json_line(json);
}

Result<RunStatus> parse_status(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{Errc::malformed, "the run's report is not JSON"};
  try {
    RunStatus status;
    status.config = json.at("config");
    status.run_directory = json.at("run_directory");
    status.phase = json.at("phase");
    status.step = json.at("step");
    status.steps = json.at("steps");
    status.elapsed_seconds = number_at(json, "elapsed_seconds").value_or(0);
    status.left_seconds = number_at(json, "left_seconds");
    status.loss = number_at(json, "loss");
    status.examples_per_second = number_at(json, "examples_per_second");
    status.precision_at_1 = number_at(json, "precision_at_1");
    status.precision_step = json.at("precision_step");
    status.bits_up = number_at(json, "bits_up");
    status.bits_down = number_at(json, "bits_down");
    status.nonzero = number_at(json, "nonzero");
    status.saturated = number_at(json, "saturated");
    status.raw_bytes_up = json.at("raw_bytes_up");
    status.coded_bytes_up = json.at("coded_bytes_up");
    status.raw_bytes_down = json.at("raw_bytes_down");
    status.coded_bytes_down = json.at("coded_bytes_down");
    for (const Json& actor : json.at("actors")) status.actors.push_back(actor_of(actor));
    status.codecs = json.at("codecs");
    status.log_lines = json.at("log_lines").get<std::vector<std::string>>();
    return status;
  } catch (const Json::exception& error) {
    return Error{Errc::malformed, std::string("the run's report: ") + error.what()};
  }
}

}  // namespace sterna::launcher
