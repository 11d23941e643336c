#include "launcher/record/run_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/codecs/codec.h"
#include "launcher/text/whole_number.h"
#include "runtime/base/hex.h"

namespace sterna::launcher {

namespace {

constexpr double kBitsPerByte = 8;

std::optional<double> bits(std::uint64_t bytes, std::uint64_t elements) {
  if (elements == 0) return std::nullopt;
  return kBitsPerByte * static_cast<double>(bytes) / static_cast<double>(elements);
}

const char* name(actors::HistogramOf of) {
  switch (of) {
    case actors::HistogramOf::WEIGHTS:
      return "weights";
    case actors::HistogramOf::GRADIENTS:
      return "gradients";
    case actors::HistogramOf::SENT:
      return "sent";
    case actors::HistogramOf::ACTIVATIONS:
      break;
  }
  return "activations";
}

/// One tensor's, of all workers.
TensorMetrics metrics_of(const actors::TensorTotals& totals) {
  constexpr double kFloatBytes = 4;
  const auto elements = static_cast<double>(totals.elements);
  const auto steps = static_cast<double>(totals.steps);
  const auto up = static_cast<double>(totals.bytes_up);
  const auto down = static_cast<double>(totals.bytes_down);
  const auto pushes = static_cast<double>(totals.pushes);
  // As many versions as gradients: the first one came before the first gradient.
  const double sent = elements * pushes;
  return {.tensor = totals.tensor,
          .codec = std::string(actors::codec_of(totals.codec).name),
          .elements = static_cast<std::int64_t>(totals.elements),
          .bits_up = fraction(kBitsPerByte * up, sent),
          .bits_down = fraction(kBitsPerByte * down, sent),
          .ratio = fraction(2 * kFloatBytes * sent, up + down),
          .nonzero =
              fraction(static_cast<double>(totals.nonzero), static_cast<double>(totals.ternarized)),
          .saturated =
              fraction(static_cast<double>(totals.saturated), static_cast<double>(totals.measured)),
          .encode_seconds = fraction(totals.encode_seconds, pushes),
          .decode_seconds = fraction(totals.decode_seconds, steps),
          .exchange_seconds = fraction(totals.exchange_seconds, steps)};
}

constexpr const char* kAverages = "averages";
constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;  // which a double has exactly

/// In what an evaluation is another than of a subset's averages or parameters: "on train", "of
/// averages", "on train of averages".
std::string difference(const EvaluationResult& result, const std::string& subset, bool averages) {
  std::string what = result.subset == subset ? "" : "on " + result.subset;
  if ((result.of == kAverages) != averages) what += (what.empty() ? "of " : " of ") + result.of;
  return what;
}

void keep_other(std::vector<OtherPrecision>& others, std::string what, double precision) {
  const auto known = std::ranges::find(others, what, &OtherPrecision::what);
  if (known != others.end()) {
    known->precision_at_1 = precision;
  } else {
    others.push_back({std::move(what), precision});
  }
}

}  // namespace

RunTally::RunTally(RunRecord& record, const ClusterFile& file, const actors::JobConfig& job,
                   TrainingListener& listener)
    : record_(record),
      shards_(job.shards > 0),
      main_subset_(actors::main_subset(file.evaluation)),
      averages_(file.evaluates_averages()),
      job_steps_(job.steps),
      losses_(job),
      totals_(job.first_step),
      listener_(listener) {
  for (const ActorPlan& actor : file.actors) {
    if (actor.role == Role::kWorker) workers_.insert(actor.name);
  }
  record_.guessing_loss = std::log(std::max(job.classes, 1U));
}

double RunTally::since_first_step(Time now) const {
  return record_.first_step_began ? in_seconds(now - *record_.first_step_began) : 0;
}

void RunTally::begin(double seconds_ago, Time now) {
  if (record_.first_step_began) return;
  constexpr std::int64_t kMostNanoseconds = 1'000'000'000'000'000'000;  // 30 years
  record_.first_step_began = now + Duration(-whole_number(seconds_ago * 1e9, 0, kMostNanoseconds));
  record_.first_step_seen = now;
  record_.status.phase = "training";
}

void RunTally::total(Time now) {
  actors::Traffic sum;
  std::uint64_t lost_losses = 0;
  std::uint64_t examples = 0;
  double loss = 0;
  double decay_loss = 0;
  double seconds = 0;
  double data_seconds = 0;
  double left = 0;  // workers that are not lost
  std::uint64_t step = UINT64_MAX;
  for (const auto& [name, progress] : record_.progress) {
    sum += progress.traffic;
    lost_losses += progress.lost_losses;
    examples += progress.examples;
    seconds += progress.seconds;
    data_seconds += progress.data_seconds;
    if (record_.workers_lost.contains(name)) continue;
    step = std::min(step, progress.step);
    loss += progress.loss;
    decay_loss += progress.decay_loss;
    ++left;
  }
  RunStatus& status = record_.status;
  if (!std::ranges::all_of(workers_, [&](const std::string& name) {
        return record_.progress.contains(name) || record_.workers_lost.contains(name);
      })) {
    step = static_cast<std::uint64_t>(status.first_step);
  }
  // All versions are made, though a rank that others do not wait for may still be in its last step.
  if (record_.finished) step = job_steps_;
  RunResult& result = record_.result;
  status.step = static_cast<std::int64_t>(step);
  if (left > 0) {
    status.loss = loss / left;
    status.decay_loss = decay_loss / left;
  }
  if (!record_.finished) status.elapsed_seconds = since_first_step(now);
  // Of the training: what is heard after it, and the last evaluation, take nothing off its rate.
  if (!record_.trained && status.elapsed_seconds > 0 && status.step > status.first_step) {
    status.examples_per_second = static_cast<double>(examples) / status.elapsed_seconds;
    status.left_seconds = status.elapsed_seconds /
                          static_cast<double>(status.step - status.first_step) *
                          static_cast<double>(status.steps - status.step);
  }
  result.examples_per_second = status.examples_per_second;
  result.bytes_up = sum.bytes_up;
  result.bytes_down = sum.bytes_down;
  result.bits_per_ternarized_element_up = bits(sum.ternarized_bytes, sum.ternarized_elements);
  // Whole frames, questions to the reader and heartbeats included: what the network really carries.
  result.bits_per_element_up = bits(sum.bytes_up, sum.gradient_elements);
  result.bits_per_element_down = bits(sum.parameter_bytes, sum.parameter_elements);
  result.steps = status.step;
  result.loss = status.loss;
  result.decay_loss = status.decay_loss;
  constexpr std::uint64_t kFloat = 4;
  status.raw_bytes_up = sum.gradient_elements * kFloat;
  status.coded_bytes_up = result.coded_bytes_up = sum.gradient_bytes;
  status.raw_bytes_down = sum.parameter_elements * kFloat;
  status.coded_bytes_down = result.coded_bytes_down = sum.parameter_bytes;
  status.nonzero = fraction(static_cast<double>(sum.nonzero_elements),
                            static_cast<double>(sum.ternarized_elements));
  status.saturated = fraction(static_cast<double>(sum.saturated_elements),
                              static_cast<double>(sum.measured_elements));
  status.late_packets = result.late_packets = sum.late_packets;
  status.staleness = result.staleness =
      fraction(static_cast<double>(sum.staleness), static_cast<double>(sum.lone_packets));
  status.most_stale = result.most_stale = sum.most_stale;
  result.lost_losses = lost_losses;
  result.data_wait = fraction(data_seconds, seconds);
  double recent = 0;
  double recent_wait = 0;
  for (const auto& [name, waited] : record_.data_waits) {
    recent_wait += waited.part();
    recent += waited.whole();
  }
  status.data_wait = fraction(recent_wait, recent);
  status.bits_up = result.bits_per_element_up;
  status.bits_down = result.bits_per_element_down;
}

void RunTally::tell_losses(const std::vector<actors::RankLoss>& losses) {
  for (const actors::RankLoss& loss : losses) {
    for (const LossMetrics& whole : losses_.add(loss)) {
      listener_.loss(whole);
    }
  }
}

void RunTally::go_on(actors::Progress& progress, std::uint64_t incarnation) {
  std::uint64_t& known = incarnations_[progress.worker];
  actors::Progress& before = record_.progress_before[progress.worker];
  if (incarnation > known) {
    known = incarnation;
    before = record_.progress[progress.worker];
  }
  progress.examples += before.examples;
  progress.seconds += before.seconds;
  progress.data_seconds += before.data_seconds;
  progress.lost_losses += before.lost_losses;
  progress.traffic += before.traffic;
}

StepMetrics RunTally::step_metrics() {
  const RunStatus& status = record_.status;
  const StepTotals::Counts then = totals_.at(static_cast<std::uint64_t>(status.step));
  const auto whole = [](double count) {
    return static_cast<std::uint64_t>(whole_number(count, 0, kMostCounted));
  };
  StepMetrics metrics;
  metrics.step = status.step;
  metrics.seconds = then.seconds;
  metrics.examples = whole_number(then.examples, 0, kMostCounted);
  metrics.loss = status.loss.value_or(0);
  metrics.decay_loss = status.decay_loss.value_or(0);
  metrics.examples_per_second = status.examples_per_second.value_or(0);
  metrics.bytes_up = whole(then.bytes_up);
  metrics.bytes_down = whole(then.bytes_down);
  metrics.coded_bytes_up = whole(then.coded_bytes_up);
  metrics.coded_bytes_down = whole(then.coded_bytes_down);
  metrics.bits_up = status.bits_up;
  metrics.bits_down = status.bits_down;
  metrics.nonzero = status.nonzero;
  metrics.saturated = status.saturated;
  metrics.staleness = status.staleness;
  metrics.data_wait = status.data_wait;
  metrics.readers = status.readers;
  return metrics;
}

void RunTally::progress(actors::Progress progress, std::uint64_t incarnation, Time now) {
  begin(progress.seconds, now);
  const std::string worker = progress.worker;
  go_on(progress, incarnation);
  record_.data_waits[worker].add(progress.seconds, progress.data_seconds, progress.seconds);
  tell_losses(std::exchange(progress.losses, {}));
  totals_.add(worker, progress.step,
              {.seconds = since_first_step(now),
               .bytes_up = static_cast<double>(progress.traffic.bytes_up),
               .bytes_down = static_cast<double>(progress.traffic.bytes_down),
               .coded_bytes_up = static_cast<double>(progress.traffic.gradient_bytes),
               .coded_bytes_down = static_cast<double>(progress.traffic.parameter_bytes),
               .examples = static_cast<double>(progress.examples)});
  record_.progress[worker] = std::move(progress);
  const std::int64_t before = record_.status.step;
  total(now);
  count_waits(record_, now);
  if (record_.status.step != before) listener_.step(step_metrics());
}

void RunTally::evaluated(actors::Evaluated evaluated, Time now) {
  const bool averages = evaluated.of == actors::schema::PayloadKind::MOVING_AVERAGE;
  const bool main = evaluated.subset == main_subset_ && averages == averages_;
  EvaluationResult result;
  result.step = static_cast<std::int64_t>(evaluated.step);
  result.seconds = since_first_step(now);
  result.precision_at_1 = evaluated.precision_at_1;
  result.examples = static_cast<std::int64_t>(evaluated.examples);
  result.left_out_examples = evaluated.left_out;
  if (evaluated.classes > actors::kRecalled) result.recall_at_5 = evaluated.recall_at_5;
  result.loss = evaluated.loss;
  result.subset = evaluated.subset;
  result.of = averages ? kAverages : "parameters";
  const bool known = std::ranges::any_of(record_.result.evaluations, [&](const auto& one) {
    return one.step == result.step && one.subset == result.subset && one.of == result.of;
  });
  if (known) return;  // from an evaluator that was lost before it heard that we have it
  RunStatus& status = record_.status;
  status.skipped_evaluations = record_.result.skipped_evaluations = evaluated.skipped;
  record_.result.seconds = result.seconds;
  if (main) {
    record_.result.precision_at_1 = status.precision_at_1 = result.precision_at_1;
    record_.result.recall_at_5 = status.recall_at_5 = result.recall_at_5;
    status.precision_step = result.step;
    status.precision_what = difference(result, actors::kTestSubset, false);
    if (!evaluated.confusion.empty()) {
      record_.confusion = Confusion{evaluated.classes, std::move(evaluated.confusion)};
    }
  } else {
    keep_other(record_.status.others, difference(result, main_subset_, averages_),
               result.precision_at_1);
  }
  record_.result.evaluations.push_back(result);
  listener_.evaluation(result);
}

void RunTally::watched(actors::Watched told) {
  // A worker that came again counts anew.
  const std::uint64_t known = told.lost < known_lost_histograms_ ? 0 : known_lost_histograms_;
  record_.result.lost_histograms += told.lost - known;
  known_lost_histograms_ = told.lost;
  for (actors::TensorHistogram& one : told.histograms) {
    listener_.histogram({.step = static_cast<std::int64_t>(told.step),
                         .tensor = std::move(one.tensor),
                         .of = name(one.of),
                         .elements = one.elements,
                         .least = one.least,
                         .most = one.most,
                         .sum = one.sum,
                         .sum_of_squares = one.sum_of_squares,
                         .buckets = std::move(one.buckets),
                         .counts = std::move(one.counts)});
  }
  for (std::size_t i = 0; i < told.pictures.size(); ++i) {
    const actors::WatchedPicture& one = told.pictures[i];
    listener_.picture({.step = static_cast<std::int64_t>(told.step),
                       .number = static_cast<std::int64_t>(i),
                       .rows = one.shape.rows,
                       .columns = one.shape.columns,
                       .channels = one.shape.channels,
                       .label = one.label,
                       .prediction = one.prediction,
                       .pixels = to_hex(one.pixels.view())});
  }
}

void RunTally::server_waits(const actors::ServerWaits& waits, Time now) {
  count_waits(record_, now);
  if (waits.waits) {
    record_.waiting.insert(waits.server);
  } else {
    record_.waiting.erase(waits.server);
  }
}

void RunTally::residuals_lost(const actors::ResidualsLost& lost) {
  record_.status.residuals_lost += lost.ranks;
  record_.result.residuals_lost = record_.status.residuals_lost;
}

void RunTally::done(actors::WorkerDone done, std::uint64_t incarnation, Time now) {
  // One that was lost when it was done comes again, and says it again.
  if (!record_.workers_done.insert(done.worker).second) return;
  actors::Progress& last = record_.progress[done.worker];
  actors::Progress whole{.worker = done.worker, .seconds = done.seconds, .traffic = done.traffic};
  go_on(whole, incarnation);
  last.worker = done.worker;
  last.step = done.steps;
  // Who comes again when others have made all versions has no step of its own to tell of.
  if (done.loss != 0) {
    last.loss = done.loss;
    last.decay_loss = done.decay_loss;
  }
  last.seconds = whole.seconds;
  last.traffic = whole.traffic;
  record_.median_step_seconds = std::max(record_.median_step_seconds, done.median_step_seconds);
  note_plans(record_.result, done.worker, std::move(done.computed_by));
  total(now);
  std::vector<actors::TensorTotals>& tensors = record_.tensors;
  if (tensors.empty()) {
    tensors = std::move(done.tensors);
  } else if (tensors.size() == done.tensors.size()) {
    for (std::size_t t = 0; t < tensors.size(); ++t) tensors[t] += done.tensors[t];
  }
  if (all_done(record_, workers_) && !record_.finished) {
    training_is_over(now);
    record_.status.phase = "evaluating";
  }
}

void RunTally::training_is_over(Time now) {
  record_.trained = true;
  count_waits(record_, now);
  record_.status.evaluator_wait.reset();
  record_.status.left_seconds.reset();
  for (const actors::TensorTotals& totals : record_.tensors) {
    listener_.tensor(metrics_of(totals));
  }
}

void RunTally::finished(actors::JobFinished finished, Time now) {
  if (record_.finished) return;
  record_.result.parameters_sha256 = finished.parameters_sha256;
  record_.result.seconds = since_first_step(now);
  record_.status.elapsed_seconds = since_first_step(now);
  record_.finished = true;
  // Some worker may still be in its last step, or have been lost when the others were done.
  if (!record_.trained) training_is_over(now);
  total(now);
}

void RunTally::reader(actors::ReaderProgress progress, Time now) {
  actors::ReaderProgress& before = record_.readers_before[progress.reader];
  actors::ReaderProgress& last = record_.readers_last[progress.reader];
  if (progress.pictures < last.pictures) {  // it has begun to count anew
    before.pictures += last.pictures;
    before.busy_seconds += last.busy_seconds;
  }
  last = progress;
  before.left_out = std::max(before.left_out, progress.left_out);
  std::uint64_t& all = record_.result.left_out_examples;
  all = 0;
  for (const auto& [reader, counts] : record_.readers_before) {
    all = shards_ ? all + counts.left_out : std::max(all, counts.left_out);
  }
  progress.pictures += before.pictures;
  progress.busy_seconds += before.busy_seconds;
  const auto pictures = static_cast<double>(progress.pictures);
  RecentRatio& counted = record_.readers[progress.reader];
  counted.add(in_seconds(now - Time{}), pictures, progress.busy_seconds);
  const auto tell = [&](std::vector<ReaderRate>& readers, std::optional<double> rate) {
    if (!rate) return;
    const auto place = std::ranges::lower_bound(readers, progress.reader, {}, &ReaderRate::reader);
    const bool known = place != readers.end() && place->reader == progress.reader;
    *(known ? place : readers.insert(place, ReaderRate{})) = {progress.reader, *rate,
                                                              progress.threads};
  };
  tell(record_.status.readers, fraction(counted.part(), counted.whole()));
  tell(record_.result.readers, fraction(pictures, progress.busy_seconds));
}

}  // namespace sterna::launcher
