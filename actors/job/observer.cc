#include "actors/job/observer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/numbers/histogram.h"
#include "runtime/message/fields.h"

namespace sterna::actors {

STERNA_FIELDS(Traffic, FIELD(bytes_up, BytesUp), FIELD(bytes_down, BytesDown),
              FIELD(bytes_before_backward_ended, BytesBeforeBackwardEnded),
              FIELD(gradient_bytes, GradientBytes), FIELD(gradient_elements, GradientElements),
              FIELD(ternarized_bytes, TernarizedBytes),
              FIELD(ternarized_elements, TernarizedElements),
              FIELD(parameter_bytes, ParameterBytes), FIELD(parameter_elements, ParameterElements),
              FIELD(nonzero_elements, NonzeroElements), FIELD(measured_elements, MeasuredElements),
              FIELD(saturated_elements, SaturatedElements), FIELD(late_packets, LatePackets),
              FIELD(lone_packets, LonePackets), FIELD(staleness, Staleness),
              FIELD(most_stale, MostStale))

STERNA_FIELDS(TensorTotals, FIELD(tensor, Tensor), FIELD(codec, Codec), FIELD(steps, Steps),
              FIELD(pushes, Pushes), FIELD(elements, Elements), FIELD(bytes_up, BytesUp),
              FIELD(bytes_down, BytesDown), FIELD(ternarized, Ternarized), FIELD(nonzero, Nonzero),
              FIELD(measured, Measured), FIELD(saturated, Saturated),
              FIELD(encode_seconds, EncodeSeconds), FIELD(decode_seconds, DecodeSeconds),
              FIELD(exchange_seconds, ExchangeSeconds))

// A loss that diverged is told as it is.
STERNA_FIELDS(RankLoss, FIELD(step, Step), FIELD(rank, Rank), FIELD(loss, Loss, any_float),
              FIELD(decay_loss, DecayLoss, any_float))

STERNA_MESSAGE(Progress, FIELD(worker, Worker), FIELD(step, Step), FIELD(loss, Loss, any_float),
               FIELD(decay_loss, DecayLoss, any_float), FIELD(examples, Examples),
               FIELD(seconds, Seconds), FIELD(traffic, Traffic), FIELD(data_seconds, DataSeconds),
               FIELD(losses, Losses, at_most(Progress::kMostLosses)),
               FIELD(lost_losses, LostLosses))

STERNA_MESSAGE(ReaderProgress, FIELD(reader, Reader), FIELD(pictures, Pictures),
               FIELD(busy_seconds, BusySeconds), FIELD(threads, Threads), FIELD(left_out, LeftOut))

STERNA_FIELDS(ConfusionCell, FIELD(label, Label), FIELD(answer, Answer), FIELD(count, Count))
STERNA_MESSAGE(Evaluated, FIELD(step, Step), FIELD(precision_at_1, PrecisionAt1),
               FIELD(loss, Loss, any_float), FIELD(examples, Examples), FIELD(left_out, LeftOut),
               FIELD(recall_at_5, RecallAt5), FIELD(classes, Classes), FIELD(subset, Subset),
               FIELD(of, Of), FIELD(skipped, Skipped),
               FIELD(confusion, Confusion,
                     at_most(kMostConfusedClasses*(kMostConfusedClasses + 1))))

Result<void> Evaluated::check() const {
  const auto place = [](const ConfusionCell& cell) { return std::pair(cell.label, cell.answer); };
  if (!confusion.empty() && classes > kMostConfusedClasses) {
    return Error{Errc::malformed, "a confusion of too many classes"};
  }
  const bool within = std::ranges::all_of(confusion, [&](const ConfusionCell& cell) {
    return cell.label < classes && cell.answer <= classes;
  });
  if (!within) return Error{Errc::malformed, "a confusion with more classes than there are"};
  if (std::ranges::adjacent_find(confusion, std::ranges::greater_equal(), place) !=
      confusion.end()) {
    return Error{Errc::malformed, "a confusion out of order"};
  }
  return {};
}

STERNA_FIELDS(TensorHistogram, FIELD(tensor, Tensor, not_empty), FIELD(of, Of),
              FIELD(elements, Elements), FIELD(non_finite, NonFinite), FIELD(least, Least),
              FIELD(most, Most), FIELD(sum, Sum), FIELD(sum_of_squares, SumOfSquares),
              FIELD(buckets, Buckets), FIELD(counts, Counts))
STERNA_FIELDS(WatchedPicture, FIELD(shape.rows, Rows), FIELD(shape.columns, Columns),
              FIELD(shape.channels, Channels), FIELD(pixels, Pixels), FIELD(label, Label),
              FIELD(prediction, Prediction))
STERNA_MESSAGE(Watched, FIELD(worker, Worker), FIELD(step, Step), FIELD(histograms, Histograms),
               FIELD(lost, Lost), FIELD(pictures, Pictures, at_most(kMostWatchedPictures)))

Result<void> Watched::check() const {
  constexpr auto kMost = static_cast<std::int32_t>(kernels::kHistogramMagnitudes);
  for (const TensorHistogram& one : histograms) {
    const auto& buckets = one.buckets;
    if (buckets.size() != one.counts.size()) {
      return Error{Errc::malformed, "a histogram with other buckets than counts"};
    }
    if (std::ranges::adjacent_find(buckets, std::ranges::greater_equal()) != buckets.end()) {
      return Error{Errc::malformed, "a histogram's buckets out of order"};
    }
    if (!buckets.empty() && (buckets.front() <= -kMost || buckets.back() >= kMost)) {
      return Error{Errc::malformed, "a histogram's bucket that no number is in"};
    }
  }
  for (const WatchedPicture& one : pictures) {
    if (one.pixels.size() != one.shape.bytes()) {
      return Error{Errc::malformed, "a picture with other bytes than its shape has"};
    }
  }
  return {};
}

STERNA_MESSAGE(ServerWaits, FIELD(server, Server), FIELD(waits, Waits))
STERNA_MESSAGE(ActorWhole, FIELD(actor, Actor), FIELD(incarnation, Incarnation))
STERNA_MESSAGE(ResidualsLost, FIELD(worker, Worker), FIELD(incarnation, Incarnation),
               FIELD(ranks, Ranks), FIELD(step, Step))

STERNA_MESSAGE(WorkerDone, FIELD(worker, Worker), FIELD(steps, Steps), FIELD(loss, Loss, any_float),
               FIELD(decay_loss, DecayLoss, any_float), FIELD(seconds, Seconds),
               FIELD(median_step_seconds, MedianStepSeconds), FIELD(traffic, Traffic),
               FIELD(tensors, Tensors),
               FIELD(computed_by.device, Device, at_most(DevicePlans::kMostBytes)),
               FIELD(computed_by.plans, Plans, at_most(DevicePlans::kMost)))

Result<void> WorkerDone::check() const {
  for (const std::string& plan : computed_by.plans) {
    if (plan.size() <= DevicePlans::kMostBytes) continue;
    return Error{Errc::malformed, "a plan with a name that is too long"};
  }
  return {};
}

DevicePlans DevicePlans::of(const std::string& device, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::size_t>> counted;
  for (const std::string& name : names) {
    const auto known =
        std::ranges::find(counted, name, &std::pair<std::string, std::size_t>::first);
    if (known != counted.end()) {
      ++known->second;
    } else if (counted.size() < kMost) {
      counted.emplace_back(name, 1);
    }
  }
  DevicePlans made{device.substr(0, kMostBytes), {}};
  for (const auto& [name, times] : counted) {
    const std::string often = times > 1 ? fmt::format(" ({})", times) : "";
    made.plans.push_back(name.substr(0, kMostBytes - often.size()) + often);
  }
  return made;
}

std::string DevicePlans::text() const {
  return plans.empty() ? device : fmt::format("{}, by {}", device, fmt::join(plans, ", "));
}

STERNA_MESSAGE(JobFinished, FIELD(parameters_sha256, ParametersSha256), FIELD(weights, Weights),
               FIELD(parameters, Parameters))

Traffic& Traffic::operator+=(const Traffic& other) {
  bytes_up += other.bytes_up;
  bytes_down += other.bytes_down;
  bytes_before_backward_ended += other.bytes_before_backward_ended;
  gradient_bytes += other.gradient_bytes;
  gradient_elements += other.gradient_elements;
  ternarized_bytes += other.ternarized_bytes;
  ternarized_elements += other.ternarized_elements;
  parameter_bytes += other.parameter_bytes;
  parameter_elements += other.parameter_elements;
  nonzero_elements += other.nonzero_elements;
  measured_elements += other.measured_elements;
  saturated_elements += other.saturated_elements;
  late_packets += other.late_packets;
  lone_packets += other.lone_packets;
  staleness += other.staleness;
  most_stale = std::max(most_stale, other.most_stale);
  return *this;
}

TensorTotals& TensorTotals::operator+=(const TensorTotals& other) {
  steps += other.steps;
  pushes += other.pushes;
  bytes_up += other.bytes_up;
  bytes_down += other.bytes_down;
  ternarized += other.ternarized;
  nonzero += other.nonzero;
  measured += other.measured;
  saturated += other.saturated;
  encode_seconds += other.encode_seconds;
  decode_seconds += other.decode_seconds;
  exchange_seconds += other.exchange_seconds;
  return *this;
}

}  // namespace sterna::actors
