// What a device leaves out that does only what libraries do, and what is found of a step with it.
#include "kernels/device/partial_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/device/device_array.h"
#include "kernels/device/host_device.h"
#include "launcher/bench/net.h"

namespace sterna::launcher {
namespace {

using kernels::DeviceArray;
using kernels::ElementLaunch;
using kernels::ElementPass;
using kernels::PartialDevice;
using testing::ElementsAre;
using Four = std::array<float, 4>;

std::shared_ptr<kernels::Device> whole() {
  return kernels::make_host_device({.late = false, .libraries = true});
}

TEST(PartialDevice, LeavesOutLaunchesAndDoesWhatLibrariesDo) {
  PartialDevice device(whole());
  const auto stream = device.make_stream().value();
  auto a = DeviceArray<float>::make(device, 4).value();
  auto out = DeviceArray<float>::make(device, 4).value();
  const auto fetched = [&](const DeviceArray<float>& from) {
    Four values{};
    EXPECT_TRUE(from.download(*stream, values).ok());
    EXPECT_TRUE(stream->finish().ok());
    return values;
  };
  const ElementLaunch twice{
      .pass = ElementPass::scale, .a = a.data(), .out = a.data(), .count = 4, .factor = 2};
  const kernels::ProductLaunch square{.a = {a.data(), 2, 1},
                                      .b = {a.data(), 2, 1},
                                      .out = out.data(),
                                      .rows = 2,
                                      .columns = 2,
                                      .depth = 2};
  const auto product = stream->product({square, kernels::Arithmetic::fp32}).value();
  ASSERT_NE(product, nullptr);
  auto workspace = DeviceArray<std::byte>::make(device, product->workspace() + 1).value();

  ASSERT_TRUE(a.upload(*stream, Four{1, 2, 3, 4}).ok());
  ASSERT_TRUE(stream->layer(twice).ok());
  EXPECT_THAT(fetched(a), ElementsAre(2, 4, 6, 8));
  device.does(PartialDevice::Does::libraries);
  ASSERT_TRUE(stream->layer(twice).ok());
  EXPECT_THAT(fetched(a), ElementsAre(2, 4, 6, 8)) << "it was done";
  ASSERT_TRUE(
      stream
          ->run(*product,
                {.a = a.data(), .b = a.data(), .out = out.data(), .workspace = workspace.data()})
          .ok());
  EXPECT_THAT(fetched(out), ElementsAre(28, 40, 60, 88));
  EXPECT_EQ(device.given().launches, 2U);
  EXPECT_EQ(device.given().operations, 1U);
}

TEST(PartialDevice, TellsWhatOfAStepIsALibrarys) {
  const auto figures = bench_net({.net = "lenet", .batch = 2, .rounds = 1, .device = whole()},
                                 [](std::string_view) {});
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  for (const char* precision : {"fp32", "tf32", "bf16"}) {
    const std::string of = std::string("lenet.") + precision;
    // Two convolutions and two dense layers: forward, by weights, and but for the first by inputs.
    EXPECT_EQ(figures->at(of + ".operations"), 11) << precision;
    EXPECT_GT(figures->at(of + ".launches"), 11) << precision;
    EXPECT_GT(figures->at(of + ".libraries_ms"), 0) << precision;
    EXPECT_DOUBLE_EQ(figures->at(of + ".step_over_libraries"),
                     figures->at(of + ".step_ms") / figures->at(of + ".libraries_ms"))
        << precision;
  }
}

}  // namespace
}  // namespace sterna::launcher
