#include "input/files/sha256.h"

#include <fmt/format.h>
#include <sodium/crypto_hash_sha256.h>

#include <array>

namespace sterna::input {

struct Sha256::State {
  crypto_hash_sha256_state sodium;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { crypto_hash_sha256_init(&state_->sodium); }
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::uint8_t> bytes) {
  crypto_hash_sha256_update(&state_->sodium, bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state_->sodium, hash.data());
  std::string text;
  for (const unsigned char byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace sterna::input
