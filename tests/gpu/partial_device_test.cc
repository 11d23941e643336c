#include "kernels/device/partial_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/device/device_array.h"
#include "kernels/device/host_device.h"

namespace sterna::kernels {
namespace {

using testing::ElementsAre;
using Four = std::array<float, 4>;

TEST(PartialDevice, LeavesOutLaunchesAndDoesWhatLibrariesDo) {
  PartialDevice device(make_host_device({.late = false, .libraries = true}));
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
  const ProductLaunch square{.a = {a.data(), 2, 1},
                             .b = {a.data(), 2, 1},
                             .out = out.data(),
                             .rows = 2,
                             .columns = 2,
                             .depth = 2};
  const auto product = stream->product({square, Arithmetic::fp32}).value();
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

}  // namespace
}  // namespace sterna::kernels
