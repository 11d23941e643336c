#include "launcher/program_registry.h"

#include "actors/register_actors.h"
#include "launcher/bench/actors/actors.h"
#include "launcher/probe/prober.h"

namespace sterna::launcher {

Registry program_registry() {
  Registry registry;
  actors::register_actors(registry);
  register_bench_actors(registry);
  register_prober(registry);
  return registry;
}

}  // namespace sterna::launcher
