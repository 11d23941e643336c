#include "launcher/bench/codec/device/device_codec.h"

#include <algorithm>
#include <memory>
#include <string>

#include "kernels/trits/ternary.h"
#include "launcher/bench/codec/device/device_encoding.h"
#include "launcher/bench/codec/device/device_rounds.h"
#include "launcher/bench/codec/device/device_server.h"
#include "launcher/bench/codec/device/packets_to_host.h"
#include "launcher/bench/codec/parts.h"

namespace sterna::launcher {
namespace {

using kernels::Device;
using kernels::DeviceStream;
using enum kernels::EncodePass;

Result<Figures> measure_encode(Device& device, DeviceStream& stream,
                               const DeviceCodecSetup& setup) {
  STERNA_ASSIGN(const DeviceEncoding one,
                DeviceEncoding::make(device, stream, setup, {setup.elements}));
  STERNA_ASSIGN(const RoundTimes times,
                measure_on(device, stream,
                           {one.contender("read", {read}), one.contender("quantize", {ternarize}),
                            one.contender("encode_last_step", {ternarize_and_measure}),
                            one.contender("encode_tensor", {measure, ternarize})},
                           setup.rounds));
  Figures figures;
  figures["read_gbps"] = static_cast<double>(one.bytes()) / times.seconds("read") / 1e9;
  for (const char* name : {"quantize", "encode_last_step", "encode_tensor"}) {
    figures[std::string(name) + "_over_read"] = times.ratio("read", name);
    figures[std::string(name) + "_ms"] = times.seconds(name) * 1e3;
  }
  return figures;
}

Result<Figures> measure_net(Device& device, DeviceStream& stream, const DeviceCodecSetup& setup) {
  Figures figures;
  {
    STERNA_ASSIGN(const DeviceEncoding net, DeviceEncoding::make(device, stream, setup, setup.net));
    STERNA_ASSIGN(
        const RoundTimes times,
        measure_on(device, stream,
                   {net.contender("read", {read}), net.contender("encode", {measure, ternarize})},
                   setup.rounds));
    figures["encode_net_over_read"] = times.ratio("read", "encode");
  }
  STERNA_ASSIGN(const DeviceEncoding lenet,
                DeviceEncoding::make(device, stream, setup, lenet_tensors()));
  STERNA_ASSIGN(
      const RoundTimes times,
      measure_on(device, stream, {lenet.contender("encode", {measure, ternarize})}, setup.rounds));
  figures["encode_lenet_us"] = times.seconds("encode") * 1e6;
  return figures;
}

Result<Figures> measure_host(Device& device, DeviceStream& stream, const DeviceCodecSetup& setup) {
  STERNA_ASSIGN(const PacketsToHost net, PacketsToHost::make(device, stream, setup));
  STERNA_ASSIGN(const RoundTimes times,
                measure_on(device, stream, {net.to_host(), net.pinned_copy()}, setup.rounds));
  return Figures{{"host_over_pinned_copy", times.ratio("to_host", "pinned_copy")}};
}

Result<Figures> measure_sums(Device& device, DeviceStream& stream, const DeviceCodecSetup& setup) {
  STERNA_ASSIGN(const DeviceServer server, DeviceServer::make(device, stream, setup));
  // As many bytes as the packets of all ranks have.
  const std::size_t packed =
      DeviceServer::kRanks * kernels::planes_bytes(setup.elements) / sizeof(float);
  STERNA_ASSIGN(const DeviceEncoding input, DeviceEncoding::make(device, stream, setup, {packed}));
  STERNA_ASSIGN(const RoundTimes times,
                measure_on(device, stream,
                           {input.contender("read", {read}), server.aggregate(), server.fused(),
                            server.momentum()},
                           setup.rounds));
  return Figures{{"aggregate8_over_read", times.ratio("read", "aggregate")},
                 {"fused8_over_momentum", times.ratio("fused", "momentum")}};
}

}  // namespace

std::size_t buffers_of(const Device& device, const DeviceCodecSetup& setup, std::size_t bytes) {
  const std::size_t cache = std::max(2 * device.facts().cache, setup.least_cache);
  return std::clamp<std::size_t>(cache / bytes + 2, 2, 128);
}

Result<Figures> bench_device_codec(Device& device, const DeviceCodecSetup& setup,
                                   std::string_view only, const BenchProgress& progress) {
  STERNA_ASSIGN(const std::unique_ptr<DeviceStream> stream, device.make_stream());
  const auto part = [&](std::string_view name, auto figures_of) {
    return BenchPart{name, [&, figures_of] { return figures_of(device, *stream, setup); }};
  };
  STERNA_ASSIGN(Figures figures,
                measure_parts({part("encode", measure_encode), part("net", measure_net),
                               part("host", measure_host), part("sums", measure_sums)},
                              only, progress));
  figures["elements"] = static_cast<double>(setup.elements);
  return figures;
}

}  // namespace sterna::launcher
