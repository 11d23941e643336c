#include "tests/cluster/attack/openings.h"

namespace sterna::test {

namespace {

std::string zeros(std::size_t count) { return std::string(count, '\0'); }

std::string greeting(std::string mechanism) {
  constexpr std::size_t kMechanism = 20;
  constexpr std::size_t kFiller = 32;  // "not a server", and 31 that mean nothing
  mechanism.resize(kMechanism, '\0');
  return std::string("\xff") + zeros(8) + std::string("\x7f\x03\0", 3) + mechanism + zeros(kFiller);
}

std::string command(const std::string& name, const std::string& body) {
  std::string text(1, '\x04');
  text += static_cast<char>(1 + name.size() + body.size());
  text += static_cast<char>(name.size());
  return text + name + body;
}

std::string ready() { return command("READY", std::string("\x0bSocket-Type\0\0\0\6DEALER", 22)); }

/// What CURVE begins with: version, padding, the client's short-term key, a nonce, and a box that
/// only the holder of the server's key can open. A box for another key is, to anybody, noise.
std::string hello(std::mt19937_64& random) {
  constexpr std::size_t kPadding = 72;
  constexpr std::size_t kKey = 32;
  constexpr std::size_t kBox = 80;
  std::string body("\x01\0", 2);
  body += zeros(kPadding);
  body += random_bytes(kKey, random);
  body += zeros(7);
  body += '\x01';
  body += random_bytes(kBox, random);
  return command("HELLO", body);
}

}  // namespace

std::string random_bytes(std::size_t bytes, std::mt19937_64& random) {
  std::string result(bytes, '\0');
  for (char& byte : result) byte = static_cast<char>(random());
  return result;
}

std::string opening_bytes(Opening opening, bool curve, std::mt19937_64& random) {
  switch (opening) {
    case Opening::noise:
      return "";
    case Opening::half_handshake:
      return greeting("CURVE");
    case Opening::no_key:
      return curve ? greeting("CURVE") + hello(random) : greeting("NULL") + ready();
  }
  return "";
}

std::string message_head(std::size_t bytes) {
  std::string head(1, '\x02');  // the last frame, its length in 8 bytes
  for (int shift = 56; shift >= 0; shift -= 8) {
    head += static_cast<char>(bytes >> static_cast<unsigned>(shift));
  }
  return head;
}

bool is_accepted(const std::string& received) {
  return received.find("\x05READY") != std::string::npos ||
         received.find("\x07WELCOME") != std::string::npos;
}

}  // namespace sterna::test
