// SHA-256 of bytes that come piece by piece, as text.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/bytes.h"

namespace sterna::input {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void update(ByteView bytes);
  /// Of all bytes, in lower-case hexadecimal; the last call.
  std::string hex();

 private:
  struct State;  // keeps libsodium's headers out
  std::unique_ptr<State> state_;
};

}  // namespace sterna::input
