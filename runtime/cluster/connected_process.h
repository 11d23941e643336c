// ConnectedProcess: a Process with its transport, listening, as its Bootstrap says. What the
// launcher, the coordinator, a node and an actor's process have in common.
#pragma once

#include <memory>

#include "runtime/actor/process.h"
#include "runtime/host/machine.h"
#include "runtime/transport/disturbed_transport.h"

namespace sterna {

class ConnectedProcess {
 public:
  /// `machine` must outlive it. Fails if it cannot listen (port in use, no such directory, ...).
  static Result<std::unique_ptr<ConnectedProcess>> make(Machine& machine,
                                                        const Bootstrap& bootstrap,
                                                        std::uint64_t schema_hash);
  Process& process() { return process_; }
  Links& links() { return *process_.links(); }
  /// What its links lie on.
  DisturbedTransport& network() { return transport_; }
  /// How others reach it.
  const Contact& contact() const { return contact_; }

 private:
  ConnectedProcess(Machine& machine, const Bootstrap& bootstrap, std::uint64_t schema_hash,
                   std::unique_ptr<Transport> transport);

  // The process goes first: its links use the transport.
  DisturbedTransport transport_;
  std::unique_ptr<KeptMemory> kept_memory_;
  std::unique_ptr<Executor> executor_;
  Contact contact_;
  Process process_;
};

}  // namespace sterna
