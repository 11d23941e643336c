// blamed(): an error of whoever asked, of which his link ends.
#pragma once

#include <utility>

#include "runtime/actor/process.h"

namespace sterna::actors {

/// For an error its sender is to blame, unless it is not_found: what is over, or gone, is asked for
/// by who is late, and answered.
template <class T>
Result<T> blamed(Process& process, ActorId sender, Result<T> result) {
  const bool fault = !result && result.error().code != Errc::not_found;
  if (fault && sender.process != process.id() && process.links() != nullptr) {
    process.links()->blame(sender.process, result.error().message);
  }
  return result;
}

}  // namespace sterna::actors
