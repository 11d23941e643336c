#include "runtime/base/misuse.h"

#include <cstdio>
#include <cstdlib>

namespace sterna {

void misuse(std::string_view what) {
  std::fprintf(stderr, "sterna: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace sterna
