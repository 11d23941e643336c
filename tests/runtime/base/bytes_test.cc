#include "runtime/base/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace sterna {
namespace {

TEST(Buffer, IsAlignedAndZeroedToTheEndOfItsLastLine) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{13}, std::size_t{64}, std::size_t{65}}) {
    const auto buffer = make_buffer(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0U);
    EXPECT_EQ(buffer->size(), size);
    const std::size_t capacity = (size + 63) / 64 * 64;
    EXPECT_EQ(std::count(buffer->data(), buffer->data() + capacity, std::byte{0}),
              static_cast<std::ptrdiff_t>(capacity));
  }
}

TEST(Buffer, OfNoBytesHasNone) {
  EXPECT_TRUE(make_buffer(0)->bytes().empty());
  EXPECT_TRUE(share(make_buffer(0)).empty());
}

TEST(Bytes, LiveAsLongAsAnyWhoShareThem) {
  auto buffer = make_buffer(13);
  buffer->data()[12] = std::byte{7};
  const std::weak_ptr<Buffer> watch = buffer;
  Bytes view = share(buffer);
  const Bytes beginning = share(std::move(buffer), 5);
  EXPECT_EQ(view.data()[12], std::byte{7});
  EXPECT_EQ(beginning.data(), view.data());
  view = {};
  EXPECT_FALSE(watch.expired());
}

TEST(Bytes, SayWhetherTheirLastWordMayBeReadToItsEnd) {
  const auto words = std::make_shared<std::array<std::uint64_t, 4>>();
  const ByteView all = std::as_bytes(std::span(*words));
  EXPECT_TRUE(Bytes(words, all).whole_words());
  EXPECT_TRUE(Bytes(words, all.subspan(4)).whole_words());  // it ends where a word does
  EXPECT_FALSE(
      Bytes(words, all.subspan(4, 8)).whole_words());  // a word's size, and ends within one
  EXPECT_FALSE(Bytes(words, all.first(13)).whole_words());
  EXPECT_TRUE(Bytes(words, all).part(0, 13).whole_words());
  EXPECT_FALSE(Bytes(words, all.subspan(4, 8)).part(4, 3).whole_words());
}

TEST(Bytes, ACopyIsTheSameOfAnySizeAndLiesElsewhere) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{5000}}) {
    const std::string text(size, 'x');
    const Bytes copy = copy_bytes(text);
    EXPECT_EQ(text_of(copy.view()), text);
    EXPECT_NE(text_of(copy.view()).data(), text.data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.data()) % 8, 0U);  // fit for the wire
  }
}

}  // namespace
}  // namespace sterna
