// The connections of this process with others, and how they break when a fault is injected.
#pragma once

#include <cstddef>

namespace sterna {

/// Shuts all connected sockets of this process that have an address: tcp, and ipc by a path. They
/// stay open for whoever owns them, who reads their end as if the network had broken them. Pipes
/// and pairs of sockets, by which a process talks to its parent, are left alone. Returns how many.
std::size_t shut_own_connections();

}  // namespace sterna
