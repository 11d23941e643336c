// What the tests of nets on a device share: parameters that get there, gradients that come back.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/device/cuda_module.h"
#include "kernels/device/host_device.h"
#include "tests/nets/net_fixture.h"

namespace sterna::nets {

/// A GPU, on which tests run besides where STERNA_TEST_GPU demands it; null: it does not.
inline std::shared_ptr<kernels::Device> gpu() {
  if (std::getenv("STERNA_TEST_GPU") == nullptr) return nullptr;  // NOLINT(concurrency-mt-unsafe)
  struct Opened {
    kernels::CudaModule module;
    std::unique_ptr<kernels::Device> device;
  };
  auto module = kernels::CudaModule::open();
  auto device =
      module ? module->device(0) : Result<std::unique_ptr<kernels::Device>>(module.error());
  if (!device) {
    ADD_FAILURE() << device.error().message;
    return nullptr;
  }
  const auto opened =
      std::make_shared<Opened>(Opened{std::move(module).value(), std::move(device).value()});
  return {opened, opened->device.get()};
}

/// Copies each gradient to the host once it is complete, on a stream of its own.
class Fetched final : public GradientSink {
 public:
  Fetched(kernels::Device& device, std::size_t parameters)
      : stream_(std::move(device.make_stream()).value()), gradients(parameters) {}
  void gradient(std::size_t index, const Gradient& gradient) override {
    ASSERT_NE(gradient.complete, nullptr);
    gradients[index].resize(gradient.values.size());
    ASSERT_TRUE(stream_->wait_for(*gradient.complete).ok());
    ASSERT_TRUE(
        stream_->copy(gradients[index].data(), gradient.values.data(), gradient.values.size_bytes())
            .ok());
  }
  void wait() { ASSERT_TRUE(stream_->finish().ok()); }

 private:
  std::unique_ptr<kernels::DeviceStream> stream_;

 public:
  Gradients gradients;
};

/// What its parameters start as, as `initialized` makes it.
inline Gradients initial(const Net& net) {
  Gradients values;
  for (std::uint32_t i = 0; i < net.parameters().size(); ++i) {
    const ParameterSpec& spec = net.parameters()[i];
    values.emplace_back(spec.count());
    initialize(values.back(), spec, {123, i});
    if (spec.role != Role::bias) continue;
    for (std::size_t j = 0; j < values.back().size(); ++j) {
      values.back()[j] = 0.01F * static_cast<float>(j % 7);
    }
  }
  return values;
}

inline void write_all(Net& net, const Gradients& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    // In two pieces, as chunks come.
    const std::size_t half = values[i].size() / 2;
    ASSERT_TRUE(net.write_parameter(i, 0, std::span(values[i]).first(half)).ok());
    ASSERT_TRUE(net.write_parameter(i, half, std::span(values[i]).subspan(half)).ok());
    net.parameters_changed(i);
  }
}

/// The norm of the difference over that of what is expected.
template <class Value>
double distance(const std::vector<Value>& found, const std::vector<Value>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double squares = 0, off = 0;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const double difference = double{found[i]} - double{expected[i]};
    off += difference * difference;
    squares += double{expected[i]} * double{expected[i]};
  }
  return off == 0 ? 0 : std::sqrt(off / squares);
}

}  // namespace sterna::nets
