// Bootstrap: everything a process is told at its start. It holds secrets, so it travels over
// standard input (or over an encrypted link to the node that spawns), never argv or environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/host/bootstrap.capnp.h"
#include "runtime/message/message.h"
#include "runtime/transport/transport.h"

namespace sterna {

/// A Contact as a message: what a process answers on its start.
struct PeerContact {
  using Wire = schema::Contact;
  Contact contact;
  STERNA_DECLARE_MESSAGE(PeerContact);
};

/// How the processes of a run reach each other.
struct NetworkOptions {
  bool tcp = false;       ///< else ipc
  bool curve = true;      ///< of tcp: encrypted and authenticated; ipc always uses tokens
  std::string directory;  ///< of ipc sockets: private (0700), short enough for a socket's path
  std::string bind_address = "127.0.0.1";  ///< of tcp; never "*"
  std::string address = {};                ///< where others reach it; empty: bind_address
  std::uint16_t port_low = 0;              ///< 0: any free port
  std::uint16_t port_high = 0;
  bool near = false;                ///< with tcp: the processes of one host talk over ipc
  std::uint64_t neighbourhood = 0;  ///< of those who share `directory`; drawn by their node
};

using schema::ProcessKind;

/// What the coordinator has its owner keep: the last value of each key.
struct JournalEntry {
  std::string key;
  Bytes value;  ///< pack()ed; empty: forgotten
};
/// As many as a message may list.
struct JournalPage {
  std::vector<JournalEntry> entries;
};

struct Bootstrap {
  using Wire = schema::Bootstrap;
  ProcessKind kind = ProcessKind::ACTOR;
  std::uint64_t run = 0;
  std::string run_name;
  ProcessId process;
  PeerIdentity identity;
  Credentials credentials;
  Contact uplink;              ///< whom to dial: an actor its node, a node the coordinator
  std::vector<Contact> admit;  ///< who may dial from the start
  NetworkOptions network;
  std::string host;
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration silence = std::chrono::seconds(5);
  /// How long a connection that was lost is dialled again; 0: not at all.
  Duration link_patience = std::chrono::seconds(30);
  std::uint64_t slow_link = 0;  ///< bytes a second: of a link below it it tells; 0: of none
  Duration grace = std::chrono::seconds(5);
  std::uint32_t compute_threads = 1;
  std::string actor_type;  ///< of an actor's process: its type in the Registry
  Bytes args;              ///< pack()ed, or an object of keys and values as JSON
  bool args_are_json = false;
  std::string log_directory;  ///< empty: standard error; "~/" is the home of who is told
  /// Of a node: without a word from the coordinator for so long, it ends with all its processes.
  Duration lease = std::chrono::seconds(10);
  std::vector<std::string> environment;  ///< "NAME=value", for actors' processes
  std::uint64_t memory_limit = 0;        ///< resident bytes of an actor's process; 0: none
  std::vector<Contact> operators;        ///< of the coordinator: who may look at the run and end it
  /// Of a node and the coordinator: the coordinator's incarnations to come, by their keys. Empty:
  /// there will be none.
  std::vector<Contact> successors;
  std::vector<JournalPage> journal;  ///< of the coordinator: what the one before has left

  /// "<log_directory>/<name>.log", or empty.
  std::string log_file() const;
  /// Itself as others know it, still without endpoints. `token_hash` is of its own token.
  Contact contact(std::string token_hash) const;

  Result<void> check() const;  ///< of times that go together
  STERNA_DECLARE_MESSAGE(Bootstrap);
};

}  // namespace sterna
