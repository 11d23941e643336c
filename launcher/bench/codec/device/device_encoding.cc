#include "launcher/bench/codec/device/device_encoding.h"

#include <cstdint>
#include <numeric>
#include <utility>

#include "kernels/isa/isa.h"
#include "kernels/random/initializer.h"
#include "kernels/trits/ternary.h"

namespace sterna::launcher {
namespace {

using kernels::DeviceArray;
using kernels::EncodePass;

constexpr std::size_t kAligned = 64;  // floats: tensors begin where an allocation could

std::size_t aligned(std::size_t elements) {
  return (elements + kAligned - 1) / kAligned * kAligned;
}

/// What is encoded of one buffer.
std::vector<kernels::EncodedTensor> table_of(const std::vector<std::size_t>& tensors,
                                             float* gradients, std::byte* planes) {
  std::vector<kernels::EncodedTensor> table;
  for (const std::size_t n : tensors) {
    kernels::EncodedTensor tensor;
    tensor.tensor = static_cast<std::uint32_t>(table.size());
    tensor.elements = n;
    tensor.values = gradients;
    tensor.planes = planes;
    table.push_back(tensor);
    gradients += aligned(n);
    planes += kernels::planes_bytes(n);
  }
  return table;
}

}  // namespace

Result<DeviceEncoding> DeviceEncoding::make(kernels::Device& device, kernels::DeviceStream& stream,
                                            const DeviceCodecSetup& setup,
                                            const std::vector<std::size_t>& tensors) {
  DeviceEncoding made(stream);
  std::size_t floats = 0;
  std::size_t planes_bytes = 0;
  for (const std::size_t n : tensors) {
    floats += aligned(n);
    planes_bytes += kernels::planes_bytes(n);
  }
  made.bytes_ = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0}) * sizeof(float);
  STERNA_ASSIGN(made.draw_, kernels::uploaded<kernels::StepOfRank>(device, stream, {&kDraw, 1}));
  std::vector<float> values(floats);
  kernels::truncated_normal(values, 0.01F, {.seed = 1}, kernels::best_isa());
  for (std::size_t left = buffers_of(device, setup, made.bytes_); left > 0; --left) {
    STERNA_ASSIGN(DeviceArray<float> gradients, kernels::uploaded<float>(device, stream, values));
    STERNA_ASSIGN(DeviceArray<std::byte> planes,
                  DeviceArray<std::byte>::make(device, planes_bytes));
    STERNA_ASSIGN(kernels::EncodePlan plan,
                  kernels::EncodePlan::make(device, stream,
                                            table_of(tensors, gradients.data(), planes.data()),
                                            made.draw_.data(), kClip));
    STERNA_TRY(stream.encode(EncodePass::measure, plan.launch()));
    STERNA_TRY(stream.finish());
    made.gradients_.push_back(std::move(gradients));
    made.planes_.push_back(std::move(planes));
    made.plans_.push_back(std::move(plan));
  }
  return made;
}

DeviceContender DeviceEncoding::contender(std::string name,
                                          const std::vector<EncodePass>& passes) const {
  DeviceContender all{std::move(name), {}};
  for (const kernels::EncodePlan& plan : plans_) {
    all.passes.emplace_back([this, &plan, passes]() -> Result<void> {
      for (const EncodePass pass : passes) STERNA_TRY(stream_->encode(pass, plan.launch()));
      return {};
    });
  }
  return all;
}

Result<void> DeviceEncoding::encode(std::size_t buffer) const {
  STERNA_TRY(stream_->encode(EncodePass::measure, plans_[buffer].launch()));
  return stream_->encode(EncodePass::ternarize, plans_[buffer].launch());
}

}  // namespace sterna::launcher
