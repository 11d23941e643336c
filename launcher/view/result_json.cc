#include "launcher/view/result_json.h"

#include "launcher/text/json_line.h"

namespace sterna::launcher {
namespace {

constexpr int format = 1;

Json evaluation(const EvaluationResult& result) {
  return {{"step", result.step},
          {"seconds", json_number(result.seconds)},
          {"precision_at_1", json_number(result.precision_at_1)},
          {"examples", result.examples}};
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
  json["seconds"] = json_number(result.seconds);
  json["seconds_to_first_step"] = json_number(result.seconds_to_first_step);
  json["evaluations"] = Json::array();
  for (const EvaluationResult& one : result.evaluations) {
    json["evaluations"].push_back(evaluation(one));
  }
  json["examples_per_second"] = json_number(result.examples_per_second);
  json["loss"] = json_number(result.loss);
  json["precision_at_1"] = json_number(result.precision_at_1);
  json["bits_per_ternarized_element_up"] = json_number(result.bits_per_ternarized_element_up);
  json["bits_per_element_up"] = json_number(result.bits_per_element_up);
  json["bits_per_element_down"] = json_number(result.bits_per_element_down);
  json["bytes_up"] = result.bytes_up;
  json["bytes_down"] = result.bytes_down;
  json["parameters_sha256"] = result.parameters_sha256;
  return json_line(json);
}

std::string to_json(const StepMetrics& metrics) {
  return json_line({{"kind", "step"},
                    {"step", metrics.step},
                    {"seconds", json_number(metrics.seconds)},
                    {"loss", json_number(metrics.loss)},
                    {"learning_rate", json_number(metrics.learning_rate)},
                    {"examples_per_second", json_number(metrics.examples_per_second)},
                    {"bytes_up", metrics.bytes_up},
                    {"bytes_down", metrics.bytes_down},
                    {"nonzero", json_number(metrics.nonzero)},
                    {"saturated", json_number(metrics.saturated)}});
}

std::string to_json(const TensorMetrics& metrics) {
  return json_line({{"kind", "tensor"},
                    {"tensor", metrics.tensor},
                    {"codec", metrics.codec},
                    {"elements", metrics.elements},
                    {"bits_up", json_number(metrics.bits_up)},
                    {"bits_down", json_number(metrics.bits_down)},
                    {"ratio", json_number(metrics.ratio)},
                    {"nonzero", json_number(metrics.nonzero)},
                    {"saturated", json_number(metrics.saturated)},
                    {"encode_seconds", json_number(metrics.encode_seconds)},
                    {"decode_seconds", json_number(metrics.decode_seconds)},
                    {"exchange_seconds", json_number(metrics.exchange_seconds)}});
}

std::string to_json(const EvaluationResult& metrics) {
  Json json = {{"kind", "evaluation"}};
  json.update(evaluation(metrics));
  return json_line(json);
}

std::string metrics_header(const std::string& run) {
  return json_line({{"format", format}, {"kind", "run"}, {"run", run}});
}

}  // namespace sterna::launcher
