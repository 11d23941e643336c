#include "launcher/view/result_json.h"

#include <cstddef>

#include "launcher/text/json_struct.h"
#include "launcher/view/reader_rate_json.h"

namespace sterna::launcher {

STERNA_JSON(ActorEnd, name, type, host, end, cause)
STERNA_JSON(EvaluationResult, step, seconds, subset, of, precision_at_1, recall_at_5, loss,
            examples, left_out_examples)
STERNA_JSON(Restart, step, steps_again, seconds, cause)
STERNA_JSON(ActorRestart, actor, incarnation, step, cause)
STERNA_JSON(PlansOfWorkers, workers, device, plans)
STERNA_JSON(JobFacts, name, net, steps, batch, seed, scheme, optimizer, learning_rate, weight_decay,
            error_feedback)
STERNA_JSON(RunResult, run, exit, cause, consequences, steps, first_step, checkpoint, resume,
            missed_checkpoints, missed_copies, left_out_examples, lost_losses, lost_histograms,
            lost_metrics, restarts, actor_restarts, lost_workers, relinked, residuals_lost,
            injected_faults, workers, ranks, data, data_dir, codec, security, transport, isa, job,
            seconds, seconds_to_first_step, evaluations, examples_per_second, loss, decay_loss,
            precision_at_1, recall_at_5, skipped_evaluations, late_packets, staleness, most_stale,
            evaluator_wait, data_wait, readers, bits_per_ternarized_element_up, bits_per_element_up,
            bits_per_element_down, bytes_up, bytes_down, coded_bytes_up, coded_bytes_down,
            parameters_sha256, plans)
STERNA_JSON(StepMetrics, step, seconds, loss, decay_loss, learning_rate, examples_per_second,
            examples, bytes_up, bytes_down, coded_bytes_up, coded_bytes_down, bits_up, bits_down,
            nonzero, saturated, staleness, data_wait, readers)
STERNA_JSON(TensorMetrics, tensor, codec, elements, bits_up, bits_down, ratio, nonzero, saturated,
            encode_seconds, decode_seconds, exchange_seconds)
STERNA_JSON(HistogramMetrics, step, tensor, of, elements, least, most, sum, sum_of_squares, buckets,
            counts)
STERNA_JSON(PictureMetrics, step, number, rows, columns, channels, label, prediction, pixels)

namespace {

constexpr int kFormat = 1;

std::string line_of(Json begin, const Json& rest) {
  begin.update(rest);
  return json_line(begin);
}

/// Without all but the last `most`: metrics.jsonl has all.
void keep_last(Json& list, std::size_t most) {
  if (list.size() <= most) return;
  list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
}

void keep_first(Json& list, std::size_t most) {
  if (list.size() <= most) return;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
}

Json program_json(const RunResult& result) {
  Json json = {{"run", result.run},
               {"exit", result.exit},
               {"cause", result.cause},
               {"seconds", result.seconds},
               {"security", result.security},
               {"transport", result.transport},
               {"awaited", result.awaited},
               {"actors", Json::array()},
               {"consequences", result.consequences},
               {"actor_restarts", result.actor_restarts},
               {"relinked", result.relinked},
               {"injected_faults", result.injected_faults}};
  for (const ActorEnd& actor : result.actors) {
    Json one = actor;
    if (actor.cause.empty()) one.erase("cause");
    json["actors"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string to_json(const RunResult& result) {
  Json json = result.actors.empty() ? Json(result) : program_json(result);
  if (result.exit == 0) json.erase("cause");
  if (result.consequences.empty()) json.erase("consequences");
  if (result.checkpoint.empty()) json.erase("checkpoint");
  if (result.resume.empty()) json.erase("resume");
  for (const char* count :
       {"missed_checkpoints", "missed_copies", "left_out_examples", "lost_losses",
        "lost_histograms", "lost_metrics", "relinked", "residuals_lost", "injected_faults"}) {
    if (json.value(count, std::uint64_t{0}) == 0) json.erase(count);
  }
  if (json.contains("evaluations")) keep_last(json["evaluations"], RunResult::kMostEvaluations);
  for (const char* list : {"actor_restarts", "lost_workers"}) {
    if (json.contains(list)) keep_first(json[list], RunResult::kMostActorRestarts);
  }
  if (result.restarts.empty()) json.erase("restarts");
  if (result.actor_restarts.empty()) json.erase("actor_restarts");
  if (result.lost_workers.empty()) json.erase("lost_workers");
  if (!result.staleness) {
    json.erase("staleness");
    json.erase("most_stale");
  }
  if (result.plans.empty()) json.erase("plans");
  return line_of({{"format", kFormat}}, json);
}

std::string to_json(const StepMetrics& metrics) { return line_of({{"kind", "step"}}, metrics); }

std::string to_json(const Restart& restart, double time) {
  Json json = restart;
  json["time"] = time;
  json.erase("seconds");  // which nobody knows yet
  return line_of({{"kind", "restart"}}, json);
}

std::string to_json(const ActorRestart& restart) {
  return line_of({{"kind", "actor_restart"}}, restart);
}

std::string to_json(const LossMetrics& metrics) {
  Json json = {{"kind", "loss"}, {"step", metrics.step}};
  if (metrics.rank) json["rank"] = *metrics.rank;
  json["loss"] = json_number(metrics.loss);
  json["decay_loss"] = json_number(metrics.decay_loss);
  return json_line(json);
}

std::string to_json(const TensorMetrics& metrics) { return line_of({{"kind", "tensor"}}, metrics); }

std::string to_json(const EvaluationResult& metrics) {
  return line_of({{"kind", "evaluation"}}, metrics);
}

std::string to_json(const HistogramMetrics& metrics) {
  return line_of({{"kind", "histogram"}}, metrics);
}

std::string to_json(const PictureMetrics& metrics) {
  return line_of({{"kind", "picture"}}, metrics);
}

std::string metrics_header(const std::string& run, double time) {
  return json_line({{"format", kFormat}, {"kind", "run"}, {"run", run}, {"time", time}});
}

}  // namespace sterna::launcher
