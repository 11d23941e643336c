#include "launcher/simulate/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "launcher/simulate/message_names.h"
#include "runtime/base/duration_text.h"

namespace sterna::launcher {

namespace {

struct Word {
  FaultKind kind;
  std::string_view word;
  bool two;
  bool lasts;           ///< always
  bool may_last;        ///< or not
  bool has_by = false;  ///< how much later
};
constexpr std::array kWords = {Word{FaultKind::kill, "kill", false, false, false},
                               Word{FaultKind::freeze, "freeze", false, true, true},
                               Word{FaultKind::cut, "cut", true, false, true},
                               Word{FaultKind::part, "part", true, true, true},
                               Word{FaultKind::stall, "stall", true, true, true},
                               Word{FaultKind::repeat, "repeat", false, false, false},
                               Word{FaultKind::isolate, "isolate", false, true, true},
                               Word{FaultKind::deafen, "deafen", false, true, true},
                               Word{FaultKind::mute, "mute", false, true, true},
                               Word{FaultKind::delay, "delay", false, true, true, true},
                               Word{FaultKind::drop, "drop", false, true, true},
                               Word{FaultKind::recall, "recall", false, true, true},
                               Word{FaultKind::unmount, "unmount", false, true, true},
                               Word{FaultKind::fill, "fill", false, true, true},
                               Word{FaultKind::tear, "tear", false, false, false},
                               Word{FaultKind::slow, "slow", false, true, true, true}};

const Word& word_of(FaultKind kind) {
  return *std::ranges::find_if(kWords, [&](const Word& one) { return one.kind == kind; });
}

/// "at 12ms", "starting 12ms", or "before Push 17 of worker0".
bool read_when(std::istringstream& words, Fault& fault) {
  std::string how;
  std::string when;
  if (!(words >> how >> when)) return false;
  fault.starting = how == "starting";
  if (how == "at" || fault.starting) {
    const std::optional<Duration> time = parse_duration(when);
    fault.at = time.value_or(Duration{});
    return time.has_value();
  }
  fault.point.message = when;
  fault.point.before = how == "before";
  std::string of;
  return (fault.point.before || how == "behind") &&
         std::ranges::count(message_names(), std::string_view(when)) == 1 &&
         (words >> fault.point.count >> of >> fault.point.speaker) && of == "of";
}

std::optional<Fault> read_fault(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  Fault fault;
  if (!read_when(words, fault) || !(words >> kind >> fault.who)) return std::nullopt;
  const auto* word =
      std::ranges::find_if(kWords, [&](const Word& one) { return one.word == kind; });
  if (word == kWords.end()) return std::nullopt;
  fault.kind = word->kind;
  if (word->two && !(words >> fault.other)) return std::nullopt;
  if (word->kind == FaultKind::repeat && fault.point.message.empty()) return std::nullopt;
  std::string what;
  while (words >> what) {
    Duration* into = what == "for" && word->may_last ? &fault.lasts : nullptr;
    if (what == "by" && word->has_by) into = &fault.by;
    std::string span;
    if (into == nullptr || !(words >> span)) return std::nullopt;
    const std::optional<Duration> read = parse_duration(span);
    if (!read) return std::nullopt;
    *into = *read;
  }
  const bool whole = (!word->lasts || fault.lasts > Duration::zero()) &&
                     (!word->has_by || fault.by > Duration::zero());
  return whole ? std::optional(fault) : std::nullopt;
}

}  // namespace

bool has_two(FaultKind kind) { return word_of(kind).two; }
bool is_of_host(FaultKind kind) {
  return kind == FaultKind::isolate || kind == FaultKind::deafen || kind == FaultKind::mute ||
         kind == FaultKind::recall || loses_nobody(kind);
}
bool loses_nobody(FaultKind kind) {
  return kind == FaultKind::unmount || kind == FaultKind::fill || kind == FaultKind::tear ||
         kind == FaultKind::slow;
}

std::string text_of(const Fault& fault) {
  const FaultPoint& point = fault.point;
  std::string line =
      point.message.empty()
          ? fmt::format("{} {}", fault.starting ? "starting" : "at", duration_text(fault.at))
          : fmt::format("{} {} {} of {}", point.before ? "before" : "behind", point.message,
                        point.count, point.speaker);
  line += fmt::format(" {} {}", word_of(fault.kind).word, fault.who);
  if (has_two(fault.kind)) line += " " + fault.other;
  if (fault.by > Duration::zero()) line += " by " + duration_text(fault.by);
  if (fault.lasts > Duration::zero()) line += " for " + duration_text(fault.lasts);
  return line;
}

std::string text_of(const std::vector<Fault>& schedule) {
  std::string text;
  for (const Fault& fault : schedule) text += text_of(fault) + "\n";
  return text;
}

Result<std::vector<Fault>> read_schedule(std::string_view text) {
  std::vector<Fault> schedule;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::optional<Fault> fault = read_fault(line);
    if (!fault) {
      return Error{Errc::invalid_argument,
                   fmt::format("line {}: \"{}\" is no fault; write for example \"at 12ms kill "
                               "worker0\" or \"at 1s part server0 worker1 for 300ms\"",
                               number, line)};
    }
    schedule.push_back(*fault);
  }
  return schedule;
}

}  // namespace sterna::launcher
