#include "launcher/record/event_log.h"

#include <utility>

namespace sterna::launcher {

void EventLog::append(Event event) {
  if (left_ == 0) return;
  event.time = now_();
  if (--left_ == 0) {
    event = {.time = event.time,
             .kind = "full",
             .step = event.step,
             .cause = "of what happens from now on nothing is noted here"};
  }
  file_.append(to_json(event));
}

}  // namespace sterna::launcher
