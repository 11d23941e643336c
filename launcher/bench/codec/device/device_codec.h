// `sterna bench codec --device cuda`: how fast a device's codec is beside a kernel that only reads,
// in the same run. Times lie between two events, launches included, and each buffer was used too
// long ago to be in the device's cache.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/device/device.h"
#include "launcher/bench/codec/device/net_tensors.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

/// What every part measures with.
struct DeviceCodecSetup {
  std::size_t elements = 25'600'000;                  ///< of the tensor
  std::vector<std::size_t> net = resnet50_tensors();  ///< the elements of a net's tensors
  int rounds = 15;                                    ///< of its contenders in turn
  std::size_t least_cache = std::size_t{64} << 20U;   ///< bytes: see buffers_of()
};

/// How many buffers of so many bytes are used in turn: none is used again before `least_cache`
/// bytes, or twice the device's cache, were read.
std::size_t buffers_of(const kernels::Device& device, const DeviceCodecSetup& setup,
                       std::size_t bytes);

/// The key `elements`, and the figures of every part whose name begins with `only`, medians:
/// "encode" (`read_gbps`; `X_over_read` and `X_ms` of `quantize`, `encode_last_step` and
/// `encode_tensor`), "net" (`encode_net_over_read`, `encode_lenet_us`), "host"
/// (`host_over_pinned_copy`) and "sums" (`aggregate8_over_read`, `fused8_over_momentum`). Errors:
/// invalid_argument for no part; the device's.
Result<Figures> bench_device_codec(kernels::Device& device, const DeviceCodecSetup& setup,
                                   std::string_view only, const BenchProgress& progress);

}  // namespace sterna::launcher
