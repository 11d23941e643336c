// Processes of several hosts: neighbours reach each other over ipc, the others over tcp and CURVE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/runtime/zmq/zmq_network.h"

namespace sterna {
namespace {

using testing::HasSubstr;
using zmq_test::Network;
using zmq_test::Peer;

class Neighbours : public Network {
 protected:
  Neighbours() {
    options.kind = ZmqOptions::Kind::tcp;
    live_on(here);
  }
  /// Who is made from now on lives there.
  void live_on(const TemporaryFolder& host) {
    options.directory = host.path();
    options.neighbourhood = &host == &here ? 5 : 7;
  }
  std::unique_ptr<Peer> make_stranger(const std::string& name, std::uint64_t incarnation = 1) {
    live_on(there);
    auto stranger = make(name, incarnation);
    live_on(here);
    return stranger;
  }
  /// Says hello; whether it is heard, or the channel ends.
  bool greets(Peer& from, const Contact& to, Peer& listener) {
    const std::size_t before = listener.messages;
    const ChannelId channel = from.transport->dial(Lane::data, to).value();
    from.send(channel, "hello");
    EXPECT_TRUE(until([&] { return listener.messages > before || from.ends.contains(channel); }));
    return listener.messages > before;
  }
  /// Whether somebody on this host gets through who says to be `who`.
  bool is_heard_as(const Peer& who, const Credentials& secrets, Peer& server) {
    Peer intruder;
    intruder.contact.identity = who.contact.identity;
    open(intruder, secrets, false);
    return greets(intruder, server.contact, server);
  }

  TemporaryFolder here;
  TemporaryFolder there;
};

TEST_F(Neighbours, TalkIpcAndOthersTcp) {
  auto server = make("server");
  auto neighbour = make("neighbour");
  auto stranger = make_stranger("stranger");
  server->transport->admit(neighbour->contact);
  server->transport->admit(stranger->contact);
  EXPECT_TRUE(greets(*neighbour, server->contact, *server));
  EXPECT_TRUE(greets(*stranger, server->contact, *server));
  EXPECT_EQ(server->inbox.back().from, "stranger#1");
  Contact without_tcp = server->contact;
  without_tcp.data_endpoint.clear();
  EXPECT_TRUE(greets(*neighbour, without_tcp, *server));
  EXPECT_FALSE(stranger->transport->dial(Lane::data, without_tcp));
  std::filesystem::remove(here / "server.1.data");
  EXPECT_TRUE(greets(*stranger, server->contact, *server));
  EXPECT_FALSE(greets(*neighbour, server->contact, *server));
  EXPECT_EQ(server->messages, 4U);
}

TEST_F(Neighbours, ADiallerSpeaksToBothKindsAndCountsThemTogether) {
  auto server = make("server");
  auto neighbour = make("neighbour");
  auto stranger = make_stranger("stranger");
  neighbour->transport->admit(server->contact);
  stranger->transport->admit(server->contact);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(greets(*server, neighbour->contact, *neighbour));
    EXPECT_TRUE(greets(*server, stranger->contact, *stranger));
  }
  neighbour.reset();
  stranger.reset();
  EXPECT_TRUE(until([&] { return server->ends.size() == 6; }));
  EXPECT_EQ(server->transport->counters().disconnects, 6U);
}

TEST_F(Neighbours, BothEndsLearnOfADeathOverEither) {
  auto server = make("server");
  auto neighbour = make("neighbour");
  auto stranger = make_stranger("stranger");
  auto survivor = make_stranger("survivor");
  for (const Peer* peer : {neighbour.get(), stranger.get(), survivor.get()}) {
    server->transport->admit(peer->contact);
  }
  EXPECT_TRUE(greets(*neighbour, server->contact, *server));
  EXPECT_TRUE(greets(*stranger, server->contact, *server));
  EXPECT_TRUE(greets(*survivor, server->contact, *server));
  neighbour.reset();
  EXPECT_TRUE(until([&] { return server->ends.contains(server->inbox[0].channel); }));
  stranger.reset();
  EXPECT_TRUE(until([&] { return server->ends.contains(server->inbox[1].channel); }));
  EXPECT_EQ(server->transport->counters().disconnects, 2U);
  server.reset();
  EXPECT_TRUE(until([&] { return survivor->ends.size() == 1; }));
}

TEST_F(Neighbours, AWrongTokenIsDenied) {
  auto server = make("server");
  auto neighbour = make("neighbour");
  server->transport->admit(neighbour->contact);
  EXPECT_FALSE(is_heard_as(*neighbour, make_credentials(), *server));
  EXPECT_EQ(server->transport->counters().authentication_denials, 1U);
}

TEST_F(Neighbours, ATokenOfAnotherHostOpensNothing) {
  auto server = make("server");
  auto stranger = make_stranger("stranger");
  server->transport->admit(stranger->contact);
  // All of its secrets, on this host.
  EXPECT_FALSE(is_heard_as(*stranger, stranger->credentials, *server));
  EXPECT_EQ(server->transport->counters().authentication_denials, 1U);
}

TEST_F(Neighbours, ATokenOpensNothingOverTcp) {
  auto server = make("server");
  auto neighbour = make("neighbour");
  server->transport->admit(neighbour->contact);
  options.neighbourhood = 0;
  options.curve = false;
  EXPECT_FALSE(is_heard_as(*neighbour, neighbour->credentials, *server));
  EXPECT_EQ(server->messages, 0U);
}

TEST_F(Neighbours, AnIncarnationOnAnotherHostTakesTheOldOnesPlace) {
  auto server = make("server");
  auto first = make_stranger("worker", 1);
  server->transport->admit(first->contact);
  EXPECT_TRUE(greets(*first, server->contact, *server));
  auto second = make("worker", 2);
  server->transport->admit(second->contact);
  ASSERT_TRUE(until([&] { return server->ends.size() == 1; }));
  EXPECT_THAT(server->ends[server->inbox[0].channel], HasSubstr("worker#2 took its place"));
  EXPECT_FALSE(greets(*first, server->contact, *server));
  EXPECT_TRUE(greets(*second, server->contact, *server));
  auto third = make_stranger("worker", 3);
  server->transport->admit(third->contact);
  ASSERT_TRUE(until([&] { return server->ends.size() == 2; }));
  EXPECT_TRUE(greets(*third, server->contact, *server));
}

TEST_F(Neighbours, WhereNoSocketFitsTheyTalkTcp) {
  options.directory = folder.path() + "/" + std::string(60, 'd');
  ASSERT_EQ(::mkdir(options.directory.c_str(), 0700), 0);
  auto server = make("server");
  options.directory = folder.path();
  EXPECT_EQ(server->contact.neighbourhood, 0U);
  ASSERT_EQ(server->notices.size(), 1U);
  EXPECT_THAT(server->notices[0], HasSubstr("the socket's path"));
  auto neighbour = make("neighbour");
  server->transport->admit(neighbour->contact);
  EXPECT_TRUE(greets(*neighbour, server->contact, *server));
  neighbour->transport->admit(server->contact);
  EXPECT_TRUE(greets(*server, neighbour->contact, *neighbour));
}

TEST_F(Neighbours, LeaveNoSocketFilesBehind) {
  auto server = make("server");
  EXPECT_FALSE(std::filesystem::is_empty(options.directory));
  server.reset();
  EXPECT_TRUE(std::filesystem::is_empty(options.directory));
}

}  // namespace
}  // namespace sterna
