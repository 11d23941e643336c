#include "launcher/scrape/exposition.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

void take_if(const TakeSample& take, std::optional<double> value) {
  if (value) take({}, *value);
}

/// `member` of each actor that is known by now.
template <auto member>
void of_actors(const RunStatus& status, const TakeSample& take) {
  for (const ActorStatus& actor : status.actors) {
    take({{"actor", actor.name}}, static_cast<double>(actor.*member));
  }
}
template <auto member>
void number(const RunStatus& status, const TakeSample& take) {
  take({}, static_cast<double>(status.*member));
}
template <auto member>
void known(const RunStatus& status, const TakeSample& take) {
  take_if(take, status.*member);
}

constexpr std::array kMetrics = std::to_array<Metric>({
    {"sterna_run_info", false, "", "The run, as labels; always 1",
     [](const RunStatus& s, const TakeSample& take) {
       take({{"run", s.run_directory}, {"config", s.config}, {"phase", s.phase}}, 1);
     }},
    {"sterna_step", false, "", "Steps done; after a restart some are done again",
     number<&RunStatus::step>},
    {"sterna_planned_steps", false, "", "Steps of the whole job", number<&RunStatus::steps>},
    {"sterna_elapsed_seconds", false, "seconds", "Since the first step",
     number<&RunStatus::elapsed_seconds>},
    {"sterna_left_seconds", false, "seconds", "Estimated, to the last step",
     known<&RunStatus::left_seconds>},
    {"sterna_loss", false, "", "Of the ranks' last steps, weight decay included",
     known<&RunStatus::loss>},
    {"sterna_decay_loss", false, "", "Weight decay's part of the loss",
     known<&RunStatus::decay_loss>},
    {"sterna_examples_per_second", false, "", "Trained with, since the first step",
     known<&RunStatus::examples_per_second>},
    {"sterna_precision_ratio", false, "ratio", "precision@1 of the last evaluation",
     known<&RunStatus::precision_at_1>},
    {"sterna_recall_ratio", false, "ratio", "recall@5 of the last evaluation",
     known<&RunStatus::recall_at_5>},
    {"sterna_evaluated_step", false, "", "The step that was evaluated last",
     [](const RunStatus& s, const TakeSample& take) {
       if (s.precision_at_1) take({}, static_cast<double>(s.precision_step));
     }},
    {"sterna_checkpoint_step", false, "", "Of the newest checkpoint that this run made",
     [](const RunStatus& s, const TakeSample& take) {
       if (s.checkpoint_step > 0) take({}, static_cast<double>(s.checkpoint_step));
     }},
    {"sterna_restarts", true, "", "After a loss, each from the newest checkpoint",
     number<&RunStatus::restarts>},
    {"sterna_actor_restarts", true, "", "Of single actors that were lost, beside the others",
     number<&RunStatus::actor_restarts>},
    {"sterna_relinked", true, "", "Connections that were lost and made again",
     number<&RunStatus::relinked>},
    {"sterna_late_packets", true, "", "Gradients that no version was made with",
     number<&RunStatus::late_packets>},
    {"sterna_staleness", false, "",
     "Versions between a gradient's and its own, where each makes one",
     known<&RunStatus::staleness>},
    {"sterna_skipped_evaluations", true, "",
     "That were due, and that the evaluator was too slow for or a restart left behind",
     number<&RunStatus::skipped_evaluations>},
    {"sterna_data_wait_ratio", false, "ratio",
     "The part of the last seconds in which workers waited for batches",
     known<&RunStatus::data_wait>},
    {"sterna_evaluator_wait_ratio", false, "ratio",
     "The part of the last seconds in which training waited for the evaluator",
     known<&RunStatus::evaluator_wait>},
    {"sterna_gradient_bytes", true, "bytes", "Of gradients, as the codec sent them",
     number<&RunStatus::coded_bytes_up>},
    {"sterna_gradient_uncoded_bytes", true, "bytes", "The same gradients as fp32",
     number<&RunStatus::raw_bytes_up>},
    {"sterna_parameter_bytes", true, "bytes", "Of what came down, as it was sent",
     number<&RunStatus::coded_bytes_down>},
    {"sterna_parameter_uncoded_bytes", true, "bytes", "The same as fp32",
     number<&RunStatus::raw_bytes_down>},
    {"sterna_nonzero_trits_ratio", false, "ratio", "Trits that are not 0, of all",
     known<&RunStatus::nonzero>},
    {"sterna_saturated_trits_ratio", false, "ratio", "Elements larger than the last step's scaler",
     known<&RunStatus::saturated>},
    {"sterna_reader_pictures_per_second", false, "", "Prepared, while there were any to prepare",
     [](const RunStatus& s, const TakeSample& take) {
       for (const ReaderRate& one : s.readers)
         take({{"actor", one.reader}}, one.pictures_per_second);
     }},
    {"sterna_actor_up", false, "", "Whether the actor runs",
     [](const RunStatus& s, const TakeSample& take) {
       for (const ActorStatus& one : s.actors) {
         take({{"actor", one.name}, {"role", one.role}, {"host", one.host}, {"state", one.state}},
              one.state == "running" ? 1 : 0);
       }
     }},
    {"sterna_actor_incarnation", false, "", "Of the actor's process",
     of_actors<&ActorStatus::incarnation>},
    {"sterna_actor_memory_bytes", false, "bytes", "Resident, of the actor's process",
     of_actors<&ActorStatus::memory_bytes>},
    {"sterna_actor_queue_bytes", false, "bytes", "That wait to be sent",
     of_actors<&ActorStatus::queue_bytes>},
    {"sterna_actor_loop_lag_seconds", false, "seconds", "By which its loop is late",
     [](const RunStatus& s, const TakeSample& take) {
       for (const ActorStatus& one : s.actors) take({{"actor", one.name}}, one.loop_lag_ms / 1000);
     }},
    {"sterna_actor_received_bytes", true, "bytes", "Whole messages, as they travelled",
     of_actors<&ActorStatus::bytes_in>},
    {"sterna_actor_sent_bytes", true, "bytes", "Likewise", of_actors<&ActorStatus::bytes_out>},
});

constexpr Metric kCut = {"sterna_series_left_out", false, "",
                         "Series that are not here: there are more than the most"};

/// Of a label's value and of help, alike but for quotes. One byte that is not UTF-8, as a path may
/// have, and Prometheus refuses all there is.
std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

class Writer {
 public:
  Writer(ExpositionFormat format, std::size_t most) : format_(format), left_(most) {}

  void add(const Metric& metric, const RunStatus& status) {
    std::string samples;
    metric.samples(status, [&](const MetricLabels& labels, double value) {
      if (left_ == 0) {
        ++cut_;
        return;
      }
      --left_;
      samples += sample(metric, labels, value);
    });
    if (!samples.empty()) out_ += head(metric) + samples;
  }

  std::string end() {
    out_ += head(kCut) + sample(kCut, {}, static_cast<double>(cut_));
    if (format_ == ExpositionFormat::openmetrics) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  static std::string sample_name(const Metric& metric) {
    return std::string(metric.name) + (metric.counts ? "_total" : "");
  }
  std::string head(const Metric& metric) const {
    const bool open = format_ == ExpositionFormat::openmetrics;
    const std::string name = open ? std::string(metric.name) : sample_name(metric);
    std::string text = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(metric.help, open),
                                   name, metric.counts ? "counter" : "gauge");
    if (open && !metric.unit.empty()) text += fmt::format("# UNIT {} {}\n", name, metric.unit);
    return text;
  }
  static std::string sample(const Metric& metric, const MetricLabels& labels, double value) {
    std::string text = sample_name(metric);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      text += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first,
                          escaped(labels[i].second, true));
    }
    return text + (labels.empty() ? " " : "} ") + value_text(value) + "\n";
  }

  ExpositionFormat format_;
  std::size_t left_;
  std::size_t cut_ = 0;
  std::string out_;
};

std::string kind_of(const Metric& metric) { return metric.counts ? "counter" : "gauge"; }
std::string unit_of(const Metric& metric) { return std::string(metric.unit); }

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

std::string_view content_type(ExpositionFormat format) {
  return format == ExpositionFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string exposition(const RunStatus& status, ExpositionFormat format, std::size_t most_series) {
  Writer writer(format, most_series);
  for (const Metric& metric : kMetrics) writer.add(metric, status);
  return writer.end();
}

std::string metrics_as_text() {
  std::string text;
  for (const Metric& metric : kMetrics) {
    text += fmt::format("{}{}\n    {}, {}{}. {}.\n", metric.name, metric.counts ? "_total" : "",
                        kind_of(metric), metric.unit.empty() ? "a number" : "in ", unit_of(metric),
                        metric.help);
  }
  return text;
}

std::string metrics_as_markdown() {
  std::string text = "| metric | kind | unit | what |\n| --- | --- | --- | --- |\n";
  for (const Metric& metric : kMetrics) {
    text += fmt::format("| `{}{}` | {} | {} | {} |\n", metric.name, metric.counts ? "_total" : "",
                        kind_of(metric), unit_of(metric), metric.help);
  }
  return text;
}

}  // namespace sterna::launcher
