#include "runtime/trace/span_record.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sterna {
namespace {

constexpr std::size_t kAlignment = 8;
constexpr const char* kNoTime = "a record's time is none that a host's clock shows";
/// Nine years of a clock that began when its host did: sums of several such times fit in 64 bits.
constexpr std::int64_t kMostTime = std::int64_t{1} << 58U;

std::size_t padded(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

Error malformed(const char* what) { return {Errc::malformed, what}; }

bool is_time(std::int64_t time) { return time >= -kMostTime && time <= kMostTime; }

void name_at(std::vector<std::string>& names, std::uint16_t index, std::string_view text) {
  if (names.size() <= index) names.resize(index + std::size_t{1});
  names[index] = text;
}

/// Reads the records of one block.
class BlockReader {
 public:
  explicit BlockReader(std::vector<ProcessSpans>& lives) : lives_(lives) {}

  /// Each block says whose it is.
  void next_block() { life_ = std::numeric_limits<std::size_t>::max(); }

  Result<void> read(std::string_view records) {
    while (!records.empty()) {
      if (records.size() < sizeof(SpanRecord)) return malformed("a record is cut");
      SpanRecord record;
      std::memcpy(&record, records.data(), sizeof(record));
      records.remove_prefix(sizeof(record));
      if (padded(record.size) > records.size()) return malformed("a record's text is cut");
      STERNA_TRY(take(record, records.substr(0, record.size)));
      records.remove_prefix(padded(record.size));
    }
    return {};
  }

 private:
  Result<void> take(const SpanRecord& record, std::string_view text) {
    if (record.kind == SpanKind::process) {
      begin_life(record, text);
      return {};
    }
    if (life_ >= lives_.size()) return malformed("a block does not say whose it is");
    ProcessSpans& life = lives_[life_];
    switch (record.kind) {
      case SpanKind::name:
        name_at(life.names, record.name, text);
        return {};
      case SpanKind::track:
        name_at(life.tracks, record.track, text);
        return {};
      case SpanKind::lost:
        life.lost += record.value;
        return {};
      case SpanKind::round_trip:
        return take_round_trip(life, record, text);
      case SpanKind::span:
      case SpanKind::wait:
        if (record.end < record.begin) return malformed("a span ends before it begins");
        if (!is_time(record.end)) return malformed(kNoTime);
        [[fallthrough]];
      case SpanKind::sent:
      case SpanKind::received:
      case SpanKind::counter:
        if (!is_time(record.begin)) return malformed(kNoTime);
        if (record.name >= life.names.size() || record.track >= life.tracks.size()) {
          return malformed("a record has a name that is not said before");
        }
        life.records.push_back(record);
        return {};
      default:
        return malformed("a record of an unknown kind");
    }
  }

  static Result<void> take_round_trip(ProcessSpans& life, const SpanRecord& record,
                                      std::string_view text) {
    const auto answered = static_cast<std::int64_t>(record.step);
    const auto held = static_cast<std::int64_t>(record.value);
    for (const std::int64_t time : {record.begin, answered, held, record.end}) {
      if (!is_time(time)) return malformed(kNoTime);
    }
    life.round_trips.push_back({std::string(text), record.begin, answered, held, record.end});
    return {};
  }

  void begin_life(const SpanRecord& record, std::string_view text) {
    const std::size_t end = text.find('\n');
    const std::string_view name = text.substr(0, end);
    const std::string_view host = end == std::string_view::npos ? "" : text.substr(end + 1);
    const auto same = std::ranges::find_if(lives_, [&](const ProcessSpans& one) {
      return one.name == name && one.host == host && one.incarnation == record.value &&
             one.process == record.step && one.run == static_cast<std::uint64_t>(record.begin);
    });
    life_ = static_cast<std::size_t>(same - lives_.begin());
    if (same != lives_.end()) return;
    ProcessSpans& life = lives_.emplace_back();
    life.name = name;
    life.host = host;
    life.incarnation = record.value;
    life.process = record.step;
    life.run = static_cast<std::uint64_t>(record.begin);
  }

  std::vector<ProcessSpans>& lives_;
  std::size_t life_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

void append_record(std::string& block, SpanRecord record, std::string_view text) {
  text = text.substr(0, std::numeric_limits<std::uint16_t>::max() - kAlignment);
  record.size = static_cast<std::uint16_t>(text.size());
  block.append(reinterpret_cast<const char*>(&record), sizeof(record));
  block.append(text);
  block.append(padded(text.size()) - text.size(), '\0');
}

std::string block_of(std::string_view records) {
  std::string block(kBlockMagic);
  const std::uint64_t size = records.size();
  block.append(reinterpret_cast<const char*>(&size), sizeof(size));
  block.append(records);
  return block;
}

std::optional<std::uint64_t> size_of_block(std::string_view head) {
  if (head.size() != kBlockHead || !head.starts_with(kBlockMagic)) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, head.data() + kBlockMagic.size(), sizeof(size));
  if (size > std::numeric_limits<std::uint64_t>::max() - kBlockHead) return std::nullopt;
  return kBlockHead + size;
}

Result<void> read_spans(std::string_view bytes, std::vector<ProcessSpans>& into) {
  BlockReader reader(into);
  while (bytes.size() >= kBlockHead) {
    const std::optional<std::uint64_t> size = size_of_block(bytes.substr(0, kBlockHead));
    if (!size) return malformed("it is no trace of this version of sterna, or damaged");
    if (*size > bytes.size()) return {};  // cut
    reader.next_block();
    STERNA_TRY(reader.read(bytes.substr(kBlockHead, *size - kBlockHead)));
    bytes.remove_prefix(*size);
  }
  if (!bytes.empty() && !kBlockMagic.starts_with(bytes.substr(0, kBlockMagic.size()))) {
    return malformed("it is no trace of this version of sterna, or damaged");
  }
  return {};
}

}  // namespace sterna
