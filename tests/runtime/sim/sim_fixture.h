// Some simulated processes that know each other, on one virtual clock.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/actor/process.h"
#include "runtime/base/random.h"
#include "runtime/sim/memory_network.h"
#include "runtime/sim/sim_loop.h"
#include "runtime/sim/sim_memory.h"
#include "runtime/transport/disturbed_transport.h"

namespace sterna::test {

struct SimProcess {
  SimProcess(MemoryNetwork& network, Random& random, Executor& executor, std::uint64_t id,
             const std::string& name, std::vector<std::string>& log, const LinkOptions& base,
             std::uint64_t incarnation, SimMemory& kept)
      : kept_memory(kept.of(name)),
        contact{id, {name, incarnation}, "", "", "key-" + name, ""},
        transport(std::make_unique<MemoryTransport>(network, contact.identity,
                                                    Credentials{"key-" + name, "", ""}),
                  network.loop()) {
    EXPECT_TRUE(transport.listen(contact).ok());
    ProcessOptions options;
    options.link = base;
    options.link.self = {id};
    options.link.identity = contact.identity;
    process = std::make_unique<Process>(
        ProcessEnvironment{
            network.loop(), random, executor, &transport,
            [&log, name](std::string_view line) { log.push_back(name + ": " + std::string(line)); },
            nullptr, kept_memory.get()},
        options);
  }
  std::unique_ptr<KeptMemory> kept_memory;
  Contact contact;
  DisturbedTransport transport;
  std::unique_ptr<Process> process;
};

class SimFixture : public ::testing::Test {
 protected:
  SimProcess& start(const std::string& name, std::uint64_t incarnation = 1) {
    if (incarnation == 1) host_memory.forget(name);
    processes.push_back(std::make_unique<SimProcess>(network, random, executor,
                                                     processes.size() + 1, name, log, options,
                                                     incarnation, host_memory));
    SimProcess& added = *processes.back();
    added.process->set_introducer([this, &added](ProcessId peer) {
      for (const auto& other : processes) {
        if (other == nullptr || other->contact.process != peer.value) continue;
        other->process->links()->admit(added.contact);
        added.process->links()->admit(other->contact);
        const bool dial = added.contact.identity.name < other->contact.identity.name;
        (dial ? added : *other).process->links()->dial((dial ? *other : added).contact);
        return;
      }
      added.process->links()->unreachable(peer, "no such process");
    });
    return added;
  }
  /// As by SIGKILL: others learn of it from their links.
  void kill(const SimProcess& process) {
    for (auto& each : processes) {
      if (each.get() == &process) each.reset();
    }
  }
  /// Runs the virtual clock for `duration`.
  void pass(Duration duration) {
    loop.run_until([] { return false; }, loop.now() + duration);
  }

  SimLoop loop;
  MemoryNetwork network{loop};
  SeededRandom random{1};
  SimExecutor executor{loop, [] { return Duration(1000); }};
  LinkOptions options;
  SimMemory host_memory;  // of processes that were killed, too
  std::vector<std::string> log;
  std::vector<std::unique_ptr<SimProcess>> processes;
};

}  // namespace sterna::test
