// ExchangedSteps: the packets of all ranks on one of a worker's devices, and the steps that its
// parameters take from them, where there are no servers (gradient.exchange).
//
// A tensor of trits or bf16s has a place for each rank's packet, which is what its codec makes and
// the scaler that trits stand for. The ranks of this device encode into theirs; those of the others
// come by a DeviceExchange. Then one pass decodes, averages in rank order and steps, as a server
// does, with the same bits.
//
//   part 0 (device 0)         part 1 (device 1)
//   rank 0 | rank M | ...     rank 1 | rank M + 1 | ...        M devices
//
// One of fp32 is summed slice by slice, so that no device needs the whole gradient of all ranks:
// device i gets slice i of each, sums them in rank order, and the sums come to all. They lie in the
// place of the device's first rank. The sum of one slice takes as many roundings, in the same
// order, as that of the whole tensor: these are the same bits, too. So does a tensor of another
// codec in the steps in which it travels as fp32 (gradient.floating_grad_epoch), in the same
// memory.
//
// Moving averages of the parameters, where the job has them, move behind each step on the first
// device alone, from which versions are read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/encode/device_arithmetic.h"
#include "actors/job/job.h"
#include "actors/parameters/parameter_table.h"
#include "actors/parameters/update_rule.h"
#include "kernels/device/device_array.h"
#include "kernels/device/device_exchange.h"
#include "nets/net.h"
#include "runtime/base/bytes.h"

namespace sterna::actors {

/// Of one net, whose stream that writes parameters it steps on. Used by one thread at a time, but
/// for place(), which any may call.
class ExchangedSteps {
 public:
  /// Number `number` of `devices`; rank i is on device i mod `devices`. Makes all that steps take,
  /// and waits until it is there. Errors: the device's.
  static Result<std::unique_ptr<ExchangedSteps>> make(const JobConfig& job,
                                                      std::shared_ptr<const ParameterTable> table,
                                                      const UpdateRule& rule,
                                                      std::shared_ptr<kernels::Device> device,
                                                      std::uint32_t number, std::uint32_t devices,
                                                      nets::Net& net);
  ~ExchangedSteps();
  ExchangedSteps(const ExchangedSteps&) = delete;
  ExchangedSteps& operator=(const ExchangedSteps&) = delete;

  /// Whether gradients of this tensor are exchanged: not what is frozen, nor statistics.
  bool has(std::uint32_t tensor) const { return tensors_[tensor].by_codec.bytes > 0; }
  /// That of a rank of this device's own, until step() is done, of what is packed so.
  PacketPlace place(std::uint32_t tensor, std::uint32_t rank, kernels::Packing packing) const;
  /// Puts on its way what step() of `step` waits for on each of several devices: all ranks' packets
  /// of the tensor are there. Errors: the devices', and what fails between them.
  static Result<void> exchange(std::span<ExchangedSteps* const> all, kernels::DeviceExchange& by,
                               std::uint32_t tensor, std::uint64_t step);

  /// Puts the step from version `step` to the next on its way. Errors: the device's.
  Result<void> step(nets::Net& net, std::uint32_t tensor, std::uint64_t step);

  /// Before the first step: as UpdateRule's.
  void begin_slots_at(std::uint64_t step) { rule_.begin_slots_at(step); }
  /// The optimizer's slots of a chunk are these, one after the other, as fp32.
  Result<void> restore(nets::Net& net, std::uint32_t chunk, ByteView slots);
  /// One of them, once all steps that are on their way have been made.
  Result<void> read_slot(nets::Net& net, std::uint32_t chunk, std::size_t slot,
                         std::span<float> out);
  std::size_t slots() const { return rule_.slots().size(); }

  /// Whether moving averages are kept here: on the first device, if the job has them.
  bool keeps_averages() const { return number_ == 0 && job_.keeps_averages(); }
  /// A chunk's average is this, before its first step.
  Result<void> set_average(nets::Net& net, std::uint32_t chunk, std::span<const float> values);
  /// As read_slot().
  Result<void> read_average(nets::Net& net, std::uint32_t chunk, std::span<float> out);

 private:
  /// What travels of a tensor, packed in one way, and what steps from it.
  struct Way {
    kernels::Packing packing = kernels::Packing::planes;
    std::size_t bytes = 0;       // of a packet with its scaler; 0: nothing travels so
    std::size_t slice = 0;       // bytes of each device's slice; 0: packets are gathered whole
    bool sums = false;           // ranks' trits are summed as integers first
    std::byte* parts = nullptr;  // the tensor's
    kernels::DeviceArray<std::byte> slices;  // of other devices' ranks
    kernels::DeviceArray<kernels::UpdateWork> slice_work;
    kernels::UpdateLaunch slice_sum;
    kernels::DeviceArray<kernels::DevicePacket> summed_slices;  // what that makes, of all devices
    kernels::DeviceArray<kernels::DevicePacket> packets;
    kernels::DeviceArray<std::byte> summed;
    kernels::DeviceArray<kernels::SumWork> sum_work;
    kernels::DeviceArray<kernels::UpdateWork> work;
    kernels::SumLaunch sum;
    kernels::UpdateLaunch update;
  };
  struct Tensor {
    Way by_codec;
    Way as_floats;                          // where some steps travel so, and others do not
    kernels::DeviceArray<std::byte> parts;  // of slices: this device's alone
    std::unique_ptr<kernels::DeviceEvent> gathered;
    std::unique_ptr<kernels::DeviceEvent> sent;  // the step's constants have left
    kernels::DeviceArray<float> slots;           // one after the other
    kernels::DeviceArray<float> average;         // moving, where it is kept here
  };

  ExchangedSteps(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                 const UpdateRule& rule, std::shared_ptr<kernels::Device> device,
                 std::uint32_t number, std::uint32_t devices);
  const Way& way_of(std::uint32_t tensor, kernels::Packing packing) const;
  const Way& way_at(std::uint32_t tensor, std::uint64_t step) const;
  Result<void> make_tensor(std::uint32_t tensor);
  /// How large packets are; the bytes that all parts take.
  std::size_t lay_out(Way& way, std::size_t elements, kernels::Packing packing) const;
  Result<void> make_way(Way& way, std::size_t elements);
  Result<void> make_slices(Way& way, std::size_t elements);
  PacketPlace place_of(const Way& way, std::uint32_t rank) const;
  /// Where this device's slice of a rank's packet lies.
  std::byte* slice_of(const Way& way, std::uint32_t rank) const;
  Result<void> plan(std::uint32_t tensor, Way& way, float* values, kernels::DeviceStream& stream);
  float* slot_of(const TableChunk& chunk, std::size_t slot) const;
  Result<void> read(nets::Net& net, std::uint32_t tensor, const float* from, std::span<float> out);

  JobConfig job_;
  std::shared_ptr<const ParameterTable> table_;
  UpdateRule rule_;
  std::shared_ptr<kernels::Device> device_;
  std::uint32_t number_;
  std::uint32_t devices_;
  std::uint32_t each_;  // packets of a part; fewer are filled where the ranks do not come out even
  kernels::DeviceArray<kernels::DeviceStep> steps_;  // by tensor
  kernels::PinnedArray<kernels::DeviceStep> steps_here_;
  std::vector<Tensor> tensors_;
  std::unique_ptr<kernels::DeviceStream> stream_;  // on which parts are gathered
};

}  // namespace sterna::actors
