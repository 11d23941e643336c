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
      may_differ_(job.gradient.zeroes_residuals()),
      ranks_(job.ranks),
      averaged_(job.averaged_ranks),
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
    if (before && *before != scaler.value && !may_differ_) {
      return broken_scalers(fmt::format("scaler {} of step {}, twice", scaler.index, offer.step));
    }
  }
  return {};
}

Result<bool> ScalerBoard::offer(const Offer& offer) {
  if (offer.rank >= ranks_) return broken_scalers(fmt::format("rank {} of {}", offer.rank, ranks_));
  if (offer.rank % averaged_ != 0) {
    return broken_scalers(fmt::format("rank {} has no scalers of its own", offer.rank));
  }
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
  return rule_ == ScalerRule::mean ? static_cast<float>(sum / counted_) : largest;
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

bool ScalerBoard::is_early(const Offer& offer) const {
  return !newest_ && std::ranges::any_of(offer.scalers, [&](const Offer::OwnScaler& scaler) {
    if (scaler.index >= entries_.size()) return false;
    const Entry& entry = entries_[scaler.index];
    return entry.here && offer.step == entry.step + 1 && offer.step < steps_;
  });
}

bool ScalerBoard::has_come_to(std::uint64_t step) const {
  if (rule_ == ScalerRule::own) return true;
  return std::ranges::all_of(entries_, [&](const Entry& entry) {
    return !entry.here || entry.step >= std::min(step, steps_ - 1);
  });
}

std::vector<BoardCopy::Scaler> ScalerBoard::copy() const {
  std::vector<BoardCopy::Scaler> scalers;
  for (const Entry& entry : entries_) {
    if (!entry.here) continue;
    scalers.push_back({.step = entry.step,
                       .known = entry.known,
                       .last = entry.last,
                       .before_last = entry.before_last});
  }
  return scalers;
}

Result<void> ScalerBoard::take_copy(const std::vector<BoardCopy::Scaler>& scalers) {
  std::size_t i = 0;
  for (Entry& entry : entries_) {
    if (!entry.here) continue;
    if (i == scalers.size()) break;
    const BoardCopy::Scaler& from = scalers[i++];
    if (from.known > 2 || from.step < first_step_ || from.step > steps_) {
      return Error{Errc::malformed, "scalers of another job"};
    }
    begin(entry, from.step);
    entry.known = from.known;
    entry.last = from.last;
    entry.before_last = from.before_last;
  }
  if (i == scalers.size() && i == static_cast<std::size_t>(std::ranges::count_if(
                                      entries_, [](const Entry& one) { return one.here; }))) {
    return {};
  }
  return Error{Errc::malformed, fmt::format("{} scalers, which are others", scalers.size())};
}

void ScalerBoard::begin_at(std::uint64_t step) {
  for (Entry& entry : entries_) {
    if (entry.here) begin(entry, step);
  }
}

bool ScalerBoard::comes_to(std::uint64_t step) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    return entry.here && (entry.step == step || entry.step + 1 == step);
  });
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
