#include "actors/codecs/buffer_pool.h"

#include <gtest/gtest.h>

#include <optional>

namespace sterna::actors {
namespace {

TEST(BufferPool, GivesABufferThatCameBackToTheNextWhoWantsItsSize) {
  BufferPool pool;
  const std::byte* first = pool.take(100)->data();
  EXPECT_EQ(pool.take(100)->data(), first);
}

TEST(BufferPool, GivesNobodyABufferThatIsHeld) {
  BufferPool pool;
  const auto held = pool.take(100);
  const Bytes also_held = share(pool.take(100));
  EXPECT_NE(pool.take(100)->data(), held->data());
  EXPECT_NE(pool.take(100)->data(), also_held.data());
}

TEST(BufferPool, GivesABufferOfExactlyTheSizeAskedFor) {
  BufferPool pool;
  pool.take(200);
  EXPECT_EQ(pool.take(100)->size(), 100U);
}

TEST(BufferPool, KeepsNoMoreThanItMayWithThoseInUse) {
  BufferPool pool(250);
  const auto held = pool.take(100);
  const std::byte* kept = pool.take(50)->data();
  EXPECT_EQ(pool.take(50)->data(), kept) << "150 of 250";
  const auto large = pool.take(120);  // in place of the 50 that nobody uses
  const auto more = pool.take(100);   // what is in use is the caller's to bound
  EXPECT_EQ(held->size() + large->size() + more->size(), 320U);
}

TEST(BufferPool, MayEndBeforeItsBuffers) {
  std::optional<BufferPool> pool(std::in_place);
  const auto buffer = pool->take(100);
  pool.reset();
  buffer->bytes().back() = std::byte{1};
  EXPECT_EQ(buffer->size(), 100U);
}

TEST(Aligned, FillsUpToTheNextWholeWordWithZeros) {
  std::vector<std::byte> room(16, std::byte{0xFF});
  EXPECT_EQ(aligned(room, 5), 8U);
  EXPECT_EQ(room[4], std::byte{0xFF});
  for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(room[i], std::byte{}) << i;
  EXPECT_EQ(room[8], std::byte{0xFF});
}

TEST(Aligned, EndsWithTheRoom) {
  std::vector<std::byte> room(6, std::byte{0xFF});
  EXPECT_EQ(aligned(room, 5), 6U);
  EXPECT_EQ(room[5], std::byte{});
}

}  // namespace
}  // namespace sterna::actors
