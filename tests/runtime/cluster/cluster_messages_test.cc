#include "runtime/cluster/cluster_messages.h"

#include <gtest/gtest.h>

#include "runtime/message/packed_message.h"

namespace sterna {
namespace {

TEST(ClusterMessages, ADeathIsItsCauseAndWhatWasLoggedLast) {
  ProcessDown down;
  down.cause = "why";
  EXPECT_EQ(down.full_cause(), "why");
  down.last_lines = {"one", "two"};
  EXPECT_EQ(down.full_cause(), "why; it logged last: one | two");
}

/// A message whose one list claims `count` structs of so many words and pointers.
template <Message M>
Result<M> of_a_list(std::uint16_t words, std::uint16_t pointers, std::uint16_t count) {
  EnvelopeEncoder encoder;
  Header header;
  header.type_id = type_id_of<M>();
  const auto write = [&](auto& envelope, WireWriter&) {
    auto body = envelope.initBody().initAsAnyStruct(0, 1);
    body.getPointerSection()[0].initAsListOfAnyStruct(words, pointers, count);
  };
  return unpack<M>(detail::pack_frames(encoder.encode(header, write).value()).view());
}

TEST(ClusterMessages, AListWhoseElementsLackTheirBytesIsRefusedBeforeAnythingIsMadeOfIt) {
  EXPECT_FALSE(of_a_list<StatusReport>(0, 0, 50).ok());
  EXPECT_FALSE(of_a_list<StatusReport>(0, 0, 65436).ok());
  EXPECT_FALSE(of_a_list<StatusReport>(1, 0, 50).ok());
  EXPECT_EQ(of_a_list<StatusReport>(0, 0, 0)->processes.size(), 0U);
  const Result<StatusReport> newer = of_a_list<StatusReport>(40, 20, 3);
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_EQ(newer->processes.size(), 3U);
}

}  // namespace
}  // namespace sterna
