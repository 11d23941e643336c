#include "launcher/traces/run_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "actors/job/trace_section.h"
#include "runtime/base/file.h"
#include "runtime/trace/trace_file.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// Of one file.
constexpr std::size_t kMostBytes = std::size_t{4} << 30U;

bool is_span(const SpanRecord& record) {
  return record.kind == SpanKind::span || record.kind == SpanKind::wait;
}

void use_one_clock(std::vector<ProcessSpans>& lives, const HostClocks& clocks) {
  for (ProcessSpans& life : lives) {
    for (SpanRecord& record : life.records) {
      record.begin = clocks.common(life.host, record.begin);
      // Whatever clocks say of each other, a span does not end before it begins.
      if (is_span(record)) {
        record.end = std::max(record.begin, clocks.common(life.host, record.end));
      }
    }
  }
}

bool is_step(const ProcessSpans& life, const SpanRecord& record) {
  return record.kind == SpanKind::span && life.names[record.name] == actors::traced::kStep;
}

/// Ranks' steps, from the first to the last that was noted.
std::optional<TracedSteps> steps_of(const std::vector<ProcessSpans>& lives) {
  std::optional<TracedSteps> found;
  for (const ProcessSpans& life : lives) {
    for (const SpanRecord& record : life.records) {
      if (!is_step(life, record)) continue;
      if (!found) found = TracedSteps{record.step, record.step};
      found->first = std::min(found->first, record.step);
      found->last = std::max(found->last, record.step);
    }
  }
  return found;
}

/// The kth that was sent with an id is the kth that came with it.
void bring_together(RunTrace& trace) {
  struct Ends {
    std::vector<RecordPlace> sent, received;
  };
  std::map<std::uint64_t, Ends> ends;
  for (std::size_t p = 0; p < trace.processes.size(); ++p) {
    const auto& records = trace.processes[p].records;
    for (std::size_t r = 0; r < records.size(); ++r) {
      if (records[r].kind == SpanKind::sent) ends[records[r].value].sent.push_back({p, r});
      if (records[r].kind == SpanKind::received) ends[records[r].value].received.push_back({p, r});
    }
  }
  const auto by_time = [&](RecordPlace a, RecordPlace b) {
    return trace.at(a).begin < trace.at(b).begin;
  };
  for (auto& [id, both] : ends) {
    std::ranges::sort(both.sent, by_time);
    std::ranges::sort(both.received, by_time);
    const std::size_t pairs = std::min(both.sent.size(), both.received.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      trace.arrows.push_back({both.sent[i], both.received[i]});
    }
    trace.loose_ends += both.sent.size() + both.received.size() - 2 * pairs;
  }
  std::ranges::sort(trace.arrows, by_time, &MessageArrow::sent);
}

std::string words(TracedSteps steps) {
  return steps.first == steps.last ? fmt::format("step {}", steps.first)
                                   : fmt::format("steps {} to {}", steps.first, steps.last);
}

}  // namespace

Result<RunTrace> make_run_trace(std::vector<ProcessSpans> lives,
                                const std::optional<TracedSteps>& wanted) {
  const std::optional<TracedSteps> there = steps_of(lives);
  if (!there) return Error{Errc::not_found, "no rank came to a step that was to be traced"};
  const TracedSteps asked = wanted.value_or(*there);
  const TracedSteps taken{std::max(asked.first, there->first), std::min(asked.last, there->last)};
  if (taken.last < taken.first) {
    return Error{Errc::not_found,
                 fmt::format("{} {} traced; traced were {}", words(asked),
                             asked.first == asked.last ? "was not" : "were not", words(*there))};
  }
  RunTrace trace;
  trace.steps = taken;
  const HostClocks clocks(lives);
  trace.reference = clocks.reference();
  trace.clocks = clocks.hosts();
  use_one_clock(lives, clocks);
  for (ProcessSpans& life : lives) {
    trace.lost_blocks += life.lost;
    std::erase_if(life.records, [&](const SpanRecord& record) {
      // What the first of them waited for was made in the one before.
      const bool rank = is_span(record) && life.tracks[record.track].starts_with("rank ");
      const std::uint64_t first = rank || taken.first == 0 ? taken.first : taken.first - 1;
      return record.step < first || record.step > taken.last;
    });
  }
  std::erase_if(lives, [](const ProcessSpans& life) { return life.records.empty(); });
  trace.processes = std::move(lives);
  bring_together(trace);
  return trace;
}

Result<RunTrace> read_run_trace(const std::string& run, const std::optional<TracedSteps>& wanted) {
  std::error_code failed;
  if (!fs::is_directory(run, failed)) {
    return Error{Errc::not_found, run + " is no run directory"};
  }
  std::vector<std::string> files;
  const std::string logs = run + "/logs";
  for (fs::directory_iterator entry(logs, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(kTraceEnding)) files.push_back(entry->path().string());
    if (name.ends_with(kOldTraceEnding)) files.push_back(entry->path().string());
  }
  if (failed) return system_error("cannot read " + logs, failed.value());
  if (files.empty()) {
    return Error{
        Errc::not_found,
        run + " has no trace: it was run without trace.steps (--set trace.steps=100..110)"};
  }
  // NAME.trace.old before NAME.trace.
  std::ranges::sort(files, [](const std::string& a, const std::string& b) {
    const auto key = [](const std::string& file) {
      const bool old = file.ends_with(kOldTraceEnding);
      return std::pair(file.substr(0, file.size() - (old ? 4 : 0)), !old);
    };
    return key(a) < key(b);
  });
  std::vector<ProcessSpans> lives;
  for (const std::string& file : files) {
    STERNA_ASSIGN(const std::string bytes, read_file(file, kMostBytes));
    STERNA_TRY(read_spans(bytes, lives).in(file));
  }
  Result<RunTrace> trace = make_run_trace(std::move(lives), wanted);
  if (!trace) return Error(trace.error()).in(run);
  return trace;
}

}  // namespace sterna::launcher
