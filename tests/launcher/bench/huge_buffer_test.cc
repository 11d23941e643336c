#include "launcher/bench/huge_buffer.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace sterna::launcher {
namespace {

TEST(HugeBuffer, IsZeroedAndStartsAtAHugePage) {
  const HugeBuffer buffer = HugeBuffer::allocate(1000).value();
  EXPECT_EQ(buffer.bytes().size(), 1000U);
  EXPECT_EQ(buffer.floats().size(), 250U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % (std::size_t{2} << 20), 0U);
  for (const std::byte byte : buffer.bytes()) EXPECT_EQ(byte, std::byte{});
}

TEST(HugeBuffer, MovesWithWhatIsInIt) {
  HugeBuffer buffer = HugeBuffer::allocate(8).value();
  buffer.floats()[1] = 3;
  const HugeBuffer moved = std::move(buffer);
  EXPECT_EQ(moved.floats()[1], 3);
}

}  // namespace
}  // namespace sterna::launcher
