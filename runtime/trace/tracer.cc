#include "runtime/trace/tracer.h"

#include <limits>

namespace sterna {
namespace {

/// A block is handed on at so many bytes: some hundred spans.
constexpr std::size_t kBlockBytes = std::size_t{32} << 10;

SpanRecord record_of(SpanKind kind, TraceTrack track, TraceName name, std::int64_t begin,
                     std::int64_t end, std::uint64_t step, std::uint64_t value) {
  return {.kind = kind,
          .track = track.id,
          .name = name.id,
          .begin = begin,
          .end = end,
          .step = step,
          .value = value};
}

}  // namespace

void Span::note() {
  Tracer& tracer = *std::exchange(tracer_, nullptr);
  record_.end = tracer.now().ns;
  tracer.note(record_);
}

void Tracer::Identity::append_to(std::string& records) const {
  const SpanRecord record{.kind = SpanKind::process,
                          .begin = static_cast<std::int64_t>(run),
                          .step = process,
                          .value = incarnation};
  append_record(records, record, name + "\n" + host);
}

void Tracer::start(Identity who, TracedSteps steps, std::unique_ptr<TextSink> sink) {
  if (sink == nullptr || steps.last < steps.first) return;
  who_ = std::move(who);
  sink_ = std::move(sink);
  first_ = steps.first;
  count_ = steps.last - steps.first;
  if (count_ < std::numeric_limits<std::uint64_t>::max()) ++count_;
}

std::uint16_t Tracer::index_of(std::vector<Text>& texts, std::string_view text) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].text == text) return static_cast<std::uint16_t>(i);
  }
  if (texts.size() < kMost) texts.push_back({.text = std::string(text)});
  return static_cast<std::uint16_t>(texts.size() - 1);
}

TraceName Tracer::name(std::string_view text) {
  const std::lock_guard lock(mutex_);
  return {index_of(names_, text)};
}

TraceTrack Tracer::track(std::string_view text) {
  const std::lock_guard lock(mutex_);
  return {index_of(tracks_, text)};
}

TraceTrack Tracer::thread_track(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  for (const auto& [thread, track] : threads_) {
    if (thread == self) return track;
  }
  const std::string number = std::to_string(threads_.size());
  const TraceTrack made{index_of(tracks_, std::string(name).append(" ").append(number))};
  threads_.emplace_back(self, made);
  return made;
}

void Tracer::note_span(std::uint64_t step, TraceTrack track, TraceName name, Time begin, Time end,
                       std::uint64_t value) {
  note_step(record_of(SpanKind::span, track, name, begin.ns, end.ns, step, value));
}

void Tracer::note_wait(std::uint64_t step, TraceTrack track, TraceName name, Time begin, Time end,
                       std::uint64_t value) {
  note_step(record_of(SpanKind::wait, track, name, begin.ns, end.ns, step, value));
}

void Tracer::note_sent(std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t id,
                       std::uint64_t whose) {
  const auto peer = static_cast<std::int64_t>(whose);
  note_step(record_of(SpanKind::sent, track, name, now().ns, peer, step, id));
}

void Tracer::note_received(std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t id,
                           std::uint64_t whose) {
  const auto peer = static_cast<std::int64_t>(whose);
  note_step(record_of(SpanKind::received, track, name, now().ns, peer, step, id));
}

void Tracer::note_counter(std::uint64_t step, TraceTrack track, TraceName name,
                          std::uint64_t value) {
  note_step(record_of(SpanKind::counter, track, name, now().ns, 0, step, value));
}

void Tracer::note_round_trip(const ProcessSpans::RoundTrip& trip) {
  if (!started()) return;
  note({.kind = SpanKind::round_trip,
        .begin = trip.asked,
        .end = trip.came,
        .step = static_cast<std::uint64_t>(trip.answered),
        .value = static_cast<std::uint64_t>(trip.held)},
       trip.host);
}

void Tracer::say(std::vector<Text>& texts, std::uint16_t index, SpanKind kind) {
  if (index >= texts.size() || texts[index].said) return;
  texts[index].said = true;
  append_record(block_, {.kind = kind, .track = index, .name = index}, texts[index].text);
}

void Tracer::note(const SpanRecord& record, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (block_.empty()) {
    block_.reserve(kBlockBytes + kBlockBytes / 4);
    who_.append_to(block_);
  }
  if (record.kind != SpanKind::round_trip) {
    say(names_, record.name, SpanKind::name);
    say(tracks_, record.track, SpanKind::track);
  }
  append_record(block_, record, text);
  if (block_.size() >= kBlockBytes) hand_on();
}

void Tracer::flush() {
  const std::lock_guard lock(mutex_);
  if (!block_.empty()) hand_on();
}

void Tracer::hand_on() {
  sink_->put(block_of(block_));
  block_.clear();
  for (Text& one : names_) one.said = false;
  for (Text& one : tracks_) one.said = false;
}

}  // namespace sterna
