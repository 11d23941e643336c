#include "actors/job/trace_section.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <limits>

#include "actors/job/messages.h"
#include "actors/job/sections.h"
#include "runtime/actor/process.h"

namespace sterna::actors {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Section<TraceSection> trace_section() {
  using S = TraceSection;
  return {"trace",
          false,
          "where the time of some steps goes, for sterna trace",
          {key("steps", &S::steps,
               "\"100..110\" (both ends are traced; the first step is 0), \"100\" or \"all\"")
               .defaults_to("none"),
           key("most_bytes", &S::most_bytes,
               "what each process keeps of its trace; the oldest is lost")}};
}

Result<TracedSteps> parse_steps(std::string_view text) {
  if (text == "all") return TracedSteps{0, std::numeric_limits<std::uint64_t>::max()};
  const std::size_t dots = text.find("..");
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *last < *first) {
    return Error{Errc::invalid_argument,
                 fmt::format("\"{}\" are no steps: write \"100..110\", \"100\" or \"all\"", text)};
  }
  return TracedSteps{*first, *last};
}

std::optional<Mismatch> mismatch(const TraceSection& trace, std::uint64_t job_steps) {
  if (trace.steps.empty()) return std::nullopt;
  const Result<TracedSteps> steps = parse_steps(trace.steps);
  if (!steps) return Mismatch{"trace.steps", "\"trace.steps\": " + steps.error().message};
  if (job_steps == 0 || steps->first < job_steps) return std::nullopt;
  return Mismatch{"trace.steps",
                  fmt::format("\"trace.steps\" = \"{}\" begins behind the last step, which is {}",
                              trace.steps, job_steps - 1)};
}

std::uint64_t first_traced(const TraceSection& section) {
  const Result<TracedSteps> steps = parse_steps(section.steps);
  return steps ? steps->first : std::numeric_limits<std::uint64_t>::max();
}

void start_trace(Process& process, const TraceSection& section) {
  if (section.steps.empty()) return;
  Result<TracedSteps> steps = parse_steps(section.steps);
  if (!steps) return;  // validate() has looked
  if (steps->first > 0) --steps->first;
  const std::uint64_t most = section.most_bytes.count;
  if (!process.start_trace(*steps, most == 0 ? std::numeric_limits<std::uint64_t>::max() : most)) {
    process.log("trace.steps: there is nowhere to write spans to");
  }
}

std::string rank_track(std::uint32_t rank) { return fmt::format("rank {}", rank); }
std::string rank_compute_track(std::uint32_t rank) { return fmt::format("rank {} computes", rank); }

namespace {

/// FNV-1a over the texts; each number is mixed in as splitmix64 does.
std::uint64_t message_id(std::string_view kind, std::initializer_list<std::uint64_t> numbers,
                         std::string_view name = {}) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kOffset;
  for (const std::string_view text : {kind, name}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  for (const std::uint64_t number : numbers) {
    hash += number + 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111eb;
    hash ^= hash >> 31U;
  }
  return hash;
}

}  // namespace

std::uint64_t push_id(const Push& push) {
  const std::uint64_t first = push.packets.empty() ? 0 : push.packets.front().chunk;
  return message_id(traced::kPush, {push.rank, push.step, first});
}

std::uint64_t answer_id(const Pull& pull, ProcessId asker) {
  const std::uint64_t first = pull.chunks.empty() ? 0 : pull.chunks.front();
  return message_id(traced::kAnswer, {asker.value, pull.version, pull.pushes, pull.rank, first});
}

std::uint64_t batch_id(std::uint64_t step, std::uint64_t rank, std::uint64_t first_row,
                       std::string_view reader) {
  return message_id(traced::kBatch, {step, rank, first_row}, reader);
}

}  // namespace sterna::actors
