// Lease: how long a node may live without a word from its coordinator. It counts from when the node
// asked for it: whoever granted it knows when it ends at the latest, however late the answer came.
//
// It is timed on a clock that goes on while the machine sleeps, and looked at in every turn of the
// loop before anything else: after a resume nothing is done on a lease that has run out meanwhile.
#pragma once

#include <functional>

#include "runtime/loop/loop.h"

namespace sterna {

class Lease final : private Loop::Source {
 public:
  /// `clock` counts sleep (Machine::boot_clock). `lost` is called once, on the loop thread.
  Lease(Loop& loop, const Clock& clock, Duration duration, std::function<void()> lost);
  ~Lease() override;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// It was asked for then, by that clock, and is granted. A lease that has run out stays so.
  void renew(Time asked);

 private:
  void turn() override;
  bool ready() override;
  Time next_deadline() override;

  Loop& loop_;
  const Clock& clock_;
  Duration duration_;
  std::function<void()> lost_;
  Time until_;
  bool over_ = false;
};

}  // namespace sterna
