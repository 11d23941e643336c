#include "runtime/transport/frame_batch.h"

#include <gtest/gtest.h>

#include <string>

namespace sterna {
namespace {

ByteView bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
bool takes(std::string_view frame) {
  const OutFrame out{bytes_of(frame), nullptr};
  return FrameBatchWriter::takes({&out, 1});
}

struct Taken {
  std::vector<std::string> messages;
  bool malformed = false;
};
Taken take_apart(std::string_view batch) {
  FrameBatchReader reader(bytes_of(batch));
  Taken taken;
  for (ByteView frame = reader.next(); !frame.empty(); frame = reader.next()) {
    taken.messages.emplace_back(text_of(frame));
  }
  taken.malformed = reader.malformed();
  return taken;
}
std::string batch_of(const std::vector<std::string>& messages) {
  FrameBatchWriter writer;
  for (const std::string& message : messages) writer.add(bytes_of(message));
  return std::string(text_of(writer.frame()));
}

TEST(FrameBatch, SeveralMessagesComeOutAsTheyWentIn) {
  const std::vector<std::string> messages = {"a", "eight by", std::string(1000, 'x'), "the last"};
  const std::string batch = batch_of(messages);
  EXPECT_TRUE(FrameBatchReader::is_batch(bytes_of(batch)));
  const Taken taken = take_apart(batch);
  EXPECT_EQ(taken.messages, messages);
  EXPECT_FALSE(taken.malformed);
}

TEST(FrameBatch, OneMessageTravelsAsItIsUnlessItLooksLikeABatch) {
  EXPECT_EQ(batch_of({"a message"}), "a message");
  const std::string alike = "\x03 a batch?";
  ASSERT_TRUE(FrameBatchReader::is_batch(bytes_of(alike)));
  EXPECT_EQ(take_apart(batch_of({alike})).messages, std::vector{alike});
}

TEST(FrameBatch, TakesOneSmallFrame) {
  EXPECT_TRUE(takes("small"));
  EXPECT_FALSE(takes(""));
  EXPECT_FALSE(takes(std::string(1025, ' ')));
  const std::string text = "frame";
  const std::vector<OutFrame> two(2, OutFrame{bytes_of(text), nullptr});
  EXPECT_FALSE(FrameBatchWriter::takes(two));
}

TEST(FrameBatch, IsFullSoonAndEmptyAfterClear) {
  FrameBatchWriter writer;
  const std::string message(1024, 'm');
  std::size_t added = 0;
  for (; !writer.full(); ++added) writer.add(bytes_of(message));
  EXPECT_EQ(added, 16u);
  writer.clear();
  EXPECT_TRUE(writer.empty());
  EXPECT_FALSE(writer.full());
}

TEST(FrameBatch, CutAnywhereItIsMalformedAndNothingIsMadeUp) {
  const std::vector<std::string> messages = {"first", "second", "third"};
  const std::string batch = batch_of(messages);
  for (std::size_t size = 8; size < batch.size(); ++size) {
    const Taken taken = take_apart(batch.substr(0, size));
    EXPECT_TRUE(taken.malformed) << size;
    ASSERT_LT(taken.messages.size(), messages.size()) << size;
    for (std::size_t i = 0; i < taken.messages.size(); ++i)
      EXPECT_EQ(taken.messages[i], messages[i]);
  }
}

TEST(FrameBatch, WhatNobodyWritesIsMalformed) {
  const std::string good = batch_of({"first", "second"});
  const auto with = [&](std::size_t at, char byte) {
    std::string bad = good;
    bad[at] = byte;
    return take_apart(bad).malformed;
  };
  EXPECT_FALSE(take_apart(good).malformed);
  EXPECT_TRUE(with(0, 7));        // another tag of the same low bits
  EXPECT_TRUE(with(4, 0));        // no messages
  EXPECT_TRUE(with(4, 1));        // fewer than there are
  EXPECT_TRUE(with(4, 3));        // more than there are
  EXPECT_TRUE(with(8, 0));        // an empty message
  EXPECT_TRUE(with(11, '\x7f'));  // a message of gigabytes
  EXPECT_TRUE(with(12, 1));       // what must be zero
  EXPECT_TRUE(take_apart(good + "12345678").malformed);
  EXPECT_TRUE(take_apart(batch_of({"first", std::string(1025, 'x')})).malformed);
  EXPECT_TRUE(
      take_apart(batch_of(std::vector<std::string>(100, std::string(1000, 'x')))).malformed);
}

}  // namespace
}  // namespace sterna
