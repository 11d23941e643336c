// Stands for "this host" in tests of placers: it starts nothing and remembers what it was asked.
#pragma once

#include <vector>

#include "runtime/host/spawner.h"

namespace sterna {

class LocalSpawner final : public Spawner {
 public:
  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks) override {
    started.push_back(bootstrap.identity);
    return 99 + static_cast<std::int64_t>(started.size());
  }
  void kill(std::int64_t pid) override { killed.push_back(pid); }
  std::uint64_t resident_bytes(std::int64_t) const override { return 4096; }

  std::vector<PeerIdentity> started;
  std::vector<std::int64_t> killed;
};

}  // namespace sterna
