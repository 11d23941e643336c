// What an attacker says first: ZMTP 3 (rfc.zeromq.org/spec/23 and /26 for CURVE) as far as somebody
// gets who has no key.
#pragma once

#include <random>
#include <string>

namespace sterna::test {

/// The three kinds of connection of a flood, a third each.
enum class Opening {
  noise,           ///< bytes by chance, from the first one on
  half_handshake,  ///< a greeting, and then silence
  no_key,          ///< all of a handshake that needs no key, or one for a server with another key
};
inline constexpr int kOpenings = 3;

/// The first bytes of a connection; every second one without a key tries CURVE, the others NULL.
std::string opening_bytes(Opening opening, bool curve, std::mt19937_64& random);
/// The head of a message of that many bytes, which follows a handshake.
std::string message_head(std::size_t bytes);
/// Whether the peer has answered more than a greeting: it went on with the handshake.
bool is_accepted(const std::string& received);

/// `bytes` bytes by chance.
std::string random_bytes(std::size_t bytes, std::mt19937_64& random);

}  // namespace sterna::test
