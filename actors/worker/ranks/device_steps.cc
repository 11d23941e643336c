#include "actors/worker/ranks/device_steps.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "kernels/device/tables.h"
#include "kernels/sums/sums.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

namespace {

Error lacks(const std::string& what) {
  return {Errc::invalid_argument,
          fmt::format("no device does {} yet; set actor.backend = \"cpu\"", what)};
}

bool steps_at_workers(const JobSections& job) {
  return job.gradient.exchange == ExchangeRule::nccl || job.gradient.down == Down::average ||
         job.gradient.down == Down::ternary;
}

/// Whether packets of this codec stay on a device: fp32, bf16s, and trits, which travel as planes
/// there.
bool stays_there(const std::string& codec) {
  const std::optional<GradientCodec> found = find_codec(codec);
  return !found || found->ternary() || found->wire == Codec::FP32 || found->wire == Codec::BF16;
}

/// What servers do and devices, among themselves, do not.
Result<void> check_exchange(const JobSections& job) {
  const GradientSection& gradient = job.gradient;
  if (gradient.exchange == ExchangeRule::servers) return {};
  const auto without_servers = [](const std::string& key) {
    return lacks(key + " where gradient.exchange = \"nccl\"");
  };
  if (gradient.buckets) return without_servers("gradient.buckets");
  if (!stays_there(gradient.codec)) {
    return without_servers("gradient.codec = \"" + gradient.codec + "\"");
  }
  for (const auto& [tensor, codec] : gradient.tensors) {
    if (!stays_there(codec)) return without_servers("gradient.tensors with \"" + codec + "\"");
  }
  if (!job.scheme.rank_rates.empty()) return without_servers("scheme.rank_rates");
  return {};
}

}  // namespace

Result<void> check_device_job(const JobSections& job) {
  const SchemeFacts* const scheme = find_scheme_facts(job.scheme.name);
  if (scheme != nullptr && scheme->windows && !kernels::device_rule(job.local_optimizer.name)) {
    return lacks("steps of local_optimizer.name = \"" + job.local_optimizer.name + "\"");
  }
  STERNA_TRY(check_exchange(job));
  if (!steps_at_workers(job)) return {};
  if (!kernels::device_rule(job.optimizer.name)) {
    return lacks("steps of optimizer.name = \"" + job.optimizer.name + "\"");
  }
  return {};
}

DeviceSteps::DeviceSteps(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                         const UpdateRule& rule, std::shared_ptr<kernels::Device> device)
    : job_(job),
      table_(std::move(table)),
      rule_(rule),
      device_(std::move(device)),
      chunks_(table_->chunks.size()) {}

DeviceSteps::~DeviceSteps() {
  for (Chunk& chunk : chunks_) {
    if (chunk.sent) static_cast<void>(chunk.sent->wait());
  }
}

Result<std::unique_ptr<DeviceSteps>> DeviceSteps::make(const JobConfig& job,
                                                       std::shared_ptr<const ParameterTable> table,
                                                       const UpdateRule& rule,
                                                       std::shared_ptr<kernels::Device> device,
                                                       nets::Net& net) {
  std::unique_ptr<DeviceSteps> made(
      new DeviceSteps(job, std::move(table), rule, std::move(device)));
  for (std::uint32_t index = 0; index < made->chunks_.size(); ++index) {
    const TableTensor& tensor = made->table_->tensors[made->table_->chunks[index].tensor];
    if (!tensor.pulled(Pulled::changing)) continue;  // no average of it comes
    STERNA_TRY(net.update_parameter(made->table_->chunks[index].tensor,
                                    [&](kernels::DeviceStream& stream, float* values) {
                                      return made->plan(index, values, stream);
                                    }));
  }
  return made;
}

Result<void> DeviceSteps::plan(std::uint32_t index, float* values, kernels::DeviceStream& stream) {
  Chunk& chunk = chunks_[index];
  const TableChunk& place = table_->chunks[index];
  kernels::Device& on = *device_;
  STERNA_ASSIGN(chunk.sent, on.make_event(kernels::EventUse::host));
  STERNA_ASSIGN(chunk.sent_here, PinnedArray<Sent>::make(on, 1));
  STERNA_ASSIGN(chunk.sent_there, DeviceArray<Sent>::make(on, 1));
  if (!rule_.slots().empty()) {
    const std::vector<float> start = rule_.initial_slots(place.count);
    STERNA_ASSIGN(chunk.slots, kernels::uploaded<float>(on, stream, start));
  }
  // A step may travel as floats where others are trits.
  const bool sums = codec_of(table_->tensors[place.tensor].codec).ternary();
  const bool floats = !sums || job_.gradient.floating_grad_epoch > 0;
  const std::size_t bytes = std::max(sums ? kernels::sum_bytes(place.count, job_.ranks_down()) : 0,
                                     floats ? place.count * sizeof(float) : 0);
  STERNA_ASSIGN(chunk.payload_here, PinnedArray<std::byte>::make(on, bytes));
  STERNA_ASSIGN(chunk.payload, DeviceArray<std::byte>::make(on, bytes));
  const kernels::DevicePacket packet{chunk.payload.data(), nullptr, kernels::Packing::fp32};
  STERNA_ASSIGN(chunk.packet, kernels::uploaded<kernels::DevicePacket>(on, stream, {&packet, 1}));
  if (sums) STERNA_TRY(plan_way(chunk, place, true, values, stream));
  if (floats) STERNA_TRY(plan_way(chunk, place, false, values, stream));
  return {};
}

Result<void> DeviceSteps::plan_way(Chunk& chunk, const TableChunk& place, bool sums, float* values,
                                   kernels::DeviceStream& stream) {
  Way& way = sums ? chunk.of_sums : chunk.of_floats;
  std::vector<kernels::UpdateWork> work;
  kernels::UpdatedTensor updated{.elements = place.count,
                                 .packets = sums ? nullptr : chunk.packet.data(),
                                 .sums = sums ? chunk.payload.data() : nullptr,
                                 .scaler = &chunk.sent_there.data()->scaler,
                                 .current = values + place.first,
                                 .next = values + place.first};
  kernels::set_slots(updated, chunk.slots.data(), rule_.slots().size());
  kernels::append_update(updated, work);
  STERNA_ASSIGN(way.work, kernels::uploaded<kernels::UpdateWork>(*device_, stream, work));
  way.launch = {.work = way.work.data(),
                .count = static_cast<std::uint32_t>(work.size()),
                .rule = kernels::device_rule(job_.optimizer.name).value(),
                .from_sums = sums,
                .step = &chunk.sent_there.data()->step};
  return {};
}

Result<void> DeviceSteps::step(nets::Net& net, const Parameters& answer,
                               const ParameterChunk& taken) {
  const TableChunk& place = table_->chunks[taken.chunk];
  Chunk& chunk = chunks_[taken.chunk];
  const bool sums = codec_of(taken.codec).ternary();
  const Way& way = sums ? chunk.of_sums : chunk.of_floats;
  const std::size_t room = chunk.payload_here.elements().size();
  if (way.launch.count == 0 || taken.payload.size() > room) {
    return Error{Errc::malformed,
                 fmt::format("an average of {} bytes, {}, for chunk {}, of which none such comes",
                             taken.payload.size(), sums ? "of trits" : "as floats", taken.chunk)};
  }
  return net.update_parameter(
      place.tensor, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
        STERNA_TRY(chunk.sent->wait());  // long ago, for the version before
        Sent& sent = *chunk.sent_here.data();
        sent.scaler = taken.scaler;
        std::ranges::copy(answer.constants, sent.step.value);
        const nets::ParameterSpec& spec = table_->tensors[place.tensor].spec;
        sent.step.weight_decay = rule_.options(spec, {}).weight_decay;
        std::ranges::copy(taken.payload.view(), chunk.payload_here.elements().begin());
        STERNA_TRY(chunk.sent_there.upload(stream, chunk.sent_here.elements()));
        STERNA_TRY(chunk.payload.upload(stream,
                                        chunk.payload_here.elements().first(taken.payload.size())));
        STERNA_TRY(stream.record(*chunk.sent));
        kernels::UpdateLaunch launch = way.launch;
        launch.ranks = sums ? answer.ranks : 1;
        return stream.update(launch);
      });
}

Result<void> DeviceSteps::restore(nets::Net& net, std::uint32_t index, ByteView slots) {
  const Chunk& chunk = chunks_[index];
  if (slots.empty() || chunk.slots.size() == 0) return {};
  return net.update_parameter(
      table_->chunks[index].tensor, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
        STERNA_TRY(stream.copy(chunk.slots.data(), slots.data(), slots.size()));
        return stream.finish();  // they need not stay
      });
}

}  // namespace sterna::actors
