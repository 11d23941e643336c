// What a trace file is made of: blocks of records, each block whole in itself, so that the oldest
// can be lost and the last may be cut.
//
// A block is kBlockMagic, its size behind these 16 bytes, and records: the process, and names and
// tracks before the first record that uses them. A record is a SpanRecord as it lies in memory
// (little-endian) and `size` bytes of text, zeros up to a multiple of 8 behind them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/base/result.h"

namespace sterna {

inline constexpr std::string_view kBlockMagic = "STRNTRC1";

enum class SpanKind : std::uint8_t {
  process = 1,  ///< text: its name, a line end, its host; value: its incarnation; step: its process
                ///< id; begin: its run
  name = 2,     ///< text, of `name`
  track = 3,    ///< text, of `track`: spans of a track lie in or beside each other
  span = 4,     ///< begin, end, step, value
  wait = 5,     ///< the same of what may overlap others of its name
  sent = 6,     ///< at `begin`: a message; value: what tells it from all others; end: whose it is
  received = 7,    ///< likewise
  counter = 8,     ///< at `begin`: value
  round_trip = 9,  ///< text: another host; begin, end: of our clock; step: of its clock, when it
                   ///< answered; value: nanoseconds that it held the question before
  lost = 10,       ///< value: blocks that were not written, since they came too fast
};

struct SpanRecord {
  SpanKind kind{};
  std::uint8_t unused = 0;
  std::uint16_t track = 0;
  std::uint16_t name = 0;
  std::uint16_t size = 0;  ///< of the text behind it
  std::int64_t begin = 0;  ///< nanoseconds of the host's monotonic clock
  std::int64_t end = 0;
  std::uint64_t step = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(SpanRecord) == 40 && std::is_trivially_copyable_v<SpanRecord>);
static_assert(std::endian::native == std::endian::little);

/// Adds a record to a block. `text` is cut to what a record can hold.
void append_record(std::string& block, SpanRecord record, std::string_view text = {});
/// The records behind the block's head.
std::string block_of(std::string_view records);
inline constexpr std::size_t kBlockHead = 16;
/// Of a whole block that begins with this head; none where it does not.
std::optional<std::uint64_t> size_of_block(std::string_view head);

/// One life of a process: a process that was started again has another.
struct ProcessSpans {
  struct RoundTrip {
    std::string host;  ///< the other
    std::int64_t asked = 0;
    std::int64_t answered = 0;  ///< on the other's clock
    std::int64_t held = 0;
    std::int64_t came = 0;
  };
  std::string name;
  std::string host;
  std::uint64_t incarnation = 0;
  std::uint64_t process = 0;
  std::uint64_t run = 0;
  std::vector<std::string> names;
  std::vector<std::string> tracks;
  std::vector<SpanRecord> records;  ///< the others' kinds, as they were written
  std::vector<RoundTrip> round_trips;
  std::uint64_t lost = 0;  ///< blocks
};

/// All lives in the bytes of files, older ones first. What is cut at the end of one is left out.
/// Errors: malformed.
Result<void> read_spans(std::string_view bytes, std::vector<ProcessSpans>& into);

}  // namespace sterna
