// Must not compile: a Total is no message of the interface Counter. The test reads why.
#include "runtime/actor/process.h"
#include "tests/runtime/message/test_messages.h"

void tell_it_what_it_does_not_accept(sterna::Process& process,
                                     sterna::ActorRef<sterna::test::Counter> counter) {
  process.tell(counter, sterna::test::Total{1});
}
