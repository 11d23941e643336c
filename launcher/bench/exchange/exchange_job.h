// One contender of `sterna bench exchange`: a short real run of the net that only moves gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input/place/data_source.h"
#include "launcher/bench/exchange/emulated_hosts.h"
#include "launcher/cluster_file/cluster_file.h"
#include "nets/zoo/fixed_gradients.h"
#include "runtime/actor/registry.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// What all contenders exchange, and among how many.
struct ExchangeShape {
  std::size_t elements = 25'600'000;
  std::int64_t ranks = 2;
  std::int64_t servers = 2;  ///< server i is on the host of rank i mod ranks
  std::int64_t steps = 24;
  std::size_t tensors = 0;  ///< equal ones; 0: as few as can be
  std::string net = nets::kFixedGradientsName;
};

/// What the processes talk over.
struct ExchangeLink {
  std::string name;  ///< as in the figures' names
  std::string transport = "tcp";
  std::string security = "curve";
  const EmulatedHosts* hosts = nullptr;  ///< one for each rank; null: all on this machine
};

/// A step of the run, the mean over all but its first steps.
struct ExchangeStep {
  double seconds = 0;  ///< of the slowest worker
  /// In the direction of the card that carries most, headers included; 0 without emulated hosts.
  double card_bytes = 0;
  std::optional<double> bits_up_ternarized;  ///< per element, scalers included
  std::optional<double> bits_up;             ///< whole frames
  std::optional<double> bits_down;
};

/// The sizes of the net's tensors in its units.
std::vector<std::uint32_t> exchange_tensors(const ExchangeShape& shape);

/// The run's cluster file, with `keys` ("gradient.codec=none") set.
Result<ClusterFile> exchange_file(const ExchangeShape& shape, const ExchangeLink& link,
                                  const std::vector<std::string>& keys);

/// Errc::cancelled where the user interrupted it.
Result<ExchangeStep> run_exchange(const Registry& registry, const ClusterFile& file,
                                  const ExchangeLink& link, const input::DataLocation& data);

}  // namespace sterna::launcher
