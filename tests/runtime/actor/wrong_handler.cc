// Must not compile: a coroutine outlives the message that it is handed by reference. The test reads
// why.
#include "runtime/actor/process.h"
#include "tests/runtime/message/test_messages.h"

namespace sterna::test {

struct Patient : Interface<Slow> {};

class ReferringActor final : public Actor<Patient> {
 public:
#if WRONG == 1
  Task<Total> on(const Slow& slow)
#else
  Task<Total> on(Slow&& slow) const
#endif
  {
    co_return Total{slow.delay.count()};
  }
};

ActorRef<Patient> spawn_it(Process& process) { return process.spawn<ReferringActor>(); }

}  // namespace sterna::test
