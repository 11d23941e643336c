#include "runtime/zmq/curve_keys.h"

#include <sodium.h>
#include <zmq.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace sterna {
namespace {

constexpr std::size_t kZ85Key = 41;  // with its final NUL
constexpr std::size_t kTokenBytes = 32;

// Without randomness or CURVE there is nothing safe to go on with.
void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "sterna: %s is not available\n", what);
  std::abort();
}

std::string hex(std::span<const unsigned char> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

}  // namespace

Credentials make_credentials() {
  std::array<char, kZ85Key> public_key{};
  std::array<char, kZ85Key> secret_key{};
  require(zmq_curve_keypair(public_key.data(), secret_key.data()) == 0, "CURVE in libzmq");
  require(sodium_init() >= 0, "libsodium");
  std::array<unsigned char, kTokenBytes> token{};
  randombytes_buf(token.data(), token.size());
  Credentials credentials{public_key.data(), secret_key.data(), hex(token)};
  sodium_memzero(secret_key.data(), secret_key.size());
  sodium_memzero(token.data(), token.size());
  return credentials;
}

std::string token_hash(std::string_view token) {
  require(sodium_init() >= 0, "libsodium");
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(token.data()),
                     token.size(), nullptr, 0);
  return hex(hash);
}

bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace sterna
