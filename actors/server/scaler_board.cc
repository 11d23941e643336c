#include "actors/server/scaler_board.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sterna::actors {
namespace {

Error broken_scalers(std::string message) { return {Errc::invalid_argument, std::move(message)}; }

}  // namespace

ScalerBoard::ScalerBoard(const ParameterTable& table, std::uint32_t shard, const JobConfig& job)
    : rule_(job.gradient.scaler),
      newest_(job.takes_newest_scalers()),
      ranks_(job.ranks),
      counted_(job.counted_ranks()),
      first_step_(job.first_step),
      steps_(job.steps) {
  entries_.resize(table.scalers.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (table.scalers[i].shard != shard) continue;
    entries_[i].here = true;
    entries_[i].offered.resize(ranks_);
    begin(entries_[i], first_step_);
  }
}

void ScalerBoard::begin(Entry& entry, std::uint64_t step) const {
  for (std::optional<float>& one : entry.offered) one.reset();
  entry.missing = counted_;
  entry.step = step;
}

Result<void> ScalerBoard::check(const Offer& offer) const {
  for (const Offer::OwnScaler& scaler : offer.scalers) {
    if (scaler.index >= entries_.size() || !entries_[scaler.index].here) {
      return broken_scalers(fmt::format("scaler {} is not agreed here", scaler.index));
    }
    if (!std::isfinite(scaler.value) || scaler.value < 0) {
      return broken_scalers(fmt::format("scaler {} of {}", scaler.index, scaler.value));
    }
    if (newest_) {
      if (offer.step < steps_) continue;
      return broken_scalers(
          fmt::format("scaler {} of step {} of {}", scaler.index, offer.step, steps_));
    }
    const Entry& entry = entries_[scaler.index];
    const std::optional<float>& before = entry.offered[offer.rank];
    if (offer.step < entry.step && agreed(offer.step, scaler.index)) continue;  // said again
    if (offer.step < entry.step && offer.step >= first_step_) {
      return Error{Errc::not_found, fmt::format("scaler {} of step {} is gone, at step {}",
                                                scaler.index, offer.step, entry.step)};
    }
    if (offer.step != entry.step) {
      return broken_scalers(
          fmt::format("scaler {} of step {}, at step {}", scaler.index, offer.step, entry.step));
    }
    if (before && *before != scaler.value) {
      return broken_scalers(fmt::format("scaler {} of step {}, twice", scaler.index, offer.step));
    }
  }
  return {};
}

Result<bool> ScalerBoard::offer(const Offer& offer) {
  if (offer.rank >= ranks_) return broken_scalers(fmt::format("rank {} of {}", offer.rank, ranks_));
  STERNA_TRY(check(offer));
  bool complete = false;
  for (const Offer::OwnScaler& scaler : offer.scalers) {
    Entry& entry = entries_[scaler.index];
    // A version may be there before all whose gradients made it have offered their scalers.
    if (newest_ && offer.step > entry.step) begin(entry, offer.step);
    if (offer.step != entry.step || entry.offered[offer.rank]) continue;
    entry.offered[offer.rank] = scaler.value;
    if (--entry.missing > 0) continue;
    entry.before_last = entry.last;
    entry.last = combined(entry);
    entry.known = std::min(entry.known + 1, 2U);
    begin(entry, entry.step + 1);
    complete = true;
  }
  return complete;
}

float ScalerBoard::combined(const Entry& entry) const {
  double sum = 0;
  float largest = 0;
  for (const std::optional<float>& one : entry.offered) {
    if (!one) continue;
    sum += double{*one};
    largest = std::max(largest, *one);
  }
  return rule_ == ScalerRule::mean ? static_cast<float>(sum / ranks_) : largest;
}

std::optional<float> ScalerBoard::agreed(std::uint64_t step, std::uint32_t index) const {
  const Entry& entry = entries_[index];
  if (newest_) return entry.known > 0 ? entry.last : combined(entry);
  if (step + 1 == entry.step && entry.known > 0) return entry.last;
  if (step + 2 == entry.step && entry.known > 1) return entry.before_last;
  return std::nullopt;
}

std::uint64_t ScalerBoard::first_lacking(std::uint32_t rank) const {
  std::uint64_t first = steps_;
  for (const Entry& entry : entries_) {
    if (entry.here) first = std::min(first, entry.step + (entry.offered[rank] ? 1 : 0));
  }
  return first;
}

Result<std::vector<float>> ScalerBoard::recall(std::uint64_t step) const {
  std::vector<float> values;
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    if (!entries_[index].here) continue;
    const std::optional<float> value = agreed(step, index);
    if (!value) {
      return Error{Errc::not_found, fmt::format("scaler {} of step {}, at step {}", index, step,
                                                entries_[index].step)};
    }
    values.push_back(*value);
  }
  return values;
}

}  // namespace sterna::actors
