// Traces of a job that never was: ranks, a server and a reader whose parts take as long as a test
// says, written down as the real ones do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/job/messages.h"
#include "actors/job/trace_section.h"
#include "runtime/base/random.h"
#include "runtime/sim/sim_loop.h"
#include "runtime/trace/tracer.h"

namespace sterna::launcher::test {

/// All in milliseconds, each of which varies by a tenth from step to step.
struct MadeJob {
  std::uint32_t ranks = 4;
  std::uint64_t first = 100;
  std::uint64_t steps = 20;
  double compute = 10;  ///< a third of it is forward
  double up = 0.2;
  double server = 0.3;
  double down = 0.2;
  double read = 3;                                   ///< a batch, asked for a step ahead
  std::optional<std::uint32_t> slow_reader_of = {};  ///< of this rank alone `slow` more
  std::optional<std::uint32_t> delayed = {};         ///< this rank begins later by `slow`
  std::optional<std::uint32_t> slow_rank = {};       ///< this rank computes longer by `slow`
  double slow = 20;
  double unevenness = 0.1;
};

/// A process that writes with a clock that is set by hand.
class MadeProcess {
 public:
  MadeProcess(const std::string& name, const std::string& host, std::uint64_t id, TracedSteps steps)
      : id_(id), tracer_(clock_) {
    tracer_.start({name, host, 1, id, 7}, steps, std::make_unique<Sink>(blocks_));
  }
  void span(std::uint64_t step, const std::string& track, std::string_view name, double from,
            double to, std::uint64_t value = 0) {
    tracer_.note_span(step, tracer_.track(track), tracer_.name(name), at(from), at(to), value);
  }
  void wait(std::uint64_t step, const std::string& track, std::string_view name, double from,
            double to) {
    tracer_.note_wait(step, tracer_.track(track), tracer_.name(name), at(from), at(to));
  }
  /// In a span as short as what is done with a message.
  void sent(std::uint64_t step, std::string_view name, double when, std::uint64_t message,
            std::uint64_t rank) {
    set(when);
    span(step, "loop", name, when, when + 0.001);
    tracer_.note_sent(step, tracer_.track("loop"), tracer_.name(name), message, rank);
  }
  void received(std::uint64_t step, std::string_view name, double when, std::uint64_t message,
                std::uint64_t rank) {
    set(when);
    span(step, "loop", name, when, when + 0.001);
    tracer_.note_received(step, tracer_.track("loop"), tracer_.name(name), message, rank);
  }
  std::uint64_t id() const { return id_; }
  const std::string& blocks() {
    tracer_.flush();
    return blocks_;
  }

 private:
  struct Sink final : TextSink {
    explicit Sink(std::string& to) : blocks(to) {}
    void put(std::string text) override { blocks += text; }
    bool idle() const override { return true; }
    std::string& blocks;
  };
  struct HandClock final : Clock {
    Time now() const override { return time; }
    Time time;
  };
  static Time at(double ms) { return {1'000'000'000 + static_cast<std::int64_t>(ms * 1e6)}; }
  void set(double ms) { clock_.time = at(ms); }

  std::uint64_t id_;
  std::string blocks_;
  HandClock clock_;
  Tracer tracer_;
};

/// The files of such a job's processes.
inline std::vector<std::string> made_trace(const MadeJob& job, std::uint64_t seed) {
  namespace traced = actors::traced;
  using actors::name_of;
  using actors::Part;
  SeededRandom random(seed);
  const auto about = [&](double ms) {
    const double part = static_cast<double>(random.below(2001)) / 1000.0 - 1;
    return ms * (1 + job.unevenness * part);
  };
  const TracedSteps steps{job.first, job.first + job.steps - 1};
  std::vector<std::unique_ptr<MadeProcess>> workers;
  for (std::uint32_t r = 0; r < job.ranks; ++r) {
    workers.push_back(
        std::make_unique<MadeProcess>("worker" + std::to_string(r), "here", 10 + r, steps));
  }
  MadeProcess server("server0", "here", 5, steps);
  MadeProcess reader("reader0", "here", 6, steps);
  std::vector<double> begins(job.ranks, 0);      // of the step
  std::vector<double> batches(job.ranks, 0);     // ready
  std::vector<double> parameters(job.ranks, 0);  // have come
  for (std::uint64_t step = steps.first; step <= steps.last; ++step) {
    double quorum = 0;
    double first_push = 1e12;
    std::vector<double> ends(job.ranks);
    std::vector<double> next_batches(job.ranks);
    for (std::uint32_t r = 0; r < job.ranks; ++r) {
      MadeProcess& worker = *workers[r];
      const std::string track = actors::rank_track(r);
      double now = begins[r];
      // The next batch is asked for as the step begins.
      const double reads = about(job.read) + (job.slow_reader_of == r ? about(job.slow) : 0);
      next_batches[r] = std::max(begins[r], batches[r]) + reads;
      reader.span(step, "decoder " + std::to_string(r), "decode and augment",
                  next_batches[r] - reads, next_batches[r]);
      const auto part = [&](Part what, double until) {
        if (until <= now) return;
        worker.span(step, track, name_of(what), now, until);
        now = until;
      };
      part(Part::batch, batches[r]);
      if (job.delayed == r) part(Part::delay, now + about(job.slow));
      part(Part::parameters, parameters[r]);
      const double compute = about(job.compute) + (job.slow_rank == r ? about(job.slow) : 0);
      part(Part::forward, now + compute / 3);
      const double backward = now;
      part(Part::backward, now + compute * 2 / 3);
      worker.span(step, actors::rank_compute_track(r), name_of(Part::backward), backward, now);
      worker.span(step, actors::rank_compute_track(r), name_of(Part::encode), now - compute / 10,
                  now - compute / 20);
      const std::uint64_t id = actors::push_id({.rank = r, .step = step, .packets = {}});
      const double up = about(job.up);
      worker.sent(step, traced::kPush, now, id, r);
      server.received(step, traced::kPush, now + up, id, r);
      worker.wait(step, "loop", "push server0", now, now + up + 0.1);
      first_push = std::min(first_push, now + up);
      quorum = std::max(quorum, now + up);
      worker.span(step, track, traced::kStep, begins[r], now + 0.01);
      ends[r] = now + 0.01;
    }
    const double made = quorum + 0.01 + about(job.server);
    server.wait(step, "loop", traced::kQuorum, first_push, quorum + 0.01);
    server.span(step, "updates", traced::kUpdate, quorum + 0.01, made);
    server.span(step, "updates", "sum and optimizer", quorum + 0.01, made);
    for (std::uint32_t r = 0; r < job.ranks; ++r) {
      const std::uint64_t id =
          actors::answer_id({.version = step + 1, .chunks = {}}, ProcessId{workers[r]->id()});
      server.sent(step + 1, traced::kAnswer, made + 0.002 * (r + 1), id, 0);
      parameters[r] = made + 0.002 * (r + 1) + about(job.down);
      workers[r]->received(step + 1, traced::kAnswer, parameters[r], id, 0);
      begins[r] = ends[r];
      batches[r] = next_batches[r];
    }
  }
  std::vector<std::string> files = {server.blocks(), reader.blocks()};
  for (const auto& worker : workers) files.push_back(worker->blocks());
  return files;
}

/// The same, read.
inline std::vector<ProcessSpans> made_spans(const MadeJob& job, std::uint64_t seed) {
  std::vector<ProcessSpans> lives;
  for (const std::string& file : made_trace(job, seed)) {
    EXPECT_TRUE(read_spans(file, lives).ok());
  }
  return lives;
}

}  // namespace sterna::launcher::test
