// Tracer: where a process's time goes, noted as spans. Off until it is started, and then a branch.
//
//   const TraceTrack rank = tracer.track("rank 0");
//   const TraceName forward = tracer.name("forward");
//   { const Span span = tracer.span(step, rank, forward); ... }
//
// Spans gather in a block in memory, which goes to a TextSink when it is large enough or flush() is
// called; a writer's own thread then writes it (text_writer.h). Who notes a span never waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/loop/text_writer.h"
#include "runtime/trace/span_record.h"

namespace sterna {

struct TraceTrack {
  std::uint16_t id = 0;
};
struct TraceName {
  std::uint16_t id = 0;
};

/// Steps [first, last].
struct TracedSteps {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const TracedSteps&) const = default;
};

class Tracer;

/// Notes from its making to its end; nothing where its step is not traced.
class [[nodiscard]] Span {
 public:
  Span() = default;
  Span(Tracer& tracer, std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t value);
  Span(Span&& other) noexcept
      : tracer_(std::exchange(other.tracer_, nullptr)), record_(other.record_) {}
  Span& operator=(Span&& other) noexcept {
    end();
    tracer_ = std::exchange(other.tracer_, nullptr);
    record_ = other.record_;
    return *this;
  }
  ~Span() { end(); }
  void end() {
    if (tracer_ != nullptr) note();
  }
  bool noted() const { return tracer_ != nullptr; }

 private:
  void note();
  Tracer* tracer_ = nullptr;
  SpanRecord record_;
};

/// From any thread but for start(), which comes before all else. Names and tracks are of any text;
/// there may be 65,535 of each, and the last stands for those beyond.
class Tracer {
 public:
  struct Identity {
    std::string name;
    std::string host;
    std::uint64_t incarnation = 0;
    std::uint64_t process = 0;
    std::uint64_t run = 0;
    /// The first record of a block.
    void append_to(std::string& records) const;
  };
  /// `clock` is the host's monotonic one and outlives it.
  explicit Tracer(const Clock& clock) : clock_(clock) {}
  ~Tracer() { flush(); }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  void start(Identity who, TracedSteps steps, std::unique_ptr<TextSink> sink);
  bool started() const { return sink_ != nullptr; }
  bool wants(std::uint64_t step) const { return step - first_ < count_; }

  TraceName name(std::string_view text);
  TraceTrack track(std::string_view text);
  /// Of the thread that asks: "NAME 0", "NAME 1", ...
  TraceTrack thread_track(std::string_view name);

  Time now() const { return clock_.now(); }
  Span span(std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t value = 0) {
    return {*this, step, track, name, value};
  }
  /// One that has ended. The same of what overlaps others.
  void note_span(std::uint64_t step, TraceTrack track, TraceName name, Time begin, Time end,
                 std::uint64_t value = 0);
  void note_wait(std::uint64_t step, TraceTrack track, TraceName name, Time begin, Time end,
                 std::uint64_t value = 0);
  /// A message: the same `id` at both ends. `whose` is told with it.
  void note_sent(std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t id,
                 std::uint64_t whose = 0);
  void note_received(std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t id,
                     std::uint64_t whose = 0);
  void note_counter(std::uint64_t step, TraceTrack track, TraceName name, std::uint64_t value);
  void note_round_trip(const ProcessSpans::RoundTrip& trip);

  /// Hands on what has gathered.
  void flush();

 private:
  friend class Span;
  struct Text {
    std::string text;
    bool said = false;  // in this block
  };
  /// Where its step is traced.
  void note_step(const SpanRecord& record) {
    if (wants(record.step)) note(record);
  }
  void note(const SpanRecord& record, std::string_view text = {});
  void say(std::vector<Text>& texts, std::uint16_t index, SpanKind kind);
  static std::uint16_t index_of(std::vector<Text>& texts, std::string_view text);
  void hand_on();

  const Clock& clock_;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  Identity who_;
  std::unique_ptr<TextSink> sink_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<Text> names_;
  std::vector<Text> tracks_;
  std::vector<std::pair<std::thread::id, TraceTrack>> threads_;
  std::string block_;
};

inline Span::Span(Tracer& tracer, std::uint64_t step, TraceTrack track, TraceName name,
                  std::uint64_t value) {
  if (!tracer.wants(step)) return;
  tracer_ = &tracer;
  record_ = {.kind = SpanKind::span,
             .track = track.id,
             .name = name.id,
             .begin = tracer.now().ns,
             .step = step,
             .value = value};
}

}  // namespace sterna
