// What of a worker's ranks goes into checkpoints, and comes from them.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "actors/checkpoint/slots_begin.h"
#include "actors/checkpoint/state_part.h"
#include "actors/worker/worker.h"

namespace sterna::actors {
namespace {

Bytes bytes_of(std::span<const float> values) { return copy_bytes(std::as_bytes(values)); }

Result<std::vector<StatePiece>> pieces_of(std::uint32_t rank, RankNet& net,
                                          const ParameterTable& table,
                                          std::uint32_t averaged_ranks) {
  STERNA_ASSIGN(const GradientEncoder::State state, net.state());
  std::vector<StatePiece> pieces;
  for (std::size_t t = 0; t < state.residuals.size(); ++t) {
    if (state.residuals[t].empty()) continue;
    pieces.push_back({array_of(residual_state(rank, averaged_ranks), table.tensors[t].spec.name), 0,
                      bytes_of(state.residuals[t])});
  }
  // All ranks have the same.
  if (rank == 0 && !state.scalers.empty()) {
    pieces.push_back({std::string(kScalerState), 0, bytes_of(state.scalers)});
  }
  STERNA_ASSIGN(const std::vector<KeptArray> all, net.kept());
  for (const KeptArray& kept : all) {
    pieces.push_back({array_of(local_state(rank, kept.kind), table.tensors[kept.tensor].spec.name),
                      0, bytes_of(kept.values)});
  }
  return pieces;
}

}  // namespace

Task<void> Worker::keep_state(const Rank& rank, std::uint64_t version) {
  if (args_.keeper.empty() || !args_.job.ranks_have_state() || !kept().gathers(version)) {
    co_return;
  }
  auto copying = compute(
      [net = rank.net, number = rank.rank, table = table_, averaged = args_.job.averaged_ranks] {
        return pieces_of(number, *net, *table, averaged);
      });
  Result<std::vector<StatePiece>> pieces = co_await copying;
  if (!pieces) {
    fail(at_step(version, "what is kept", pieces.error()).message);
    co_return;
  }
  if (rank.slots_begin > 0) {
    pieces->push_back({local_slots_begin_state(rank.rank), 0, bytes_of(note_of(rank.slots_begin))});
  }
  kept().add(version, std::move(*pieces));
  if (served_ != nullptr) {
    served_->changed();
  } else {
    checkpoints_->write(kept_, [this] { return kept_.take(); });
  }
}

Task<void> Worker::keep_passed(Rank& rank) {
  const std::uint64_t until = std::min(rank.version, args_.job.steps);
  while (rank.kept < until) co_await keep_state(rank, ++rank.kept);
}

KeepAnswer Worker::on(KeepVersion keep) {
  std::uint64_t newest = args_.job.first_step;
  if (!checkpoints_->may_name(sender())) return {.version = newest};
  // In the place of one that was lost it does not know yet where it goes on.
  if (identity().incarnation > 1 && ranks_.size() < args_.ranks) return {.version = newest};
  for (const Rank& rank : ranks_) {
    newest = std::max(newest, policy_->in_step() ? rank.step : rank.kept);
  }
  if (newest >= keep.version) return {.kept = false, .version = newest};
  kept_.name(keep.version);
  return {.kept = true, .version = newest};
}

Task<Result<CopyKept>> Worker::on(KeepCopy what) {
  auto copying = checkpoints_->copy(sender(), std::move(what));
  co_return co_await copying;
}

Task<Result<void>> Worker::restore() {
  if (exchanges()) {
    Task<Result<std::uint64_t>> reading = read_slots_begin(*checkpoints_, *table_, args_.job);
    STERNA_CO_ASSIGN(const std::uint64_t begin, std::move(reading));
    for (Seat& seat : seats_) seat.replica->begin_slots_at(begin);
  }
  if (exchanges() || policy_->need(args_.job.first_step + 1).kind == PayloadKind::GRADIENT) {
    for (Seat& seat : seats_) {
      Task<Result<void>> slots = restore_slots(seat);
      STERNA_CO_TRY(std::move(slots));
    }
  }
  if (!args_.job.ranks_have_state()) co_return {};
  for (Rank& rank : ranks_) {
    if (!pushes(rank) || beginning_->goes_on(rank.rank)) continue;
    Task<Result<void>> state = restore_rank(rank);
    STERNA_CO_TRY(std::move(state));
  }
  co_return {};
}

/// Where ranks step by themselves they have the servers' slots.
Task<Result<void>> Worker::restore_slots(Seat& seat) {
  std::vector<StateTarget> targets;
  for (std::uint32_t c = 0; c < table_->chunks.size(); ++c) {
    const TableChunk& place = table_->chunks[c];
    const nets::ParameterSpec& spec = table_->tensors[place.tensor].spec;
    if (spec.role == nets::Role::statistic) continue;
    const std::vector<std::span<float>> slots = seat.replica->slots(c);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      targets.push_back({array_of(slot_state(args_.job.optimizer.name, slot), spec.name),
                         place.first, slots[slot]});
    }
  }
  Task<Result<std::vector<std::size_t>>> reading =
      checkpoints_->read(std::move(targets), args_.job.deadlines.step);
  // Of what is not there the servers say that it starts anew.
  STERNA_CO_ASSIGN(const std::vector<std::size_t> absent, std::move(reading));
  static_cast<void>(absent);
  co_return seat.replica->slots_restored();
}

Task<Result<void>> Worker::restore_rank(Rank& rank) {
  const JobConfig& job = args_.job;
  GradientEncoder::State state;
  std::vector<StateTarget> targets;
  if (job.gradient.error_feedback) {
    state.residuals.resize(table_->tensors.size());
    for (std::size_t t = 0; t < table_->tensors.size(); ++t) {
      const TableTensor& tensor = table_->tensors[t];
      if (!Residuals::has(job, tensor)) continue;
      state.residuals[t].resize(tensor.count);
      targets.push_back({array_of(residual_state(rank.rank, job.averaged_ranks), tensor.spec.name),
                         0, state.residuals[t]});
    }
  }
  const std::size_t residuals = targets.size();
  if (job.gradient.scaler == ScalerRule::last_step) {
    state.scalers.resize(table_->scalers.size());
    if (!state.scalers.empty()) {
      targets.push_back({std::string(kScalerState), 0, state.scalers});
    }
  }
  const std::size_t own = targets.size();
  STERNA_CO_ASSIGN(const std::vector<KeptArray> alone, rank.net->kept());
  for (const KeptArray& kept : alone) {
    targets.push_back(
        {array_of(local_state(rank.rank, kept.kind), table_->tensors[kept.tensor].spec.name), 0,
         kept.values});
  }
  const std::size_t all = targets.size();
  std::array<float, 2> note{};
  if (own < all) targets.push_back({local_slots_begin_state(rank.rank), 0, note});
  Task<Result<std::vector<std::size_t>>> reading =
      checkpoints_->read(std::move(targets), job.deadlines.step);
  STERNA_CO_ASSIGN(const std::vector<std::size_t> absent, std::move(reading));
  const auto lacks = [&](std::size_t first, std::size_t last) {
    return std::ranges::any_of(absent, [&](std::size_t i) { return first <= i && i < last; });
  };
  if (lacks(0, residuals)) {
    log(fmt::format("the checkpoint has no residuals of rank {}: they start from 0", rank.rank));
  }
  if (lacks(residuals, own)) {
    log("the checkpoint has no scalers of the step before: the ranks agree anew");
    state.scalers.clear();
  }
  bool has_slots = false;
  bool lacks_slots = false;
  bool lacks_place = false;  // where an elastic rank is
  for (std::size_t i = own; i < all; ++i) {
    const KeptArray& kept = alone[i - own];
    const bool there = !std::ranges::binary_search(absent, i);
    if (kept.kind.starts_with(job.local_optimizer.name + ".")) {
      (there ? has_slots : lacks_slots) = true;
    } else if (!there && !kept.optional) {
      lacks_place = true;
    }
  }
  std::vector<std::string_view> anew;
  if (lacks_place) anew.emplace_back("its parameters");
  if (lacks_slots) anew.emplace_back(has_slots ? "some of its slots" : "its slots");
  if (!anew.empty()) {
    log(fmt::format("the checkpoint lacks what rank {} has of its own steps: {} start anew",
                    rank.rank, fmt::join(anew, " and ")));
  }
  if (lacks_slots && !has_slots) {
    rank.slots_begin = job.first_own_step();
  } else if (own < all) {
    // With a shorter window than the one that it was noted in it may lie behind where the rank is.
    rank.slots_begin = std::min(step_of(note), job.first_own_step());
  }
  if (own < all) STERNA_CO_TRY(rank.net->restored(!lacks_place));
  rank.net->restore(std::move(state));
  co_return {};
}

}  // namespace sterna::actors
