#include "kernels/device/tables.h"

#include <algorithm>

#include "kernels/sums/sums.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {
namespace {

/// Calls add(first, count) for each chunk of a tensor.
template <class Add>
void for_chunks(std::uint64_t elements, Add add) {
  for (std::uint64_t first = 0; first < elements; first += kChunkElements) {
    add(first,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunkElements, elements - first)));
  }
}

/// What lies `elements` further, where there is anything.
template <class T>
T* further(T* from, std::uint64_t elements) {
  return from == nullptr ? nullptr : from + elements;
}

}  // namespace

Result<EncodePlan> EncodePlan::make(Device& device, DeviceStream& stream,
                                    std::span<const EncodedTensor> tensors, const StepOfRank* draw,
                                    float clip) {
  EncodePlan plan;
  STERNA_ASSIGN(plan.found_, DeviceArray<TensorMeasured>::make(device, tensors.size()));
  STERNA_ASSIGN(plan.scalers_, DeviceArray<float>::make(device, tensors.size()));
  std::vector<ChunkWork> chunks;
  std::vector<TensorWork> works;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const EncodedTensor& tensor = tensors[t];
    TensorWork work;
    work.elements = tensor.elements;
    work.tensor = tensor.tensor;
    work.fed_back = tensor.fed_back ? 1 : 0;
    work.found = plan.found_.data() + t;
    work.made = plan.scalers_.data() + t;
    work.scaler = tensor.scaler != nullptr ? tensor.scaler : work.made;
    plan.first_chunks_.push_back(chunks.size());
    for_chunks(tensor.elements, [&](std::uint64_t first, std::uint32_t count) {
      ChunkWork chunk;
      chunk.values = tensor.values + first;
      chunk.incoming = further(tensor.incoming, first);
      chunk.planes = further(tensor.planes, tensor.bf16 ? 2 * first : planes_bytes(first));
      chunk.first = first;
      chunk.count = count;
      chunk.work = static_cast<std::uint32_t>(t);
      chunk.chunk = work.chunks++;
      chunks.push_back(chunk);
    });
    works.push_back(work);
  }
  plan.first_chunks_.push_back(chunks.size());
  STERNA_ASSIGN(plan.measured_, DeviceArray<ChunkMeasured>::make(device, chunks.size()));
  for (std::size_t t = 0; t < works.size(); ++t) {
    works[t].measured = plan.measured_.data() + plan.first_chunks_[t];
  }
  STERNA_ASSIGN(plan.chunks_, uploaded<ChunkWork>(device, stream, chunks));
  STERNA_ASSIGN(plan.tensors_, uploaded<TensorWork>(device, stream, works));
  plan.launch_ = {plan.chunks_.data(), static_cast<std::uint32_t>(chunks.size()),
                  plan.tensors_.data(), draw, clip};
  return plan;
}

EncodeLaunch EncodePlan::launch(std::size_t first, std::size_t count) const {
  EncodeLaunch some = launch_;
  some.chunks = launch_.chunks + first_chunks_[first];
  some.count = static_cast<std::uint32_t>(first_chunks_[first + count] - first_chunks_[first]);
  return some;
}

void append_sums(const DevicePacket* packets, std::uint64_t elements, std::uint32_t ranks,
                 std::byte* sums, std::vector<SumWork>& to) {
  for_chunks(elements, [&](std::uint64_t first, std::uint32_t count) {
    to.push_back({packets, sums + sum_bytes(first, ranks), first / kPlaneBlock,
                  static_cast<std::uint32_t>(planes_bytes(count) / kPlaneBlockBytes)});
  });
}

DeviceStep device_step(const UpdateOptions& options) {
  DeviceStep step;
  std::ranges::copy(options.constants.value, step.value);
  step.weight_decay = options.weight_decay;
  return step;
}

void append_update(const UpdatedTensor& tensor, std::vector<UpdateWork>& to) {
  for_chunks(tensor.elements, [&](std::uint64_t first, std::uint32_t count) {
    to.push_back({tensor.packets,
                  tensor.sums,
                  tensor.scaler,
                  first,
                  count,
                  further(tensor.current, first),
                  tensor.next + first,
                  {further(tensor.slots[0], first), further(tensor.slots[1], first)}});
  });
}

}  // namespace sterna::kernels
