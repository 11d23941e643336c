// ExchangedVersions: the versions that a worker's devices make of all its ranks' gradients, without
// servers (gradient.exchange): each device gets all ranks' packets, or what they come to, and steps
// its one copy of the parameters from them. The host learns when a packet is there and says what is
// put on which stream; no gradient comes to it, and parameters only for versions that the evaluator
// or a checkpoint takes. Statistics, which need no step of devices, take the way of a CPU's
// gradients.
//
// Ranks are in step: nobody begins a step before all packets of the one before are there, so that
// what is exchanged is of one version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "actors/parameters/parameter_table.h"
#include "actors/server/served_shard.h"
#include "actors/worker/ranks/incoming_version.h"
#include "actors/worker/worker_context.h"
#include "kernels/device/device_exchange.h"

namespace sterna::actors {

class ExchangedVersions {
 public:
  /// `devices`: by device, in their order, what comes to its replica. They outlive this, as does
  /// what is served: their streams may wait for what one that has failed never does, until the
  /// exchange ends.
  ExchangedVersions(const WorkerContext& context, std::shared_ptr<const ParameterTable> table,
                    ServedShard& served, std::vector<IncomingVersion*> devices,
                    std::unique_ptr<kernels::DeviceExchange> exchange);

  /// A rank's packet of a tensor is on its device.
  void packet_is_there(std::uint32_t tensor);
  /// Makes all versions of the job. Errors: the devices', with the step.
  Task<Result<void>> make_all();

 private:
  Task<Result<void>> begin_averages();
  Task<Result<void>> make(std::uint64_t step);
  /// Puts the exchange of a complete tensor on its way, and each device's step with it.
  Result<void> exchange_next(std::uint64_t step);
  /// Gives a version that all devices have made, or will have, to those who want it.
  Task<Result<void>> give(std::uint64_t version, Shard::Wanted wanted);

  const WorkerContext& context_;
  std::shared_ptr<const ParameterTable> table_;
  ServedShard& served_;
  std::vector<IncomingVersion*> devices_;
  std::unique_ptr<kernels::DeviceExchange> exchange_;
  std::size_t tensors_ = 0;             // of a version
  std::vector<std::uint32_t> missing_;  // by tensor: ranks whose packet is not there
  std::deque<std::uint32_t> complete_;  // tensors that are to be exchanged
  Condition came_;                      // a tensor is complete
};

}  // namespace sterna::actors
