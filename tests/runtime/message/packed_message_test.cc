#include "runtime/message/packed_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/runtime/message/test_messages.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& packed) {
  const Result<Add> read = unpack<Add>(std::as_bytes(std::span(packed)));
  EXPECT_FALSE(read.ok());
  if (read) return "";
  EXPECT_EQ(read.error().code, Errc::malformed);
  return read.error().message;
}
std::string packed_add() { return std::string(text_of(pack(Add{42}).view())); }

TEST(PackedMessage, ComesBackAsItWas) {
  const Result<Add> read = unpack<Add>(pack(Add{42}).view());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->amount, 42);
}

TEST(PackedMessage, BulkBytesTravelInAFrameOfTheirOwn) {
  const Result<Blob> read = unpack<Blob>(pack(Blob{share(make_buffer(1 << 20))}).view());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->data.size(), 1U << 20);
}

TEST(PackedMessage, OneOfAnotherTypeIsRefused) {
  EXPECT_THAT(refusal(std::string(text_of(pack(Total{42}).view()))), HasSubstr("does not accept"));
}

TEST(PackedMessage, OnlyWhatIsToldIsOneWhateverItsTypeSays) {
  const FailureMail failure(Error{Errc::deadline, "boo"});
  EnvelopeEncoder encoder;
  for (const Kind kind : {Kind::ASK, Kind::REPLY, Kind::FAILURE, Kind::CANCEL}) {
    for (const std::uint64_t type_id : {type_id_of<Add>(), std::uint64_t{0}}) {
      Header header;
      header.kind = kind;
      header.type_id = type_id;
      const auto write = [&](auto& envelope, WireWriter& writer) {
        failure.encode_body(envelope, writer);
      };
      const Bytes packed = detail::pack_frames(encoder.encode(header, write).value());
      EXPECT_THAT(refusal(std::string(text_of(packed.view()))), HasSubstr("does not accept"));
    }
  }
}

TEST(PackedMessage, EveryCutIsAnError) {
  const std::string packed = packed_add();
  for (std::size_t size = 0; size < packed.size(); ++size) refusal(packed.substr(0, size));
}

TEST(PackedMessage, BytesBehindItAreAnError) {
  EXPECT_EQ(refusal(packed_add() + "x"), "bytes after a packed message");
}

TEST(PackedMessage, FramesWithoutEndAreRefusedBeforeTheyAreCounted) {
  for (const std::uint32_t frames : {0U, 65U, 0xffffffffU}) {
    std::string packed = packed_add();
    std::memcpy(packed.data(), &frames, sizeof frames);
    EXPECT_EQ(refusal(packed), "no packed message") << frames;
  }
}

TEST(PackedMessage, InAStreamItsSizeComesFirst) {
  const Bytes packed = pack(Add{42});
  const Bytes sized = with_size(packed);
  std::uint64_t size = 0;
  ASSERT_EQ(sized.size(), sizeof size + packed.size());
  std::memcpy(&size, sized.data(), sizeof size);
  EXPECT_EQ(size, packed.size());
  EXPECT_EQ(text_of(sized.view().subspan(sizeof size)), text_of(packed.view()));
}

}  // namespace
}  // namespace sterna::test
