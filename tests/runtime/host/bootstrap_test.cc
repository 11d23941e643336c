#include "runtime/host/bootstrap.h"

#include <gtest/gtest.h>

#include "runtime/message/packed_message.h"

namespace sterna {
namespace {

Contact contact(std::uint64_t process, const std::string& name) {
  Contact contact;
  contact.process = process;
  contact.identity.name = name;
  contact.identity.incarnation = 2;
  contact.control_endpoint = "ipc:///c";
  contact.data_endpoint = "ipc:///d";
  contact.public_key = "key of " + name;
  contact.token_hash = "hash of " + name;
  contact.neighbourhood = 5;
  return contact;
}
Bootstrap example() {
  Bootstrap b;
  b.kind = ProcessKind::NODE;
  b.run = 0xfeedULL << 48;
  b.run_name = "run";
  b.process = {7};
  b.identity = {"node-localhost", 3};
  b.credentials = {"public", "secret", "token"};
  b.uplink = contact(1, "coordinator");
  b.admit.push_back(contact(9, "worker-0"));
  b.network = {true, false, "/sockets", "::1", "name", 4000, 4100, true, 5};
  b.host = "b";
  b.heartbeat = Duration(1);
  b.silence = Duration(2);
  b.grace = Duration(0);
  b.compute_threads = 6;
  b.actor_type = "worker";
  b.args = copy_bytes("arguments");
  b.args_are_json = true;
  b.log_directory = "/logs";
  b.lease = Duration(4);
  b.environment = {"A=1", "B="};
  b.memory_limit = 1 << 30;
  b.operators.push_back(contact(8, "operator0"));
  return b;
}
Errc refusal(const Bootstrap& sent) {
  const Result<Bootstrap> read = unpack<Bootstrap>(pack(sent).view());
  EXPECT_FALSE(read.ok());
  return read ? Errc::internal : read.error().code;
}

TEST(Bootstrap, ArrivesAsItWas) {
  const Bootstrap sent = example();
  const Result<Bootstrap> read = unpack<Bootstrap>(pack(sent).view());
  ASSERT_TRUE(read.ok()) << read.error().message;
  // Written again it is the same bytes: nothing has been left out.
  EXPECT_EQ(text_of(pack(*read).view()), text_of(pack(sent).view()));
  EXPECT_EQ(read->kind, sent.kind);
  EXPECT_EQ(read->run, sent.run);
  EXPECT_EQ(read->process, sent.process);
  EXPECT_EQ(read->identity, sent.identity);
  EXPECT_EQ(read->credentials.secret_key, "secret");
  EXPECT_EQ(read->uplink.data_endpoint, "ipc:///d");
  ASSERT_EQ(read->admit.size(), 1u);
  EXPECT_EQ(read->admit[0].identity, sent.admit[0].identity);
  EXPECT_EQ(read->network.address, "name");
  EXPECT_EQ(read->network.port_high, 4100);
  EXPECT_EQ(text_of(read->args.view()), "arguments");
  EXPECT_EQ(read->environment, sent.environment);
  ASSERT_EQ(read->operators.size(), 1u);
  EXPECT_EQ(read->operators[0].process, 8U);
}

TEST(Bootstrap, TimesThatDoNotFitTogetherAreRefused) {
  Bootstrap sent = example();
  sent.silence = sent.heartbeat;
  EXPECT_EQ(refusal(sent), Errc::malformed);
  sent = example();
  sent.heartbeat = Duration(0);
  EXPECT_EQ(refusal(sent), Errc::malformed);
  sent = example();
  sent.grace = Duration(-1);
  EXPECT_EQ(refusal(sent), Errc::malformed);
  sent = example();
  sent.lease = Duration(0);
  EXPECT_EQ(refusal(sent), Errc::malformed);
}

TEST(Bootstrap, AnUnknownKindOfProcessIsRefused) {
  Bootstrap sent = example();
  sent.kind = static_cast<ProcessKind>(99);
  EXPECT_EQ(refusal(sent), Errc::malformed);
}

TEST(Bootstrap, ItsContactHoldsNoSecretAndNoEndpointYet) {
  const Contact contact = example().contact("hash of token");
  EXPECT_EQ(contact.process, 7U);
  EXPECT_EQ(contact.identity, (PeerIdentity{"node-localhost", 3}));
  EXPECT_EQ(contact.public_key, "public");
  EXPECT_EQ(contact.token_hash, "hash of token");
  EXPECT_EQ(contact.neighbourhood, 5U);
  EXPECT_EQ(contact.control_endpoint + contact.data_endpoint, "");
  const std::string all(text_of(pack(PeerContact{contact}).view()));
  EXPECT_EQ(all.find("secret"), std::string::npos);
}

TEST(Bootstrap, ALogHasTheProcesssNameWhereThereIsAFolder) {
  Bootstrap b = example();
  EXPECT_EQ(b.log_file(), "/logs/node-localhost.log");
  b.log_directory.clear();
  EXPECT_EQ(b.log_file(), "");
}

}  // namespace
}  // namespace sterna
