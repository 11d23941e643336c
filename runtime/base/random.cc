#include "runtime/base/random.h"

#include <sys/random.h>

#include <cstdlib>

namespace sterna {

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  // Requests of up to 256 bytes are never cut short once the pool is ready (getrandom(2)).
  if (getrandom(&value, sizeof value, 0) != sizeof value) std::abort();
  return value;
}

}  // namespace sterna
