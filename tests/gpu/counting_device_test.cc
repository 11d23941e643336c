#include "kernels/device/counting_device.h"

#include <gtest/gtest.h>

#include "kernels/device/host_device.h"

namespace sterna::kernels {
namespace {

class PlansAsked final : public HostDeviceWatch {
 public:
  void plans(const ConvolutionShape& /*shape*/) override { ++count; }
  int count = 0;
};

/// Three rows and columns over images of four.
ConvolutionShape some_shape(std::uint32_t rows_before, std::uint32_t images) {
  ConvolutionShape shape;
  Windows& w = shape.windows;
  w.images = images;
  w.rows = w.columns = w.out_rows = w.out_columns = 4;
  w.channels = shape.out_channels = 8;
  w.kernel_rows = w.kernel_columns = 3;
  w.rows_before = rows_before;
  w.columns_before = 1;
  return shape;
}

TEST(CountingDevice, AsksALibraryOfEachConvolutionOnceHoweverOftenItCounts) {
  const auto watch = std::make_shared<PlansAsked>();
  const std::shared_ptr<Device> counted = make_host_device({.libraries = true, .watch = watch});
  const auto own = counted->make_stream().value();
  const std::vector<ConvolutionShape> shapes = {some_shape(1, 2), some_shape(2, 2),
                                                some_shape(1, 3)};
  std::vector<std::unique_ptr<DeviceOperation>> expected;
  expected.reserve(shapes.size());
  for (const ConvolutionShape& shape : shapes) {
    expected.push_back(own->convolution(shape).value());
  }
  ASSERT_NE(expected[0], nullptr);
  ASSERT_EQ(expected[1], nullptr) << "its paddings are not even";
  watch->count = 0;
  const auto plans = std::make_shared<KnownPlans>();
  for (int again = 0; again < 3; ++again) {
    CountingDevice counting(counted, plans);
    const auto first = counting.make_stream().value(), second = counting.make_stream().value();
    for (DeviceStream* const stream : {first.get(), second.get()}) {
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const auto found = stream->convolution(shapes[i]).value();
        ASSERT_EQ(found == nullptr, expected[i] == nullptr);
        if (found == nullptr) continue;
        EXPECT_EQ(found->workspace(), expected[i]->workspace());
        EXPECT_EQ(found->name(), expected[i]->name());
        EXPECT_EQ(found->makes_bf16s(), expected[i]->makes_bf16s());
      }
    }
  }
  EXPECT_EQ(watch->count, 3);
}

TEST(CountingDevice, KnowsTheLeastThatWasFreeWhileOthersCounted) {
  const std::shared_ptr<Device> counted = make_host_device({.memory = 10'240});
  const auto plans = std::make_shared<KnownPlans>();
  void* const meanwhile = counted->allocate(4'096).value();
  EXPECT_EQ(CountingDevice(counted, plans).free_beside_libraries().value(), 6'144U);
  counted->release(meanwhile);
  EXPECT_EQ(CountingDevice(counted, plans).free_beside_libraries().value(), 6'144U);
  EXPECT_EQ(CountingDevice(counted).free_beside_libraries().value(), 10'240U);
}

}  // namespace
}  // namespace sterna::kernels
