#include "launcher/record/event.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "launcher/text/json_struct.h"
#include "launcher/text/text_format.h"
#include "launcher/text/whole_number.h"

namespace sterna::launcher {

STERNA_JSON(Event, time, kind, step, actor, incarnation, cause, seconds, steps_again)

std::string to_json(const Event& event) { return json_line(Json(event)); }

Result<Event> parse_event(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  const auto time = json.is_object() ? json_number_of(json, "time") : std::nullopt;
  const auto step = json.is_object() ? json_number_of(json, "step") : std::nullopt;
  const std::string kind = json.is_object() ? json_text_of(json, "kind", "") : "";
  if (!time || !step || kind.empty()) {
    return Error{Errc::malformed, "is no event of this program"};
  }
  const auto count = [&](const char* name) {
    return whole_number(json_number_of(json, name).value_or(0), 0, kLastStep);
  };
  return Event{.time = *time,
               .kind = kind,
               .step = whole_number(*step, -kLastStep, kLastStep),
               .actor = json_text_of(json, "actor", ""),
               .incarnation = static_cast<std::uint64_t>(count("incarnation")),
               .cause = json_text_of(json, "cause", ""),
               .seconds = json_number_of(json, "seconds"),
               .steps_again = count("steps_again")};
}

std::string to_text(const Event& event) {
  constexpr std::int64_t kLastSecond = 253'402'300'799;  // of the year 9999
  const std::time_t time = whole_number(event.time, 0, kLastSecond);
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
