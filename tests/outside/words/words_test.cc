// words_test.cc
#include <cstdio>

#include "runtime/sim/sim_world.h"
#include "words.h"

int main() {  // or a test of GoogleTest, with these three as members, in this order
  const sterna::Registry registry = words::registry();
  sterna::SimWorld world(7, registry);  // of the same seed everything happens the same way again
  sterna::Cluster cluster(world.launcher(), registry, {});
  int restarts = 0;
  const auto kill_one = [&](std::string_view what) {
    if (what == "mapper1 is ready") world.kill("mapper1");
  };
  const auto count = [&](const sterna::ProcessRestarts&) { ++restarts; };
  cluster.set_events({.progress = kill_one, .restarts = count});
  if (!cluster.start()) return 1;
  const auto all = words::count_all(cluster);
  cluster.stop(words::seconds(1));
  for (const std::string& line : world.log()) std::puts(line.c_str());
  return all && all->words == 600 && restarts == 1 && world.processes() == 0 ? 0 : 1;
}
