#include "launcher/record/event.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "launcher/text/json_struct.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {

STERNA_JSON(Event, time, kind, step, actor, incarnation, cause, seconds, steps_again)

std::string to_json(const Event& event) { return json_line(Json(event)); }

Result<Event> parse_event(std::string_view line) { return parse_json<Event>(line, "an event"); }

std::string to_text(const Event& event) {
  const auto time = static_cast<std::time_t>(std::floor(event.time));
  std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}  step {:<8} {:<17}", fmt::gmtime(time),
                                 thousands(event.step), event.kind);
  if (!event.actor.empty()) {
    text += "  " + event.actor;
    if (event.incarnation != 0) text += fmt::format("#{}", event.incarnation);
  }
  if (!event.cause.empty()) text += "  " + event.cause;
  if (event.steps_again != 0) text += fmt::format("; {} steps again", thousands(event.steps_again));
  if (event.seconds) text += fmt::format("  ({:.3g} s)", *event.seconds);
  return printable(text);
}

}  // namespace sterna::launcher
