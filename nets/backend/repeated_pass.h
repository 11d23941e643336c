// A pass that is put on its way again and again: from the second time on as one piece.
#pragma once

#include <functional>

namespace sterna::nets {

/// Of one backend and one pass, whose work is the same each time but for what lies in memory.
class RepeatedPass {
 public:
  virtual ~RepeatedPass() = default;
  /// Puts on its way what `work` does, which is called the first two or three times, and then no
  /// more. Where it is, all that it puts there may come after it has returned. Failures are thrown.
  virtual void run(const std::function<void()>& work) = 0;
};

}  // namespace sterna::nets
