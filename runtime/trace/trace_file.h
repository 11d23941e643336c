// A process's trace on disk: NAME.trace, and before it NAME.trace.old, each of at most half of what
// the trace may take; as one is full, it takes the other's place, and the oldest is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/trace/tracer.h"

namespace sterna {

inline constexpr std::string_view kTraceEnding = ".trace";
inline constexpr std::string_view kOldTraceEnding = ".trace.old";

/// Adds blocks to the file at `path` (".trace" at its end). What cannot be written is left out.
TextWriter::Write to_trace_file(const std::string& path, std::uint64_t most_bytes);

/// Where a process's blocks go; the text writer's thread writes them.
std::unique_ptr<TextSink> open_trace(const std::string& path, std::uint64_t most_bytes,
                                     const Tracer::Identity& who);

}  // namespace sterna
