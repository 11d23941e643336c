#include "runtime/zmq/admissions.h"

#include <gtest/gtest.h>
#include <zmq.h>

#include "runtime/zmq/curve_keys.h"

namespace sterna {
namespace {

/// The 32 bytes that 40 letters of Z85 stand for.
std::string raw(const std::string& z85) {
  std::string bytes(32, '\0');
  zmq_z85_decode(reinterpret_cast<std::uint8_t*>(bytes.data()), z85.c_str());
  return bytes;
}

Contact contact(const std::string& name, std::uint64_t incarnation, const Credentials& secrets) {
  Contact contact;
  contact.identity = {name, incarnation};
  contact.public_key = secrets.public_key;
  contact.token_hash = token_hash(secrets.token);
  return contact;
}

TEST(Identity, IsReadBackAndHasOneSpelling) {
  EXPECT_EQ(*parse_identity("worker/0#12"), (PeerIdentity{"worker/0", 12}));
  EXPECT_EQ(*parse_identity("odd#name#3"), (PeerIdentity{"odd#name", 3}));
  for (const char* wrong : {"", "worker", "#1", "worker#", "worker#x", "worker#01", "worker#-1",
                            "worker#1 ", "worker#99999999999999999999"}) {
    EXPECT_FALSE(parse_identity(wrong)) << wrong;
  }
}

TEST(Admissions, LetInWhoTheyKnowByTokenAndOnlyUnderItsOwnName) {
  const Credentials secrets = make_credentials();
  Admissions admissions;
  EXPECT_TRUE(admissions.admit(contact("worker", 2, secrets)));
  EXPECT_EQ(*admissions.by_token("worker#2", secrets.token), (PeerIdentity{"worker", 2}));
  EXPECT_FALSE(admissions.by_token("worker#2", "another token"));
  EXPECT_FALSE(admissions.by_token("worker#2", ""));
  EXPECT_FALSE(admissions.by_token("worker#1", secrets.token));
  EXPECT_FALSE(admissions.by_token("worker#3", secrets.token));
  EXPECT_FALSE(admissions.by_token("server#2", secrets.token));
}

TEST(Admissions, FenceLowerIncarnations) {
  const Credentials old_secrets = make_credentials();
  const Credentials new_secrets = make_credentials();
  Admissions admissions;
  EXPECT_TRUE(admissions.admit(contact("worker", 1, old_secrets)));
  EXPECT_TRUE(admissions.admit(contact("worker", 2, new_secrets)));
  EXPECT_FALSE(admissions.admit(contact("worker", 1, old_secrets)));
  EXPECT_FALSE(admissions.admitted({"worker", 1}));
  EXPECT_TRUE(admissions.admitted({"worker", 2}));
  EXPECT_FALSE(admissions.by_token("worker#1", old_secrets.token));
}

TEST(Admissions, LetInWhoIsAnnouncedBesideTheOneThatIsThereUntilItTakesItsPlace) {
  const Credentials first = make_credentials();
  const Credentials second = make_credentials();
  const Credentials third = make_credentials();
  Admissions admissions;
  EXPECT_TRUE(admissions.admit(contact("head", 1, first)));
  admissions.announce(contact("head", 2, second));
  admissions.announce(contact("head", 3, third));
  for (const auto& [text, secrets] :
       {std::pair("head#1", first), std::pair("head#2", second), std::pair("head#3", third)}) {
    EXPECT_EQ(admissions.by_token(text, secrets.token)->text(), text);
    EXPECT_EQ(admissions.by_key(raw(secrets.public_key))->text(), text);
  }
  EXPECT_FALSE(admissions.by_token("head#3", second.token));
  EXPECT_TRUE(admissions.admit(contact("head", 2, second)));
  EXPECT_FALSE(admissions.by_token("head#1", first.token));
  EXPECT_FALSE(admissions.by_key(raw(first.public_key)));
  EXPECT_TRUE(admissions.admitted({"head", 2}));
  EXPECT_TRUE(admissions.admitted({"head", 3}));
  EXPECT_EQ(*admissions.by_key(raw(second.public_key)), (PeerIdentity{"head", 2}));
  // One that was left out has no chance any more.
  EXPECT_TRUE(admissions.admit(contact("head", 3, third)));
  admissions.announce(contact("head", 2, second));
  EXPECT_FALSE(admissions.by_token("head#2", second.token));
  EXPECT_FALSE(admissions.by_key(raw(second.public_key)));
}

TEST(Admissions, ForgetWhoIsRevokedButNotItsIncarnation) {
  const Credentials secrets = make_credentials();
  Admissions admissions;
  admissions.admit(contact("worker", 2, secrets));
  admissions.revoke({"worker", 1});
  EXPECT_TRUE(admissions.admitted({"worker", 2}));
  admissions.revoke({"worker", 2});
  EXPECT_FALSE(admissions.admitted({"worker", 2}));
  EXPECT_FALSE(admissions.by_token("worker#2", secrets.token));
  EXPECT_FALSE(admissions.admit(contact("worker", 1, secrets)));
}

TEST(Admissions, WithoutATokenHashNoTokenIsRight) {
  Admissions admissions;
  Contact peer;
  peer.identity = {"worker", 1};
  admissions.admit(peer);
  EXPECT_FALSE(admissions.by_token("worker#1", ""));
  EXPECT_FALSE(admissions.by_key(""));
}

TEST(Admissions, LetInByKeyAndOnlyTheLatestIncarnations) {
  const Credentials old_secrets = make_credentials();
  const Credentials new_secrets = make_credentials();
  Admissions admissions;
  admissions.admit(contact("worker", 1, old_secrets));
  EXPECT_EQ(*admissions.by_key(raw(old_secrets.public_key)), (PeerIdentity{"worker", 1}));
  admissions.admit(contact("worker", 2, new_secrets));
  EXPECT_EQ(*admissions.by_key(raw(new_secrets.public_key)), (PeerIdentity{"worker", 2}));
  EXPECT_EQ(admissions.by_key(raw(old_secrets.public_key)).error().code, Errc::permission);
  admissions.revoke({"worker", 2});
  EXPECT_FALSE(admissions.by_key(raw(new_secrets.public_key)));
}

TEST(Admissions, AKeyThatIsNoneOpensNothing) {
  Admissions admissions;
  Contact peer;
  peer.identity = {"worker", 1};
  peer.public_key = "short";
  EXPECT_TRUE(admissions.admit(peer));
  EXPECT_FALSE(admissions.by_key("short"));
  EXPECT_FALSE(admissions.by_key(std::string(32, '\0')));
}

}  // namespace
}  // namespace sterna
