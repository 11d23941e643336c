#include "actors/server/shard.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "kernels/optimizer/moving_average.h"

namespace sterna::actors {
namespace {

Error broken_push(std::string message) { return {Errc::invalid_argument, std::move(message)}; }
/// Who add what they have by themselves to what is kept of a version, besides the chunks.
std::size_t ranks_beside(const JobConfig& job) {
  return job.exchanges_within() && job.ranks_have_state() ? job.pushing_ranks() : 0;
}
/// Of who is late: what he speaks of was there.
Error over(std::string message) { return {Errc::not_found, std::move(message)}; }

}  // namespace

Shard::Shard(const JobConfig& job, ParameterTable table, std::uint32_t index,
             std::unique_ptr<ServerPolicy> policy)
    : job_(job),
      table_(std::move(table)),
      index_(index),
      policy_(std::move(policy)),
      chunks_(table_.chunks.size()),
      kept_(job, changing().size() + ranks_beside(job)),
      keeps_before_(job.ranks_repeat_steps()),
      promised_(job, *policy_, chunks_.size()) {}

Result<Shard> Shard::make(const JobConfig& job, ParameterTable table, std::uint32_t index,
                          bool evaluated) {
  STERNA_ASSIGN(const Scheme scheme, find_scheme(job.scheme.name));
  Shard shard(job, std::move(table), index, scheme.server(job, evaluated));
  STERNA_ASSIGN(shard.isa_, kernels::parse_isa(job.cpu_isa));
  STERNA_ASSIGN(shard.rule_, UpdateRule::make(job));
  if (job.facts().differences) shard.rule_ = UpdateRule::make_adding();
  for (const std::uint32_t c : shard.table_.chunks_of(index)) {
    Chunk& chunk = shard.chunks_[c];
    chunk.version = job.first_step;
    chunk.packets = RankPackets(job.ranks, job.first_step);
  }
  return shard;
}

void Shard::start(std::uint32_t part, std::uint32_t parts) {
  const std::vector<std::uint32_t> mine = table_.chunks_of(index_);
  for (std::size_t i = part; i < mine.size(); i += parts) {
    const TableChunk& place = table_.chunks[mine[i]];
    const TableTensor& tensor = table_.tensors[place.tensor];
    Chunk& chunk = chunks_[mine[i]];
    const std::size_t bytes = place.count * sizeof(float);
    chunk.parameters = pool_.take(bytes);
    nets::initialize(chunk.parameters->as<float>(), tensor.spec,
                     {.seed = job_.seed,
                      .tensor = place.tensor,
                      .first = static_cast<std::uint32_t>(place.first)},
                     isa_);
    if (tensor.frozen) continue;
    chunk.slots = rule_.make_slots(tensor.spec, place.count);
    if (job_.keeps_averages()) {
      chunk.average = pool_.take(bytes);
      std::ranges::copy(chunk.parameters->as<float>(), chunk.average->as<float>().begin());
    }
    const bool fed = job_.gradient.down == Down::ternary && job_.gradient.down_feedback;
    if (fed && tensor.ternary) chunk.residual = make_buffer(bytes);
  }
}

Result<void> Shard::load(const InitialWeights& weights, std::uint32_t part, std::uint32_t parts) {
  const std::vector<std::uint32_t> mine = table_.chunks_of(index_);
  for (std::size_t i = part; i < mine.size(); i += parts) {
    const TableChunk& place = table_.chunks[mine[i]];
    Chunk& chunk = chunks_[mine[i]];
    const std::span<float> values = chunk.parameters->as<float>();
    STERNA_TRY(weights.read(place.tensor, place.first, values.first(place.count)));
    if (chunk.average) std::ranges::copy(values, chunk.average->as<float>().begin());
  }
  return {};
}

Result<void> Shard::check(const Packet& packet, std::uint64_t step) const {
  if (!holds(packet.chunk)) {
    return broken_push(fmt::format("chunk {} is not in shard {}", packet.chunk, index_));
  }
  if (table_.frozen(packet.chunk)) {
    return broken_push(fmt::format("chunk {} is not trained", packet.chunk));
  }
  const TableChunk& place = table_.chunks[packet.chunk];
  if (packet.codec != table_.codec_at(place.tensor, job_, step)) {
    return broken_push(fmt::format("chunk {} with another codec than the job's", packet.chunk));
  }
  if (packet.count != place.count) {
    return broken_push(
        fmt::format("chunk {}: {} elements; expected {}", packet.chunk, packet.count, place.count));
  }
  if (!std::isfinite(packet.scaler) || packet.scaler < 0) {
    return broken_push(fmt::format("chunk {}: a scaler of {}", packet.chunk, packet.scaler));
  }
  return {};
}

Result<void> Shard::open(Packet& packet) {
  Result<Bytes> opened =
      codec_of(packet.codec).open(packet.payload, {.count = packet.count}, pool_, isa_);
  if (!opened) return Error(opened.error()).in(fmt::format("chunk {}", packet.chunk));
  packet.payload = std::move(*opened);
  return {};
}

Result<void> Shard::open(Push& push) {
  if (push.epoch != kEpoch) return broken_push(fmt::format("membership epoch {}", push.epoch));
  if (push.rank >= job_.ranks)
    return broken_push(fmt::format("rank {} of {}", push.rank, job_.ranks));
  if (!job_.pushes(push.rank)) {
    return broken_push(fmt::format("rank {} pushes nothing by itself", push.rank));
  }
  STERNA_TRY(policy_->check(push));
  if (push.packets.size() > chunks_.size()) return broken_push("more packets than chunks");
  std::set<std::uint32_t> chunks;
  for (Packet& packet : push.packets) {
    STERNA_TRY(check(packet, push.step));
    const bool first = chunks.insert(packet.chunk).second;
    const Chunk& chunk = chunks_[packet.chunk];
    STERNA_ASSIGN(const Verdict verdict, policy_->judge(push, packet, state_of(chunk)));
    const bool accepted = verdict == Verdict::ACCEPTED;
    const bool is_new = accepted && push.step >= chunk.packets.judged(push.rank);
    if (is_new && chunk.packets.waits(push.rank)) {
      return broken_push(fmt::format("chunk {}: the rank's packet before waits", packet.chunk));
    }
    if (accepted && chunk.scaler && *chunk.scaler != packet.scaler) {
      return broken_push(fmt::format("chunk {}: a scaler of {}, and another rank's is {}",
                                     packet.chunk, packet.scaler, *chunk.scaler));
    }
    // What is dropped or a duplicate is not looked into.
    if (first && is_new) STERNA_TRY(open(packet));
  }
  return {};
}

Result<PushReply> Shard::accept(Push push) {
  const Result<void> opened = open(push);
  if (!opened) {
    return Error(opened.error()).in(fmt::format("push of rank {}, step {}", push.rank, push.step));
  }
  PushReply reply;
  reply.verdicts.reserve(push.packets.size());
  if (policy_->one()) reply.staleness.reserve(push.packets.size());
  for (Packet& packet : push.packets) {
    const std::uint32_t index = packet.chunk;
    Chunk& chunk = chunks_[index];
    STERNA_ASSIGN(const Verdict if_new, policy_->judge(push, packet, state_of(chunk)));
    const float scaler = packet.scaler;
    const std::uint32_t old = staleness(chunk, packet);
    const Verdict verdict = chunk.packets.accept(push.rank, push.step, if_new, std::move(packet));
    const bool accepted = verdict == Verdict::ACCEPTED;
    reply.verdicts.push_back(verdict);
    if (policy_->one()) reply.staleness.push_back(accepted ? old : 0);
    if (!accepted) continue;
    if (combine(table_.chunks[index], push.step) == Combine::sums) chunk.scaler = scaler;
    if (complete(chunk)) ready_.insert(index);
  }
  return reply;
}

/// Of what makes a version when those that wait have made theirs.
std::uint32_t Shard::staleness(const Chunk& chunk, const Packet& packet) {
  const std::uint64_t versions = chunk.version + chunk.packets.waiting() - packet.base_version;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(versions, UINT32_MAX));
}

void Shard::take_packets(Chunk& chunk, ChunkUpdate& update) const {
  RankPackets::Taken taken = policy_->one() ? chunk.packets.take_first() : chunk.packets.take_all();
  std::vector<Counted> counted;
  counted.reserve(taken.ranks.size());
  for (std::size_t i = 0; i < taken.ranks.size(); ++i) {
    counted.push_back({taken.ranks[i], taken.packets[i].base_version});
  }
  update.packets = std::move(taken.packets);
  update.weights = policy_->weights(counted, chunk.version);
}

std::uint64_t Shard::first_lacking(std::uint32_t rank) const {
  std::uint64_t step = job_.steps;
  for (const std::uint32_t index : changing()) {
    const Chunk& chunk = chunks_[index];
    const std::uint64_t in_step = chunk.version + (chunk.packets.waits(rank) ? 1 : 0);
    step = std::min(step, job_.in_step() ? in_step : chunk.packets.judged(rank));
  }
  return step;
}

Combine Shard::combine(const TableChunk& place, std::uint64_t step) const {
  return policy_->combine(table_.codec_at(place.tensor, job_, step));
}

ChunkUpdates Shard::take_ready(std::uint64_t most_elements) {
  ChunkUpdates updates(isa_, pool_);
  ready_.merge(promised_.take_freed());
  while (!ready_.empty()) {
    const std::uint32_t index = *ready_.begin();
    const TableChunk& place = table_.chunks[index];
    Chunk& chunk = chunks_[index];
    const std::uint64_t next = chunk.version + 1;
    if (!promised_.may_begin(index, next)) {
      ready_.erase(ready_.begin());
      continue;
    }
    if (!updates.empty() && updates.elements() + place.count > most_elements) break;
    ready_.erase(ready_.begin());
    // All ranks have computed from this version, so that the buffer of the one before is free.
    chunk.before.reset();
    chunk.slots_before.clear();
    chunk.down_before = {};
    const TableTensor& tensor = table_.tensors[place.tensor];
    // Statistics move by a rule of their own, and only the evaluator asks for them.
    const bool statistic = tensor.spec.role == nets::Role::statistic;
    const bool averages = policy_->sends() == PayloadKind::GRADIENT && !statistic;
    const Combine how = statistic ? Combine::parameters : combine(place, chunk.version);
    promised_.begin(next);
    // Of what nobody wants, each step a part of the chunks is made all the same: the sums of the
    // others wait.
    const bool wanted = !is_packed(how) || policy_->settles(next) || kept_.due(next);
    const bool turn = (next + index) % kMostUnsettled == 0;
    // A rank may have to go on from the version before: of what is not wanted the last step waits.
    const bool keeps_before = averages && keeps_before_ && wanted;
    const bool settle = wanted || (turn && !keeps_before_);
    const bool settle_before = keeps_before_ && (wanted || turn) && !chunk.unsettled.empty();
    // Workers that step by themselves pull no parameters: these change where they lie.
    const bool changes = settle || settle_before;
    const bool in_place = averages && !keeps_before && (!chunk.lent || !changes);
    const std::shared_ptr<Buffer> current =
        averages ? std::exchange(chunk.parameters, nullptr) : chunk.parameters;
    kernels::UpdateOptions options = rule_.options_at(tensor.spec, chunk.version);
    options.average_part = kernels::average_part(job_.optimizer.average_decay, chunk.version);
    ChunkUpdate update{.chunk = index,
                       .first = place.first,
                       .packets = {},
                       .weights = {},
                       .options = options,
                       .current = current,
                       .slots = chunk.slots,
                       .next = in_place ? current : pool_.take(place.count * sizeof(float)),
                       .average = chunk.average,
                       .next_average = changes && chunk.average_lent
                                           ? pool_.take(place.count * sizeof(float))
                                           : chunk.average,
                       .unsettled = std::exchange(chunk.unsettled, {}),
                       .settles = settle,
                       .settles_before = settle_before,
                       .keeps_before = keeps_before,
                       .codec = tensor.codec,
                       .combine = how,
                       .sends = averages,
                       .rounds = job_.gradient.down == Down::parameters_bf16 && !statistic,
                       // As if a rank more than there are had drawn it.
                       .draw = {.seed = job_.seed,
                                .step = static_cast<std::uint32_t>(chunk.version),
                                .rank = job_.ranks,
                                .tensor = place.tensor},
                       .clip = static_cast<float>(job_.gradient.clip),
                       .residual = chunk.residual,
                       .keeps = kept_.gathers(next),
                       .down = {},
                       .kept_slots = {},
                       .kept_residual = {},
                       .before = {},
                       .slots_before = {}};
    take_packets(chunk, update);
    chunk.updating = true;
    if (statistic) update.weights.clear();
    updates.add(std::move(update));
  }
  return updates;
}

void Shard::publish(ChunkUpdates updates) {
  for (ChunkUpdate& update : updates.take()) {
    Chunk& chunk = chunks_[update.chunk];
    chunk.updating = false;
    if (std::exchange(chunk.just_copied, false)) --just_copied_;
    if (keeps_before_) {
      chunk.before = std::move(update.sends ? update.before : chunk.parameters);
      chunk.slots_before = std::move(update.slots_before);
      chunk.down_before = std::move(chunk.down);
    }
    const bool changed = update.settles || update.settles_before;
    chunk.parameters = std::move(update.settles ? update.next : update.current);
    chunk.unsettled = std::move(update.unsettled);
    if (changed) chunk.lent = false;
    if (changed && chunk.average_lent) {
      chunk.average = std::move(update.next_average);
      chunk.average_lent = false;
    }
    ++chunk.version;
    chunk.packets.made();
    if (complete(chunk)) ready_.insert(update.chunk);
    chunk.scaler.reset();
    chunk.down = std::move(update.down);
    if (update.keeps) {
      kept_.add(chunk.version, pieces_of(update.chunk, update.kept_slots, update.kept_residual));
      chunk.lent = true;
      chunk.average_lent = chunk.average != nullptr;
    }
    if (policy_->compares(chunk.version)) {
      if (chunk.compared.size() == kMostCompared) chunk.compared.erase(chunk.compared.begin());
      chunk.compared[chunk.version] = std::make_shared<HashedOnce>(share(chunk.parameters));
      chunk.lent = true;
    }
    if (promised_.promises(chunk.version)) take_snapshot(update.chunk);
  }
}

void Shard::take_snapshot(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  PromisedVersions::Snapshot snapshot;
  // The last averages are in the weights file, whatever is evaluated.
  if (job_.evaluates_averages() || (job_.keeps_averages() && chunk.version == job_.steps)) {
    snapshot.average = chunk.average;
    chunk.average_lent = true;
  }
  if (job_.evaluates_parameters()) {
    snapshot.parameters = chunk.parameters;
    chunk.lent = true;
  }
  promised_.keep(index, chunk.version, std::move(snapshot));
}

Result<bool> Shard::available(std::uint32_t index, std::uint64_t version, PayloadKind kind) const {
  if (!holds(index)) return broken_push(fmt::format("chunk {} is not in shard {}", index, index_));
  const Chunk& chunk = chunks_[index];
  if (table_.frozen(index)) {  // the same in every version, and then its own moving average
    STERNA_TRY(policy_->answers(version, kind, version));
    if (kind != PayloadKind::GRADIENT) return true;
    return broken_push(fmt::format("of chunk {}, which is not trained, no gradient", index));
  }
  STERNA_ASSIGN(const bool answers, policy_->answers(version, kind, chunk.version));
  if (!answers) return false;
  const bool average = kind == PayloadKind::GRADIENT;
  if (kind == PayloadKind::STATE) {
    if (chunk.parameters == nullptr) return false;  // the next version is under way
    if (has_state(chunk, version)) return true;
  }
  const bool kept = average || (chunk.parameters != nullptr && chunk.unsettled.empty());
  const bool newest = kind == PayloadKind::PARAMETERS || (average && !chunk.just_copied);
  if (version == chunk.version && kept && newest) return true;
  if (is_before(chunk, version) && kind == PayloadKind::PARAMETERS) return true;
  const PromisedVersions::Snapshot* const snapshot = promised_.kept(index, version);
  if (snapshot != nullptr && !average && kind != PayloadKind::STATE) {
    if ((kind == PayloadKind::PARAMETERS ? snapshot->parameters : snapshot->average) != nullptr)
      return true;
  }
  return over(
      fmt::format("version {} of chunk {} is gone; it is at {}", version, index, chunk.version));
}

Result<bool> Shard::newest_available(std::uint32_t index, const Pull& pull) const {
  if (pull.kind != PayloadKind::PARAMETERS || pull.rank >= job_.ranks) {
    return broken_push(fmt::format("the newest of what rank {} cannot have", pull.rank));
  }
  const std::uint64_t now = holds(index) ? chunks_[index].version : 0;
  STERNA_ASSIGN(const bool is_there, available(index, std::max(pull.version, now)));
  const Chunk& chunk = chunks_[index];
  if (!is_there || table_.frozen(index) || chunk.version >= job_.steps) return is_there;
  // The next version is being made: whose gradient came too late for it would be late again.
  if (!policy_->one() && complete(chunk)) return false;
  const std::vector<std::uint64_t> done = chunk.packets.done();
  return done[pull.rank] >= pull.pushes && policy_->may_begin(pull.pushes, done);
}

ParameterChunk Shard::parameters(std::uint32_t index, std::uint64_t version, Codec codec) {
  Chunk& chunk = chunks_[index];
  const bool current = version == chunk.version;
  if (codec == Codec::BF16 && current && chunk.down.codec == codec) return chunk.down;
  if (is_before(chunk, version)) {
    if (codec == Codec::BF16 && chunk.down_before.codec == codec) return chunk.down_before;
    return {.chunk = index, .codec = Codec::FP32, .payload = share(chunk.before)};
  }
  // A snapshot even of the current one: its successor may be under way.
  const PromisedVersions::Snapshot* const snapshot = promised_.kept(index, version);
  const bool kept = snapshot != nullptr && snapshot->parameters != nullptr;
  if (!kept) chunk.lent = true;
  return {.chunk = index,
          .codec = Codec::FP32,
          .payload = share(kept ? snapshot->parameters : chunk.parameters)};
}

bool Shard::has_state(const Chunk& chunk, std::uint64_t version) const {
  if (version == chunk.version) return true;
  return version + 1 == chunk.version && (chunk.before != nullptr || !chunk.unsettled.empty());
}

StateCopy Shard::state(std::uint32_t index, std::uint64_t version) {
  const Chunk& chunk = chunks_[index];
  const bool newest = table_.frozen(index) || version == chunk.version;
  if (!newest && chunk.before != nullptr) {
    return {*chunk.before, chunk.slots_before, nullptr, {}, pool_};
  }
  std::vector<SummedStep> steps = chunk.unsettled;
  if (!newest) steps.pop_back();
  return {*chunk.parameters, chunk.slots, nullptr, std::move(steps), pool_};
}

ParameterChunk Shard::moving_average(std::uint32_t index, std::uint64_t version) const {
  const bool frozen = table_.frozen(index);
  return {.chunk = index,
          .codec = Codec::FP32,
          .payload =
              share(frozen ? chunks_[index].parameters : promised_.kept(index, version)->average)};
}

Result<std::vector<std::shared_ptr<HashedOnce>>> Shard::compared(const Compare& compare) const {
  std::vector<std::shared_ptr<HashedOnce>> compared;
  for (const Compare::Fingerprint& one : compare.chunks) {
    if (!holds(one.chunk))
      return broken_push(fmt::format("chunk {} is not in shard {}", one.chunk, index_));
    const Chunk& chunk = chunks_[one.chunk];
    const auto kept = chunk.compared.find(compare.version);
    if (kept == chunk.compared.end()) {
      std::string message = fmt::format("version {} of chunk {} is not compared now; it is at {}",
                                        compare.version, one.chunk, chunk.version);
      const bool passed = compare.version < chunk.version ||
                          (compare.version == chunk.version && chunk.just_copied);
      const bool was = passed && policy_->compares(compare.version);
      return was ? over(std::move(message)) : broken_push(std::move(message));
    }
    compared.push_back(kept->second);
  }
  return compared;
}

}  // namespace sterna::actors
