// What a link makes of what arrives, from peers that follow no rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/link/linked.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr LocalId kActor{5};

class LinkReceiving : public LinkFixture {
 protected:
  LinkReceiving() {
    options.build_id = "ours";
    options.host = "here";
    options.window = {4096, 4096};
    a = make(1, "a");
    a->links->admit(stranger.peer.contact);
    stranger.peer.transport.admit(a->contact);
  }
  ~LinkReceiving() noexcept override = default;
  void open() {
    stranger.dial(*a, stranger.hello());
    pass(1ms);
    ASSERT_TRUE(a->links->connected(kB));
  }
  /// What `a` answers to such a Hello.
  std::string refusal(const Hello& hello) {
    stranger.dial(*a, hello);
    pass(1ms);
    EXPECT_FALSE(a->links->connected(kB));
    return stranger.welcomes.empty() ? "" : stranger.welcomes[0].reason;
  }
  std::string only_end() const { return a->ends.size() == 1 ? a->ends[0] : ""; }

  Stranger stranger{network, 2, "stranger"};
  std::unique_ptr<Linked> a;
};

TEST_F(LinkReceiving, AHelloIsWelcomedWithOurCredit) {
  open();
  ASSERT_EQ(stranger.welcomes.size(), 2U);
  EXPECT_TRUE(stranger.welcomes[0].accepted);
  EXPECT_EQ(stranger.welcomes[0].credit, 4096U);
  stranger.say(Lane::control, Add{3}, kActor);
  pass(1ms);
  EXPECT_THAT(a->amounts(), ElementsAre(3));
}

TEST_F(LinkReceiving, AnotherProtocolOrSchemaIsRefusedInALineThatNamesBothBuilds) {
  Hello other = stranger.hello();
  other.protocol = 99;
  other.build_id = "theirs";
  other.host = "there";
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("ours on here"), HasSubstr("theirs on there"),
                                    HasSubstr("protocol 99")));
  other.protocol = kProtocolVersion;
  other.schema_hash = 99;
  stranger.welcomes.clear();
  EXPECT_THAT(refusal(other), HasSubstr("run the same build on both hosts"));
  EXPECT_EQ(a->log.size(), 1U);  // once for each peer
  EXPECT_EQ(a->links->counters().faults, 0U);
}

TEST_F(LinkReceiving, AnotherRunIsRefused) {
  Hello other = stranger.hello();
  other.run = 99;
  EXPECT_EQ(refusal(other), "stranger#1 is of another run");
}

TEST_F(LinkReceiving, AHelloThatNoBuildOfOursSaysIsAFault) {
  Hello lie = stranger.hello();
  lie.process = {99};
  EXPECT_EQ(refusal(lie), "");
  EXPECT_EQ(only_end(), "stranger: it claims to be another process (fault)");
  a->ends.clear();
  a->links->admit(stranger.peer.contact);
  lie = stranger.hello();
  lie.session = 0;
  refusal(lie);
  EXPECT_EQ(only_end(), "stranger: it opened a link without a session (fault)");
}

TEST_F(LinkReceiving, WhoDoesNotBeginWithAHelloIsMuted) {
  stranger.channels[0] = stranger.peer.transport.dial(Lane::control, a->contact).value();
  stranger.say(Lane::control, Add{1}, kActor);
  pass(1ms);
  EXPECT_THAT(only_end(), HasSubstr("it did not begin with a Hello"));
  EXPECT_EQ(a->links->counters().decode_errors, 1U);
}

TEST_F(LinkReceiving, NorIsAFailureOrACancellationTakenForOne) {
  for (const Kind kind : {Kind::FAILURE, Kind::CANCEL, Kind::REPLY, Kind::ASK}) {
    a->ends.clear();
    a->links->admit(stranger.peer.contact);
    stranger.channels[0] = stranger.peer.transport.dial(Lane::control, a->contact).value();
    Header header;
    header.kind = kind;
    header.type_id = type_id_of<Hello>();
    stranger.say(Lane::control, header, FailureMail(Error{Errc::io, "boo"}));
    pass(1ms);
    EXPECT_THAT(only_end(), HasSubstr("it did not begin with a Hello"));
  }
}

TEST_F(LinkReceiving, AHelloThatIsNotTheFirstMessageIsMuted) {
  stranger.channels[0] = stranger.peer.transport.dial(Lane::control, a->contact).value();
  stranger.say_as(1, Lane::control, stranger.hello());
  pass(1ms);
  EXPECT_THAT(only_end(), HasSubstr("a first message out of order"));
}

TEST_F(LinkReceiving, WhoTheTransportKnowsAndTheLinksDoNotIsNotHeard) {
  Stranger other(network, 3, "other");
  a->transport.admit(other.peer.contact);
  other.dial(*a, other.hello());
  pass(1ms);
  EXPECT_THAT(a->log, ElementsAre("other#1 is not expected here: muted"));
  EXPECT_EQ(a->links->counters().refused_hellos, 2U);
  EXPECT_THAT(a->ends, IsEmpty());
}

TEST_F(LinkReceiving, ARoundTripIsOfAnotherHostAndOfTimesThatCanBe) {
  std::vector<Duration> held;
  a->links->set_on_round_trip([&](const RoundTrip& trip) {
    EXPECT_EQ(trip.host, "there");
    EXPECT_EQ(trip.answered, Time{77});
    EXPECT_EQ(trip.came, loop.now());
    held.push_back(trip.held);
  });
  const Duration before(loop.now().ns);
  pass(1s);
  Hello hello = stranger.hello();
  hello.host = "there";
  stranger.dial(*a, hello);
  pass(10ms);
  const Duration asked(loop.now().ns);
  pass(20ms);
  const auto say = [&](Duration echoed, Duration since) {
    Heartbeat beat;
    beat.sent = Duration(77);
    beat.echoed = echoed;
    beat.held = since;
    stranger.say(Lane::control, beat);
    pass(1ms);
  };
  say(Duration(0), Duration(0));  // it has not heard us yet
  say(before, 5ms);               // there was no link
  say(asked + 1h, 5ms);           // nor was that yet
  say(asked, 1h);                 // it cannot have held it longer than it took
  say(asked, -5ms);
  EXPECT_THAT(held, IsEmpty());
  say(asked, 5ms);
  EXPECT_THAT(held, ElementsAre(5ms));
  EXPECT_THAT(a->ends, IsEmpty());
}

TEST_F(LinkReceiving, OfItsOwnHostNobodyAsksForTheTime) {
  std::size_t trips = 0;
  a->links->set_on_round_trip([&](const RoundTrip&) { ++trips; });
  Hello hello = stranger.hello();
  hello.host = "here";
  stranger.dial(*a, hello);
  pass(10ms);
  Heartbeat beat;
  beat.sent = beat.echoed = Duration(loop.now().ns);
  stranger.say(Lane::control, beat);
  pass(1ms);
  EXPECT_EQ(trips, 0U);
}

TEST_F(LinkReceiving, AnotherSessionTakesThePlaceOfTheFirst) {
  open();
  Hello again = stranger.hello();
  again.session = 78;
  stranger.dial(*a, again);
  pass(1ms);
  EXPECT_EQ(only_end(), "stranger: link lost: the peer opened a new session");
  EXPECT_TRUE(a->links->connected(kB));
}

TEST_F(LinkReceiving, TheSameHelloTwiceOnALaneIsANewSession) {
  open();
  stranger.dial(*a, stranger.hello());
  pass(1ms);
  EXPECT_EQ(only_end(), "stranger: link lost: the peer opened a new session");
}

TEST_F(LinkReceiving, AGapInTheNumbersEndsTheLink) {
  open();
  stranger.next[0] = 2;
  stranger.say(Lane::control, Add{1}, kActor);
  pass(1ms);
  EXPECT_EQ(only_end(), "stranger: link lost: message 2 came where 1 was due");
  EXPECT_EQ(a->links->counters().sequence_gaps, 1U);
  EXPECT_THAT(a->amounts(), IsEmpty());
}

TEST_F(LinkReceiving, ANumberThatComesTwiceEndsTheLinkAndIsHeardOnce) {
  open();
  stranger.say(Lane::control, Add{1}, kActor);
  stranger.next[0] = 1;
  stranger.say(Lane::control, Add{1}, kActor);
  pass(1ms);
  EXPECT_THAT(a->amounts(), ElementsAre(1));
  EXPECT_THAT(only_end(), HasSubstr("message 1 came where 2 was due"));
}

TEST_F(LinkReceiving, AMessageThatNobodyAcceptsIsAFault) {
  open();
  stranger.say(Lane::control, Total{1}, kActor);
  pass(1ms);
  EXPECT_THAT(only_end(), AllOf(HasSubstr("malformed message"), HasSubstr("(fault)")));
  EXPECT_EQ(a->links->counters().decode_errors, 1U);
}

TEST_F(LinkReceiving, OneMessageMayEndBeyondTheCreditAndNoneMayBeginThere) {
  open();
  const Blob blob{share(make_buffer(3000))};
  stranger.say(Lane::data, blob, kActor);
  stranger.say(Lane::data, blob, kActor);  // begins within 4096 bytes
  pass(1ms);
  EXPECT_EQ(a->mails.size(), 2U);
  EXPECT_THAT(a->ends, IsEmpty());
  stranger.say(Lane::data, blob, kActor);
  pass(1ms);
  EXPECT_EQ(a->mails.size(), 2U);
  EXPECT_EQ(only_end(), "stranger: it sent more than its credit (fault)");
}

TEST_F(LinkReceiving, HandledMailBecomesCreditAgainAtOnceForAQuarterOfTheWindow) {
  open();
  stranger.say(Lane::data, Blob{share(make_buffer(2000))}, kActor);
  pass(1ms);
  ASSERT_EQ(a->mails.size(), 1U);
  EXPECT_THAT(stranger.heartbeats, IsEmpty());
  a->links->consumed(kB, *a->mails[0]);
  pass(1ms);
  ASSERT_EQ(stranger.heartbeats.size(), 1U);
  EXPECT_EQ(stranger.heartbeats[0].credit[1], 4096U + a->mails[0]->charge);
  EXPECT_EQ(stranger.heartbeats[0].credit[0], 4096U);
}

TEST_F(LinkReceiving, MailOfAnEarlierSessionGivesTheNextNoCredit) {
  open();
  stranger.say(Lane::data, Blob{share(make_buffer(2000))}, kActor);
  pass(1ms);
  Hello again = stranger.hello();
  again.session = 78;
  stranger.dial(*a, again);
  pass(1ms);
  a->links->consumed(kB, *a->mails[0]);
  pass(1s);
  ASSERT_FALSE(stranger.heartbeats.empty());
  EXPECT_EQ(stranger.heartbeats.back().credit[1], 4096U);
}

TEST_F(LinkReceiving, AProcessSpeaksForItsOwnActorsOnly) {
  open();
  stranger.say(Lane::control, Down{{{{3}, {5}}, "another", 1, "so they say"}});
  pass(1ms);
  EXPECT_THAT(a->downs, IsEmpty());
  EXPECT_EQ(only_end(), "stranger: it reported the death of another process's actor (fault)");
}

TEST_F(LinkReceiving, AMessageBeforeTheWelcomeIsAFault) {
  a->links->dial(stranger.peer.contact);
  pass(1ms);
  ASSERT_EQ(stranger.hellos.size(), 2U);
  stranger.say(Lane::control, Add{1}, kActor);
  pass(1ms);
  EXPECT_EQ(only_end(), "stranger: a message before the link was open (fault)");
}

TEST_F(LinkReceiving, AWelcomeThatIsNotTheAnswerToOurHelloIsAFault) {
  a->links->dial(stranger.peer.contact);
  pass(1ms);
  ASSERT_EQ(stranger.hellos.size(), 2U);
  Welcome welcome;
  welcome.accepted = true;
  welcome.session = stranger.hellos[0].session + 2;
  welcome.process = {2};
  stranger.say(Lane::control, welcome);
  pass(1ms);
  EXPECT_EQ(only_end(), "stranger: an unexpected Welcome (fault)");
}

TEST_F(LinkReceiving, ARefusalEndsTheLinkWithItsReason) {
  a->links->dial(stranger.peer.contact);
  pass(1ms);
  Welcome welcome;
  welcome.reason = "we are full";
  stranger.say(Lane::control, welcome);
  pass(1ms);
  EXPECT_EQ(only_end(), "stranger: refused: we are full");
}

TEST_F(LinkReceiving, CreditBeyondReasonIsNotBelieved) {
  Hello generous = stranger.hello();
  generous.credit = ~0ULL;
  stranger.dial(*a, generous);
  pass(1ms);
  for (int i = 0; i < 10; ++i) (void)a->tell_bulk(kB, 3000).ok();  // the last are too many
  pass(1ms);
  EXPECT_GT(stranger.told_bytes, 3U * 4096U);
  EXPECT_LT(stranger.told_bytes, 5U * 4096U);  // four windows, and one message that ends beyond
}

}  // namespace
}  // namespace sterna::test
