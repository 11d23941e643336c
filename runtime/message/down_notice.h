// DownNotice: what those who watch an actor learn of its death.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/ids.h"

namespace sterna {

/// The death of an actor or of its whole process, as those who watch it learn of it.
struct DownNotice {
  ActorId actor;  ///< local id 0: the whole process
  std::string name;
  std::uint64_t incarnation = 0;
  std::string cause;
};

}  // namespace sterna
