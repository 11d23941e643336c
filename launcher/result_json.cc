#include "launcher/result_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace sterna::launcher {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format = 1;

Json number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
}

Json evaluation(const EvaluationResult& result) {
  return {{"step", result.step},
          {"seconds", number(result.seconds)},
          {"precision_at_1", number(result.precision_at_1)},
          {"examples", result.examples}};
}

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const RunResult& result) {
  Json json;
  json["format"] = format;
  json["run"] = result.run;
  json["exit"] = result.exit;
  if (result.exit != 0) json["cause"] = result.cause;
  json["steps"] = result.steps;
  json["workers"] = result.workers;
  json["ranks"] = result.ranks;
  json["data"] = result.data;
  json["data_dir"] = result.data_dir;
  json["codec"] = result.codec;
  json["security"] = result.security;
  json["transport"] = result.transport;
  json["isa"] = result.isa;
  json["seconds"] = number(result.seconds);
  json["seconds_to_first_step"] = number(result.seconds_to_first_step);
  json["evaluations"] = Json::array();
  for (const EvaluationResult& one : result.evaluations) {
    json["evaluations"].push_back(evaluation(one));
  }
  json["examples_per_second"] = number(result.examples_per_second);
  json["loss"] = number(result.loss);
  json["precision_at_1"] = number(result.precision_at_1);
  json["bits_per_ternarized_element_up"] = number(result.bits_per_ternarized_element_up);
  json["bits_per_element_up"] = number(result.bits_per_element_up);
  json["bits_per_element_down"] = number(result.bits_per_element_down);
  json["bytes_up"] = result.bytes_up;
  json["bytes_down"] = result.bytes_down;
  json["parameters_sha256"] = result.parameters_sha256;
  return line(json);
}

std::string to_json(const StepMetrics& metrics) {
  return line({{"kind", "step"},
               {"step", metrics.step},
               {"seconds", number(metrics.seconds)},
               {"loss", number(metrics.loss)},
               {"learning_rate", number(metrics.learning_rate)},
               {"examples_per_second", number(metrics.examples_per_second)},
               {"bytes_up", metrics.bytes_up},
               {"bytes_down", metrics.bytes_down}});
}

std::string to_json(const EvaluationResult& metrics) {
  Json json = {{"kind", "evaluation"}};
  json.update(evaluation(metrics));
  return line(json);
}

std::string metrics_header(const std::string& run) {
  return line({{"format", format}, {"kind", "run"}, {"run", run}});
}

}  // namespace sterna::launcher
