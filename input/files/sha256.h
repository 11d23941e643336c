// SHA-256 of bytes that come piece by piece, as text.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sterna::input {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void update(std::span<const std::uint8_t> bytes);
  /// Of all bytes, in lower-case hexadecimal; the last call.
  std::string hex();

 private:
  struct State;  // keeps libsodium's headers out
  std::unique_ptr<State> state_;
};

}  // namespace sterna::input
