#include "input/files/sha256.h"

#include <sodium/crypto_hash_sha256.h>

#include <array>

#include "runtime/base/hex.h"

namespace sterna::input {

struct Sha256::State {
  crypto_hash_sha256_state sodium;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { crypto_hash_sha256_init(&state_->sodium); }
Sha256::~Sha256() = default;

void Sha256::update(ByteView bytes) {
  crypto_hash_sha256_update(&state_->sodium, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state_->sodium, hash.data());
  return to_hex(std::as_bytes(std::span(hash)));
}

}  // namespace sterna::input
