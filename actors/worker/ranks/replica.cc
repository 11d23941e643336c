#include "actors/worker/ranks/replica.h"

#include <algorithm>
#include <cstring>

#include "actors/codecs/codec.h"
#include "actors/parameters/parameter_hash.h"
#include "kernels/sums/bf16.h"

namespace sterna::actors {
namespace {

/// fp32s where they lie, or, where they begin at no address of one's, a copy in `room`.
std::span<const float> floats_of(ByteView bytes, std::vector<float>& room) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0) {
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
  room.resize(bytes.size() / sizeof(float));
  std::memcpy(room.data(), bytes.data(), bytes.size());
  return room;
}

std::span<const std::uint8_t> pixels_of(const Batch& batch) {
  return {reinterpret_cast<const std::uint8_t*>(batch.pixels.data()), batch.pixels.size()};
}

}  // namespace

Result<std::shared_ptr<Replica>> Replica::make(const JobConfig& job,
                                               std::shared_ptr<kernels::Device> device) {
  STERNA_ASSIGN(const kernels::Isa isa, kernels::parse_isa(job.cpu_isa));
  STERNA_ASSIGN(const UpdateRule rule, UpdateRule::make(job));
  const bool decays = job.optimizer.decay_at == DecayAt::worker && !decays_locally(job);
  nets::NetOptions options = net_options(job);
  options.weight_decay = decays ? static_cast<float>(job.optimizer.weight_decay) : 0.0F;
  if (device != nullptr) {
    STERNA_TRY(check_device_job(job));
    options.backend.name = "device";
    options.backend.device = device;
  }
  auto made = nets::make_net(options);
  if (!made && device != nullptr) return made.error().in("actor.backend = \"cuda\"");
  STERNA_ASSIGN(auto net, std::move(made));
  return std::shared_ptr<Replica>(new Replica(job, isa, rule, std::move(device), std::move(net)));
}

DevicePlans Replica::computed_by() const {
  if (device_ == nullptr) return {};
  return DevicePlans::of(device_->facts().name, net_->implementations());
}

std::size_t Replica::image_bytes() const {
  return job_.picture.bytes() + std::size_t{2} * job_.picture.channels * sizeof(float);
}

void Replica::set_table(std::shared_ptr<const ParameterTable> table, const Clock& clock,
                        std::function<void()> settled) {
  table_ = std::move(table);
  clock_ = &clock;
  on_settled_ = std::move(settled);
  down_.resize(table_->tensors.size());
  slots_.resize(table_->chunks.size());
}

Result<void> Replica::plan_steps() {
  if (device_ == nullptr || !job_.gradient.workers_step()) return {};
  STERNA_ASSIGN(steps_, DeviceSteps::make(job_, table_, rule_, device_, *net_));
  return {};
}

Result<void> Replica::stage(std::uint64_t step, std::uint32_t rank, const Batch& batch) {
  const std::vector<float> levels = levels_of(batch);
  STERNA_TRY(net_->stage(nets::PixelImages{pixels_of(batch), levels}));
  staged_ = {step, rank};
  return {};
}

Result<bool> Replica::forward(std::uint64_t step, std::uint32_t rank, const Batch& batch,
                              std::uint32_t readable) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return *failed_;
  }
  if (begun_ != std::pair(step, rank)) {
    const nets::StepDraw draw{
        .seed = job_.seed, .step = static_cast<std::uint32_t>(step), .rank = rank};
    if (staged_ == std::pair(step, rank)) {
      STERNA_TRY(net_->begin_step(labels_of(batch), draw));
    } else {
      const std::vector<float> levels = levels_of(batch);
      STERNA_TRY(
          net_->begin_step(nets::PixelImages{pixels_of(batch), levels}, labels_of(batch), draw));
    }
    if (!begun_ || begun_->first != step) readable_ = 0;
    begun_ = {step, rank};
    if (!first_step_) first_step_ = step;
  }
  for (; readable_ < readable; ++readable_) {
    const bool changed = step == *first_step_ || !table_->tensors[readable_].frozen;
    if (changed) net_->parameters_changed(readable_);
  }
  return net_->forward(readable);
}

Result<void> Replica::backward(nets::GradientSink& sink) {
  const auto tensors = static_cast<std::uint32_t>(table_->tensors.size());
  sink_ = &sink;
  lowest_ = tensors;
  settled_.store(tensors, std::memory_order_release);
  Result<void> passed = net_->backward(*this);
  settled_.store(0, std::memory_order_release);
  net_->watch_activations(nullptr);
  return passed;
}

void Replica::gradient(std::size_t index, const nets::Gradient& gradient) {
  const auto tensor = static_cast<std::uint32_t>(index);
  if (table_->tensors[tensor].spec.role != nets::Role::statistic) {
    // A layer's gradients are complete before it passes on to the layer below, so that a report
    // from below says that all layers above are done with their parameters.
    if (tensor < lowest_) {
      const bool moved = settled_.exchange(lowest_, std::memory_order_acq_rel) != lowest_;
      lowest_ = tensor;
      if (moved) on_settled_();
    }
    if (table_->tensors[tensor].frozen) return;
    down_[tensor].completed = clock_->now();
    down_[tensor].missing = table_->tensors[tensor].chunks;
  }
  sink_->gradient(index, gradient);
}

std::span<float> Replica::values(const TableChunk& chunk) {
  return net_->parameter(chunk.tensor).subspan(chunk.first, chunk.count);
}

void Replica::take(const Parameters& answer, std::size_t index, LocalSteps* local) {
  const std::uint32_t tensor = table_->chunks[answer.chunks[index].chunk].tensor;
  const Time began = clock_->now();
  if (device_ == nullptr) {
    apply(answer, index, local);
  } else if (const Result<void> applied = apply_there(answer, index); !applied) {
    const std::lock_guard lock(mutex_);
    failed_ = applied.error();
  }
  count_step(tensor, began, 1);
}

void Replica::count_step(std::uint32_t tensor, Time began, std::uint32_t chunks) {
  Down& down = down_[tensor];
  if (down.missing == 0) return;  // the first version, which no gradient led to
  const Time ended = clock_->now();
  down.decoding += ended - began;
  down.missing -= chunks;
  if (down.missing > 0) return;
  down.exchanging += ended - down.completed;
  ++down.exchanges;
}

Result<void> Replica::exchange(std::uint32_t number, std::uint32_t devices) {
  STERNA_ASSIGN(exchanged_,
                ExchangedSteps::make(job_, table_, rule_, device_, number, devices, *net_));
  return {};
}

Result<void> Replica::step_alone(std::uint32_t rank, const Scheme& scheme) {
  STERNA_ASSIGN(alone_, scheme.device_steps(job_, rank, table_, device_, *net_));
  return {};
}

void Replica::step(std::uint32_t tensor, std::uint64_t step) {
  const Time began = clock_->now();
  if (const Result<void> put = exchanged_->step(*net_, tensor, step); !put) {
    const std::lock_guard lock(mutex_);
    failed_ = put.error();
  }
  count_step(tensor, began, table_->tensors[tensor].chunks);
}

Result<std::vector<Shard::Made>> Replica::made(bool keeps) {
  std::vector<Shard::Made> all;
  for (std::uint32_t c = 0; c < table_->chunks.size(); ++c) {
    const TableChunk& place = table_->chunks[c];
    if (!exchanged_->has(place.tensor)) continue;
    Shard::Made& made = all.emplace_back();
    made.chunk = c;
    made.parameters = make_buffer(place.count * sizeof(float));
    STERNA_TRY(net_->read_parameter(place.tensor, place.first, made.parameters->as<float>()));
    for (std::size_t s = 0; keeps && s < exchanged_->slots(); ++s) {
      const auto& slot = made.slots.emplace_back(make_buffer(place.count * sizeof(float)));
      STERNA_TRY(exchanged_->read_slot(*net_, c, s, slot->as<float>()));
    }
    if (!exchanged_->keeps_averages()) continue;
    made.average = make_buffer(place.count * sizeof(float));
    STERNA_TRY(exchanged_->read_average(*net_, c, made.average->as<float>()));
  }
  return all;
}

Result<void> Replica::begin_averages(const std::vector<std::shared_ptr<const Buffer>>& averages) {
  for (std::uint32_t c = 0; c < averages.size(); ++c) {
    if (!exchanged_->has(table_->chunks[c].tensor)) continue;
    STERNA_TRY(exchanged_->set_average(*net_, c, averages[c]->as<float>()));
  }
  return {};
}

void Replica::count_down(std::uint32_t chunk, std::uint64_t bytes) {
  down_[table_->chunks[chunk].tensor].bytes += bytes;
}

void Replica::add_to(std::vector<TensorTotals>& totals) const {
  const auto seconds = [](Duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  for (std::size_t t = 0; t < down_.size(); ++t) {
    totals[t].steps += down_[t].exchanges;
    totals[t].bytes_down += down_[t].bytes;
    totals[t].decode_seconds += seconds(down_[t].decoding);
    totals[t].exchange_seconds += seconds(down_[t].exchanging);
  }
}

void Replica::apply(const Parameters& answer, std::size_t index, LocalSteps* local) {
  const ParameterChunk& taken = answer.chunks[index];
  const TableChunk& place = table_->chunks[taken.chunk];
  const std::span<float> mine = values(place);
  if (answer.kind == PayloadKind::STATE) {
    const std::byte* from = taken.payload.data();
    std::memcpy(mine.data(), from, mine.size_bytes());
    if (table_->frozen(taken.chunk)) return;
    for (const std::span<float> slot : slots(taken.chunk)) {
      std::memcpy(slot.data(), from += mine.size_bytes(), slot.size_bytes());
    }
    return;
  }
  if (answer.kind == PayloadKind::PARAMETERS) {
    std::span<float> theirs = mine;
    if (local != nullptr) {
      came_.resize(mine.size());
      theirs = came_;
    }
    if (taken.codec == Codec::BF16) {
      kernels::decode_bf16(taken.payload.view(), theirs, isa_);
    } else {
      std::memcpy(theirs.data(), taken.payload.data(), theirs.size_bytes());
    }
    if (local != nullptr) local->came(place, theirs, mine);
    return;
  }
  kernels::StepConstants constants;
  std::copy(answer.constants.begin(), answer.constants.end(), constants.value);
  const kernels::UpdateOptions options =
      rule_.options(table_->tensors[place.tensor].spec, constants);
  const std::vector<std::span<float>> own = slots(taken.chunk);
  const kernels::Parameters parameters{.current = mine, .slots = own, .next = mine};
  if (codec_of(taken.codec).ternary()) {
    const kernels::SumStep step{{answer.ranks, taken.scaler, taken.payload.view()}, options};
    kernels::update(std::span(&step, 1), parameters, isa_);
  } else {
    const kernels::Packet average{.packing = kernels::Packing::fp32,
                                  .payload = taken.payload.view()};
    kernels::update(std::span(&average, 1), options, parameters, isa_);
  }
}

Result<void> Replica::apply_there(const Parameters& answer, std::size_t index) {
  const ParameterChunk& taken = answer.chunks[index];
  const TableChunk& place = table_->chunks[taken.chunk];
  if (answer.kind == PayloadKind::GRADIENT) return steps_->step(*net_, answer, taken);
  const std::size_t bytes = place.count * sizeof(float);
  std::span<const float> theirs;
  if (taken.codec == Codec::BF16) {
    came_.resize(place.count);
    kernels::decode_bf16(taken.payload.view(), came_, isa_);
    theirs = came_;
  } else {
    theirs = floats_of(taken.payload.view().first(bytes), came_);
  }
  if (alone_ != nullptr) return alone_->came(*net_, place, theirs);
  STERNA_TRY(net_->write_parameter(place.tensor, place.first, theirs));
  if (answer.kind == PayloadKind::STATE && steps_ && !table_->frozen(taken.chunk)) {
    return steps_->restore(*net_, taken.chunk, taken.payload.view().subspan(bytes));
  }
  return {};
}

std::vector<std::span<float>> Replica::slots(std::uint32_t chunk) {
  const TableChunk& place = table_->chunks[chunk];
  auto& buffers = slots_[chunk];
  if (buffers.empty()) buffers = rule_.make_slots(table_->tensors[place.tensor].spec, place.count);
  std::vector<std::span<float>> slots;
  slots.reserve(buffers.size());
  for (const auto& slot : buffers) slots.push_back(slot->as<float>());
  return slots;
}

Result<void> Replica::slots_restored() {
  if (exchanged_ == nullptr && steps_ == nullptr) return {};
  for (std::uint32_t chunk = 0; chunk < slots_.size(); ++chunk) {
    std::vector<float> all;
    for (const std::span<float> slot : slots(chunk))
      all.insert(all.end(), slot.begin(), slot.end());
    const ByteView bytes = std::as_bytes(std::span(all));
    STERNA_TRY(exchanged_ ? exchanged_->restore(*net_, chunk, bytes)
                          : steps_->restore(*net_, chunk, bytes));
    slots_[chunk].clear();
  }
  return {};
}

Result<std::vector<Hash>> Replica::hashes() {
  std::vector<Hash> hashes;
  hashes.reserve(table_->chunks.size());
  for (const TableChunk& chunk : table_->chunks) {
    if (device_ == nullptr) {
      hashes.push_back(hash_of(std::as_bytes(values(chunk))));
      continue;
    }
    std::vector<float> read(chunk.count);
    STERNA_TRY(net_->read_parameter(chunk.tensor, chunk.first, read));
    hashes.push_back(hash_of(std::as_bytes(std::span<const float>(read))));
  }
  return hashes;
}

}  // namespace sterna::actors
