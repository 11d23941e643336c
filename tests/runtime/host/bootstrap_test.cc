#include "runtime/host/bootstrap.h"

#include <gtest/gtest.h>

#include "runtime/message/packed_message.h"

namespace sterna {
namespace {

Bootstrap example() {
  Bootstrap b;
  b.process = {7};
  b.identity = {"node-localhost", 3};
  b.credentials = {"public", "secret", "token"};
  b.network.neighbourhood = 5;
  b.heartbeat = Duration(1);
  b.silence = Duration(2);
  b.log_directory = "/logs";
  return b;
}
Errc refusal(const Bootstrap& sent) {
  const Result<Bootstrap> read = unpack<Bootstrap>(pack(sent).view());
  EXPECT_FALSE(read.ok());
  return read ? Errc::internal : read.error().code;
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
