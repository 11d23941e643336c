#include "runtime/message/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "runtime/message/packed_message.h"
#include "tests/runtime/message/held_message.h"
#include "tests/runtime/message/test_messages.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

Expected only(void* type, const Header&) { return {static_cast<const MessageType*>(type), false}; }
Expected nothing(void*, const Header&) { return {}; }
Expected refuse(void*, const Header&) { return {nullptr, true}; }

template <Message M>
Result<Decoded> decode(InMessage& message) {
  MessageType type = kMessageType<M>;
  return decode_envelope(message, only, &type);
}
template <Message M>
const M& body(const Decoded& decoded) {
  return static_cast<const MessageMail<M>&>(*decoded.mail).message;
}
Header ask() {
  Header header;
  header.kind = Kind::ASK;
  return header;
}
std::string malformed(const Result<Decoded>& decoded) {
  EXPECT_FALSE(decoded.ok());
  if (decoded) return "";
  EXPECT_EQ(decoded.error().code, Errc::malformed);
  return decoded.error().message;
}
Bytes bulk(std::size_t size) {
  const auto buffer = make_buffer(size);
  for (std::size_t i = 0; i < size; ++i) buffer->data()[i] = static_cast<std::byte>(i * 7);
  return share(buffer);
}

TEST(Wire, AMessageArrivesWithAllOfItsHeader) {
  EnvelopeEncoder encoder;
  HeldMessage arrived(encode(encoder, {{5}, {6}, 7, Kind::ASK, 0, 8, 9, 10}, Add{42}));
  const Result<Decoded> decoded = decode<Add>(arrived);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Header& header = decoded->header;
  EXPECT_EQ(header.target, LocalId{5});
  EXPECT_EQ(header.source, LocalId{6});
  EXPECT_EQ(header.correlation, 7U);
  EXPECT_EQ(header.kind, Kind::ASK);
  EXPECT_EQ(header.type_id, type_id_of<Add>());
  EXPECT_EQ(header.epoch, 8U);
  EXPECT_EQ(header.deadline_ns, 9);
  EXPECT_EQ(header.sequence, 10U);
  EXPECT_EQ(body<Add>(*decoded).amount, 42);
}

TEST(Wire, AnEncoderIsUsedAgainAndLeavesNothingOfTheMessageBefore) {
  EnvelopeEncoder encoder;
  encode(encoder, {{5}, {6}, 7, Kind::ASK, 0, 8, 9, 10}, Add{-1});
  HeldMessage arrived(encode(encoder, {}, Add{1}));
  const Result<Decoded> decoded = decode<Add>(arrived);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->header.correlation, 0U);
  EXPECT_EQ(body<Add>(*decoded).amount, 1);
}

TEST(Wire, BulkBytesAreSentFromWhereTheyLieAndReadWhereTheyArrive) {
  const Bytes sent = bulk(1 << 16);
  EnvelopeEncoder encoder;
  const auto frames = encode(encoder, {}, Blob{sent});
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].view.data(), sent.data());
  EXPECT_EQ(frames[1].owner, sent.owner());
  HeldMessage arrived(frames);
  const Result<Decoded> decoded = decode<Blob>(arrived);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(body<Blob>(*decoded).data.data(), arrived.all()[1].data());
  EXPECT_EQ(text_of(body<Blob>(*decoded).data.view()), text_of(sent.view()));
}

TEST(Wire, FewBytesAndBytesAtAnOddAddressTravelWithTheRest) {
  EnvelopeEncoder encoder;
  EXPECT_EQ(encode(encoder, {}, Blob{bulk(100)}).size(), 1U);
  const Bytes all = bulk(1 << 16);
  const Blob odd{{all.owner(), all.view().subspan(1)}};
  HeldMessage arrived(encode(encoder, {}, odd));
  for (const Bytes& frame : arrived.all()) EXPECT_EQ(frame.size() % 8, 0U);
  const Result<Decoded> decoded = decode<Blob>(arrived);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(text_of(body<Blob>(*decoded).data.view()), text_of(odd.data.view()));
}

TEST(Wire, BytesThatEndWithinAWordAreCopiedUnlessTheirBufferGoesOn) {
  EnvelopeEncoder encoder;
  const auto sent_where_they_lie = [&](const Bytes& bytes) {
    const auto frames = encode(encoder, {}, Blob{bytes});
    return std::ranges::any_of(
        frames, [&](const OutFrame& frame) { return frame.view.data() == bytes.data(); });
  };
  const auto others = std::make_shared<std::vector<std::uint64_t>>(1000);
  const ByteView some = std::as_bytes(std::span(*others)).first(5001);
  EXPECT_FALSE(sent_where_they_lie({others, some}));
  EXPECT_TRUE(sent_where_they_lie({others, some.first(5000)}));
  EXPECT_TRUE(sent_where_they_lie(bulk(5001)));
  EXPECT_TRUE(sent_where_they_lie(bulk(9000).part(8, 5001)));
  EXPECT_TRUE(sent_where_they_lie(bulk(5001).kept_by(others)));
}

TEST(Wire, AsManyBytesAsAListHoldsAreSentInFewFrames) {
  EnvelopeEncoder encoder;
  Blobs many;
  for (std::size_t i = 0; i < 200; ++i) many.blobs.push_back({bulk(4096 + i)});
  HeldMessage arrived(encode(encoder, {}, many));
  const Result<Decoded> decoded = decode<Blobs>(arrived);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Blobs& read = body<Blobs>(*decoded);
  ASSERT_EQ(read.blobs.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(text_of(read.blobs[i].data.view()), text_of(many.blobs[i].data.view()));
  }
}

/// What the sender of `message` is told.
template <Message M>
std::string refusal(const M& message) {
  EnvelopeEncoder encoder;
  const auto frames = encoder.encode(ask(), [&](auto& envelope, WireWriter& writer) {
    message.encode(envelope.initBody().template initAs<typename M::Wire>(), writer);
  });
  EXPECT_TRUE(frames || frames.error().code == Errc::invalid_argument);
  return frames ? "" : frames.error().message;
}

TEST(Wire, WhatNoReceiverWouldTakeIsNotSent) {
  EXPECT_EQ(refusal(Slow{Duration(1)}), "");
  EXPECT_EQ(refusal(Slow{Duration(-1)}), "Slow.nanoseconds: -1e-09 s, at least 0 s");
  EXPECT_EQ(refusal(Blobs{{}, {1, std::nan("")}}), "Blobs.weights[1]: nan is not finite");
  EXPECT_EQ(refusal(Blobs{{}, std::vector<double>(5000)}), "Blobs.weights: 5000, at most 4096");
  EXPECT_EQ(refusal(Blobs{{}, std::vector<double>(4096)}), "");
}

TEST(Wire, WhatCapnProtoCannotWriteIsNotSent) {
  const auto owner = std::make_shared<int>();
  const ByteView huge(reinterpret_cast<const std::byte*>(owner.get()), std::size_t{1} << 30);
  EXPECT_EQ(refusal(Blob{{owner, huge}}),
            "it cannot be written: 1073741824 bytes, at most 536870911");
  EXPECT_TRUE(pack(Blob{{owner, huge}}).empty());
}

TEST(Wire, AFrameAtAnOddAddressIsReadAllTheSame) {
  EnvelopeEncoder encoder;
  for (const std::size_t size : {std::size_t{8}, std::size_t{4000}}) {  // in and beyond the scratch
    const std::string frame(text_of(encode(encoder, {}, Blob{bulk(size)})[0].view));
    const Bytes shifted = copy_bytes("x" + frame);
    HeldMessage arrived({Bytes(shifted.owner(), shifted.view().subspan(1))});
    const Result<Decoded> decoded = decode<Blob>(arrived);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(body<Blob>(*decoded).data.size(), size);
  }
}

TEST(Wire, BothEndsChargeTheSameForAMessage) {
  EnvelopeEncoder encoder;
  const auto frames = encode(encoder, {}, Blob{bulk(1 << 16)});
  EXPECT_GT(charge(frames), std::size_t{1} << 16);
  EXPECT_EQ(charge(frames), charge(HeldMessage(frames)));
  EXPECT_GT(charge(encode(encoder, {}, Boom{})), 0U);
}

TEST(Wire, ACancellationHasNoBody) {
  EnvelopeEncoder encoder;
  Header header;
  header.kind = Kind::CANCEL;
  HeldMessage arrived(encoder.encode(header, [](auto&, WireWriter&) {}).value());
  const Result<Decoded> decoded = decode_envelope(arrived, refuse, nullptr);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->mail, nullptr);
}

TEST(Wire, AFailureCarriesItsKindAndItsWords) {
  EnvelopeEncoder encoder;
  Header header;
  header.kind = Kind::FAILURE;
  const auto fails = [&](Errc code) {
    const FailureMail mail(Error{code, "no room"});
    const auto write = [&](auto& envelope, WireWriter& writer) {
      mail.encode_body(envelope, writer);
    };
    HeldMessage arrived(encoder.encode(header, write).value());
    return decode_envelope(arrived, nothing, nullptr);
  };
  const Result<Decoded> decoded = fails(Errc::overloaded);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Error& error = static_cast<const FailureMail&>(*decoded->mail).error;
  EXPECT_EQ(error.code, Errc::overloaded);
  EXPECT_EQ(error.message, "no room");
  EXPECT_THAT(malformed(fails(static_cast<Errc>(999))), HasSubstr("unknown error code"));
}

TEST(Wire, AFailureOfManyWordsIsCutSoThatItFitsIntoAFrame) {
  EnvelopeEncoder encoder;
  Header header;
  header.kind = Kind::FAILURE;
  const FailureMail mail(Error{Errc::io, std::string(5U << 20, 'x')});
  const auto write = [&](auto& envelope, WireWriter& writer) {
    mail.encode_body(envelope, writer);
  };
  const auto frames = encoder.encode(header, write).value();
  EXPECT_LT(charge(frames), 5000U);
  HeldMessage arrived(frames);
  const Result<Decoded> decoded = decode_envelope(arrived, nothing, nullptr);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(static_cast<const FailureMail&>(*decoded->mail).error.message, std::string(4096, 'x'));
}

TEST(Wire, WhereOneTypeIsDueNothingElseIsTakenForIt) {
  EnvelopeEncoder encoder;
  const FailureMail failure(Error{Errc::io, "boo"});
  for (const Kind kind : {Kind::ASK, Kind::REPLY, Kind::FAILURE, Kind::CANCEL}) {
    Header header;
    header.kind = kind;
    header.type_id = type_id_of<Add>();
    const auto write = [&](auto& envelope, WireWriter& writer) {
      failure.encode_body(envelope, writer);
    };
    HeldMessage arrived(encoder.encode(header, write).value());
    EXPECT_THAT(malformed(decode_only(arrived, kMessageType<Add>)), HasSubstr("does not accept"));
  }
  HeldMessage told(encode(encoder, {}, Add{3}));
  const Result<Decoded> decoded = decode_only(told, kMessageType<Add>);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(body<Add>(*decoded).amount, 3);
}

TEST(Wire, ABodyThatNobodyWaitsForIsLeftAlone) {
  EnvelopeEncoder encoder;
  HeldMessage arrived(encode(encoder, ask(), Add{1}));
  const Result<Decoded> decoded = decode_envelope(arrived, nothing, nullptr);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->mail, nullptr);
}

TEST(Wire, WhatItsTargetDoesNotAcceptIsMalformed) {
  EnvelopeEncoder encoder;
  HeldMessage arrived(encode(encoder, ask(), Add{1}));
  EXPECT_THAT(malformed(decode_envelope(arrived, refuse, nullptr)), HasSubstr("does not accept"));
  EXPECT_THAT(malformed(decode<Total>(arrived)), HasSubstr("another type"));
}

TEST(Wire, AnUnknownKindIsMalformed) {
  EnvelopeEncoder encoder;
  Header header;
  header.kind = static_cast<Kind>(9);
  HeldMessage arrived(encode(encoder, header, Add{1}));
  EXPECT_THAT(malformed(decode<Add>(arrived)), HasSubstr("unknown kind of message, 9"));
}

TEST(Wire, FramesThatAreNoSegmentsAreMalformed) {
  HeldMessage none(std::vector<Bytes>{});
  EXPECT_THAT(malformed(decode<Add>(none)), HasSubstr("no frames"));
  HeldMessage many(std::vector<Bytes>(65, bulk(8)));
  EXPECT_THAT(malformed(decode<Add>(many)), HasSubstr("more than 64"));
  HeldMessage odd({bulk(12)});
  EXPECT_THAT(malformed(decode<Add>(odd)), HasSubstr("12 bytes"));
  HeldMessage empty({Bytes{}});
  EXPECT_THAT(malformed(decode<Add>(empty)), HasSubstr("0 bytes"));
}

TEST(Wire, WhereverAMessageIsCutItIsMalformed) {
  EnvelopeEncoder encoder;
  const std::string frame(text_of(encode(encoder, ask(), Add{1})[0].view));
  for (std::size_t size = 8; size < frame.size(); size += 8) {
    HeldMessage cut({copy_bytes(frame.substr(0, size))});
    malformed(decode<Add>(cut));
  }
}

TEST(Wire, WhicheverBitIsFlippedTheAnswerIsAValueOrMalformed) {
  EnvelopeEncoder encoder;
  const std::string frame(text_of(encode(encoder, ask(), Blob{bulk(40)})[0].view));
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    std::string flipped = frame;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    HeldMessage arrived({copy_bytes(flipped)});
    if (const Result<Decoded> decoded = decode<Blob>(arrived); !decoded) malformed(decoded);
  }
}

}  // namespace
}  // namespace sterna::test
