// Keys: a process's secrets, and how an acceptor checks one without knowing it.
#pragma once

#include <string>
#include <string_view>

#include "runtime/transport/transport.h"

namespace sterna {

/// A fresh CURVE key pair (Z85) and a token of 32 random bytes (hex), for one incarnation.
Credentials make_credentials();

/// Hex of the token's 32-byte BLAKE2b hash. Tokens are random, so the hash needs no salt.
std::string token_hash(std::string_view token);

/// Compares without telling by its duration where the two differ.
bool constant_time_equal(std::string_view a, std::string_view b);

}  // namespace sterna
