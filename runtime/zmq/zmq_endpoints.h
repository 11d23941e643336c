// Endpoints: where a process listens, and under which spelling a connection to it is dialled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/transport/transport.h"

namespace sterna {

/// Each dial of one endpoint uses another spelling of it (extra slashes, extra zeros before the
/// port), because libzmq names a connection by nothing else: not when it reports it, nor when it
/// is told to end it. This many before they come again.
constexpr int kSpellings = 8;

/// "ipc://DIRECTORY/NAME.INCARNATION.LANE": where this process listens, or would. Of a long name
/// the beginning and a hash.
std::string ipc_endpoint(const std::string& directory, const PeerIdentity& peer, Lane lane);

/// ipc_endpoint() for who is about to listen there: checks that the directory is ours alone (0700),
/// that every spelling of the path fits the 107 bytes of a socket's address and that nobody is
/// there.
Result<std::string> free_ipc_endpoint(const std::string& directory, const PeerIdentity& self,
                                      Lane lane);

/// The ports low..high, each once, starting at the hash: so that actors rarely try each other's.
std::vector<int> ports_to_try(int low, int high, std::uint64_t hash);

/// "tcp://address:port"; a port of 0 leaves the choice to the system.
std::string tcp_endpoint(const std::string& address, int port);

/// The endpoint in its `index`th spelling, 0 <= index < kSpellings; never as it was given.
Result<std::string> spell(const std::string& endpoint, int index);

/// The endpoint that some spelling is of.
std::string unspelt(const std::string& spelling);

bool is_tcp(const std::string& endpoint);

}  // namespace sterna
