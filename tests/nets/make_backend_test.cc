#include "nets/make_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device/host_device.h"

namespace sterna::nets {
namespace {

TEST(MakeBackend, MakesEachByItsName) {
  EXPECT_THAT(backend_names(), testing::ElementsAre("onednn", "device"));
  for (const std::string_view name : backend_names())
    EXPECT_TRUE(
        make_backend({.name = std::string(name), .device = kernels::make_host_device({})}).ok());
}

TEST(MakeBackend, NamesTheBackendsThereAre) {
  const auto made = make_backend({.name = "cuda"});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::invalid_argument);
  EXPECT_EQ(made.error().message, "no backend is called \"cuda\"; there are: onednn, device");
}

}  // namespace
}  // namespace sterna::nets
