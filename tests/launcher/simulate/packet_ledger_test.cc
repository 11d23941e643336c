// What servers answer to pushes, and what of it does not add up.
#include "launcher/simulate/packet_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/message/wire.h"

namespace sterna::launcher {
namespace {

using actors::Push;
using actors::PushReply;
using actors::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PacketLedgerTest : public testing::Test {
 protected:
  PacketLedgerTest() {
    job.steps = 2;
    job.ranks = 2;
    job.scheme.name = "async";
  }
  ~PacketLedgerTest() noexcept override = default;

  template <class M>
  std::vector<Bytes> frames(Kind kind, std::uint64_t correlation, const M& message) {
    Header header;
    header.correlation = correlation;
    header.kind = kind;
    header.type_id = type_id_of<M>();
    header.sequence = 1;
    std::vector<Bytes> copied;
    const auto write = [&](schema::Envelope::Builder& envelope, WireWriter& writer) {
      message.encode(envelope.initBody().template initAs<typename M::Wire>(), writer);
    };
    const auto sent = encoder.encode_unchecked(header, write);
    for (const OutFrame& frame : sent.value()) copied.push_back(copy_bytes(frame.view));
    return copied;
  }
  void pushes(std::uint64_t correlation, std::uint64_t step, std::uint64_t incarnation = 1) {
    Push push{.rank = 1, .incarnation = incarnation, .step = step, .packets = {}};
    push.packets.resize(1);
    ledger().saw("worker1", "server0", frames(Kind::ASK, correlation, push));
  }
  void answers(std::uint64_t correlation, Verdict verdict) {
    ledger().saw("server0", "worker1", frames(Kind::REPLY, correlation, PushReply{{verdict}}));
  }
  PacketLedger& ledger() {
    if (!made) made.emplace(job);
    return *made;
  }

  actors::JobConfig job;
  EnvelopeEncoder encoder;
  std::optional<PacketLedger> made;
};

TEST_F(PacketLedgerTest, EachPacketCountsOnceAndAllVersionsAreMade) {
  pushes(1, 0);
  answers(1, Verdict::ACCEPTED);
  pushes(2, 1);
  answers(2, Verdict::ACCEPTED);
  pushes(2, 1);  // over another connection, and its answer as well
  answers(2, Verdict::ACCEPTED);
  pushes(1, 1, 2);  // the next worker says again what the one before had said
  answers(1, Verdict::DUPLICATE);
  pushes(2, 2, 2);
  answers(2, Verdict::DROPPED);
  EXPECT_THAT(ledger().faults(true), IsEmpty());
  EXPECT_EQ(ledger().counted(), 2U);
  EXPECT_EQ(ledger().repeated(), 1U);
  EXPECT_EQ(ledger().late(), 1U);
}

TEST_F(PacketLedgerTest, OneThatCountsTwiceIsNamed) {
  pushes(1, 0);
  answers(1, Verdict::ACCEPTED);
  pushes(1, 0, 2);
  answers(1, Verdict::ACCEPTED);
  EXPECT_THAT(ledger().faults(false),
              ElementsAre("that of rank 1, push 0, chunk 0 counts 2 times"));
}

TEST_F(PacketLedgerTest, VersionsOfTooFewOrTooManyPacketsAreNamed) {
  pushes(1, 0);
  answers(1, Verdict::ACCEPTED);
  EXPECT_THAT(ledger().faults(false), IsEmpty()) << "the run may have been ended";
  EXPECT_THAT(ledger().faults(true), ElementsAre(HasSubstr("of chunk 0 count 1 packets")));
  pushes(2, 1);
  EXPECT_THAT(ledger().faults(true), IsEmpty()) << "the answer may have been lost";
  answers(2, Verdict::ACCEPTED);
  pushes(3, 2);
  answers(3, Verdict::ACCEPTED);
  EXPECT_THAT(ledger().faults(false), ElementsAre(HasSubstr("of chunk 0 count 3 packets")));
}

TEST_F(PacketLedgerTest, AVersionThatIsAnotherFromAnotherServerIsNamed) {
  const auto sends = [this](const std::string& server, std::uint64_t version,
                            std::string_view bytes) {
    actors::Parameters answer;
    answer.version = 1;
    answer.chunks.push_back({.chunk = 7, .payload = copy_bytes(bytes), .version = version});
    ledger().saw(server, "worker1", frames(Kind::REPLY, 1, answer));
  };
  sends("server0", 3, "three");
  sends("server0-replica", 4, "four");
  sends("server0-replica", 3, "three");
  EXPECT_THAT(ledger().faults(false), IsEmpty());
  EXPECT_EQ(ledger().compared(), 1U);
  sends("server0", 4, "fore");
  EXPECT_THAT(ledger().faults(false),
              ElementsAre("version 4 of chunk 7 is another from server0 than from "
                          "server0-replica"));
}

TEST_F(PacketLedgerTest, APushThatWasLeftOutIsNamed) {
  pushes(1, 0);
  pushes(2, 2);
  EXPECT_THAT(ledger().faults(false),
              ElementsAre("of rank 1, chunk 0, push 2 comes, and 1 never did"));
}

}  // namespace
}  // namespace sterna::launcher
