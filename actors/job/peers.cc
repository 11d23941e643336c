#include "actors/job/peers.h"

#include "runtime/cluster/find_actor.h"

namespace sterna::actors {

Finder directory_finder() {
  return [](Process& process, std::string name, Duration patience) {
    return find_any(process, std::move(name), patience);
  };
}

}  // namespace sterna::actors
