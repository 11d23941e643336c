#include <gtest/gtest.h>

#include "kernels/device/host_device.h"
#include "launcher/bench/net.h"

namespace sterna::launcher {
namespace {

TEST(DeviceSteps, TellWhatOfThemIsALibrarys) {
  const auto figures =
      bench_net({.net = "lenet",
                 .batch = 2,
                 .rounds = 1,
                 .device = kernels::make_host_device({.late = false, .libraries = true})},
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
