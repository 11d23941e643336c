// [trace]: which steps' spans a run keeps, and what all call what they note (docs/trace.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/ids.h"
#include "runtime/base/section.h"
#include "runtime/trace/tracer.h"

namespace sterna {
class Process;
}

namespace sterna::actors {

struct Pull;
struct Push;

struct TraceSection {
  std::string steps = {};               ///< "A..B", "A" or "all"; empty: none
  ByteCount most_bytes = {64'000'000};  ///< of each process's file
  bool operator==(const TraceSection&) const = default;
};
Section<TraceSection> trace_section();

/// "100..110", "100" or "all". Errors: invalid_argument, with what may stand there.
Result<TracedSteps> parse_steps(std::string_view text);
/// The first step that the section asks for; of none the last that could be.
std::uint64_t first_traced(const TraceSection& section);
/// Starts the process's tracer where the section asks for it. It begins a step early: what a step
/// waits for was made in the one before.
void start_trace(Process& process, const TraceSection& section);

/// What a rank may be in, one at each moment: the spans within "step" on the track "rank R".
enum class Part : std::uint8_t {
  forward,
  backward,
  encode,      ///< within backward, on the track "rank R computes"
  apply,       ///< what came is being written; on the track of its worker's loop
  batch,       ///< waits for a batch
  parameters,  ///< waits for the next parameters
  scalers,     ///< waits for the scalers that ranks share, or for what was held for them
  turn,        ///< other ranks compute on its net
  delay,       ///< [[inject.delay]]
  keep,        ///< hashes and copies its state
};
inline constexpr std::array<std::string_view, 10> kPartNames = {
    "forward",          "backward",
    "encode",           "apply",
    "wait for a batch", "wait for parameters",
    "wait for scalers", "wait for its turn",
    "injected delay",   "keep and compare"};
constexpr std::string_view name_of(Part part) { return kPartNames[static_cast<std::size_t>(part)]; }

namespace traced {
inline constexpr std::string_view kStep = "step";
/// A worker's, a server's and a reader's loop.
inline constexpr std::string_view kLoop = "loop";
inline constexpr std::string_view kUpdate = "update";
inline constexpr std::string_view kQuorum = "wait for quorum";
/// Messages, at both ends; also the arrows' names.
inline constexpr std::string_view kPush = "gradient";
inline constexpr std::string_view kAnswer = "parameters";
inline constexpr std::string_view kBatch = "batch";
}  // namespace traced

/// "rank 3", and with " computes" behind it.
std::string rank_track(std::uint32_t rank);
std::string rank_compute_track(std::uint32_t rank);

/// What tells a message from all others, at both ends: a push, the answer to a worker's process
/// that pulls, the answer of a reader.
std::uint64_t push_id(const Push& push);
std::uint64_t answer_id(const Pull& pull, ProcessId asker);
std::uint64_t batch_id(std::uint64_t step, std::uint64_t rank, std::uint64_t first_row,
                       std::string_view reader);

}  // namespace sterna::actors
