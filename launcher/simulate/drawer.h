// Drawer: what a seed says, one question after another.
#pragma once

#include <cstdint>
#include <iterator>

#include "runtime/base/clock.h"
#include "runtime/base/random.h"

namespace sterna::launcher {

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  bool once_in(std::uint64_t times) { return below(times) == 0; }
  template <class List>
  const auto& one_of(const List& list) {
    return *std::next(std::begin(list), static_cast<std::ptrdiff_t>(below(std::size(list))));
  }
  Duration time(Duration most) {
    const auto steps = static_cast<std::uint64_t>(most / std::chrono::microseconds(100));
    return std::chrono::microseconds(100) * static_cast<std::int64_t>(below(steps + 1));
  }

 private:
  SeededRandom random_;
};

}  // namespace sterna::launcher
