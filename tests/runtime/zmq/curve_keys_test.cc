#include "runtime/zmq/curve_keys.h"

#include <gtest/gtest.h>

#include "runtime/zmq/admissions.h"

namespace sterna {
namespace {

TEST(Keys, AreDifferentEachTimeAndOfTheRightSize) {
  const Credentials a = make_credentials();
  const Credentials b = make_credentials();
  EXPECT_EQ(a.public_key.size(), 40U);
  EXPECT_EQ(a.secret_key.size(), 40U);
  EXPECT_EQ(a.token.size(), 64U);
  EXPECT_NE(a.secret_key, b.secret_key);
  EXPECT_NE(a.token, b.token);
}

TEST(Keys, HashATokenToTheSameHexEachTime) {
  // BLAKE2b-256 of "abc".
  EXPECT_EQ(token_hash("abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_NE(token_hash("abc"), token_hash("abd"));
}

TEST(Keys, CompareByContent) {
  EXPECT_TRUE(constant_time_equal("same", "same"));
  EXPECT_FALSE(constant_time_equal("same", "sane"));
  EXPECT_FALSE(constant_time_equal("same", "same but longer"));
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

}  // namespace
}  // namespace sterna
