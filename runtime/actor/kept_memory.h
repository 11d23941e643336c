// KeptMemory: bytes of an actor's process that outlive it on its host, for the next incarnation of
// the same actor: whoever starts both holds them. Where that one is started on another host they
// come along, as long as this one lives. Gone when the actor has ended for good, when the run ends,
// and with the host.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna {

class KeptMemory {
 public:
  /// As long as `owner` lives, and no longer, `bytes` may be touched.
  struct Region {
    std::shared_ptr<void> owner;
    MutableBytes bytes;
  };

  virtual ~KeptMemory() = default;
  /// How much the incarnations before have asked for; 0: nobody has yet.
  virtual std::size_t size() const = 0;
  /// All of it: zeros where nobody has written, else what was written last, in the order of release
  /// stores. Who asks first says for all how much it is, above 0. Once in a process. Errors:
  /// invalid_argument (another size than before's), already_exists (asked twice), io and overloaded
  /// (the machine has not so much).
  virtual Result<Region> take(std::size_t bytes) = 0;
};

}  // namespace sterna
