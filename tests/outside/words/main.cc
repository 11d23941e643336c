// main.cc
#include <cstdio>

#include "words.h"

int main(int argc, char** argv) {
  const sterna::Registry registry = words::registry();
  return sterna::main(argc, argv, registry, [](sterna::Cluster& cluster) {
    const auto all = words::count_all(cluster);
    std::puts((all ? std::to_string(all->words) + " words" : all.error().message).c_str());
    return all ? 0 : 1;
  });
}
