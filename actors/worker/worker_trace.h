// What a worker notes of its time, in the steps that are traced (actors/job/trace_section.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/job/messages.h"
#include "actors/job/trace_section.h"

namespace sterna::actors {

/// A rank's parts: one after the other, within its steps.
class RankTrace {
 public:
  RankTrace() = default;
  /// Its steps are noted from `first` on, whatever else is.
  RankTrace(std::shared_ptr<Tracer> tracer, std::uint32_t rank, std::uint64_t first)
      : tracer_(std::move(tracer)), first_(first) {
    if (!tracer_->started()) return;
    track_ = tracer_->track(rank_track(rank));
    step_name_ = tracer_->name(traced::kStep);
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i] = tracer_->name(kPartNames[i]);
  }
  /// The step before, and the wait for this turn, are over.
  void begin(std::uint64_t step) {
    end();
    step_ = step;
    if (step >= first_ && tracer_->wants(step)) whole_ = tracer_->span(step, track_, step_name_);
  }
  /// From here on others have their turns.
  void turn_over() { turn_ = part(Part::turn); }
  void end() {
    turn_.end();
    whole_.end();
  }
  Span part(Part part) {
    if (!whole_.noted()) return {};
    return tracer_->span(step_, track_, parts_[static_cast<std::size_t>(part)]);
  }

 private:
  std::shared_ptr<Tracer> tracer_;
  std::uint64_t first_ = 0;
  TraceTrack track_;
  TraceName step_name_;
  std::array<TraceName, kPartNames.size()> parts_;
  std::uint64_t step_ = 0;
  Span whole_;
  Span turn_;
};

/// What its loop does beside them: sending, receiving, applying.
class WorkerTrace {
 public:
  WorkerTrace() = default;
  explicit WorkerTrace(const std::shared_ptr<Tracer>& tracer) : tracer_(tracer) {
    if (!tracer_->started()) return;
    loop_ = tracer_->track(traced::kLoop);
    push_ = tracer_->name(traced::kPush);
    answer_ = tracer_->name(traced::kAnswer);
    batch_ = tracer_->name(traced::kBatch);
    apply_ = tracer_->name(name_of(Part::apply));
  }
  bool wants(std::uint64_t step) const { return tracer_ != nullptr && tracer_->wants(step); }
  Time now() const { return tracer_->now(); }

  /// Around what is done with a message, with the message's end here.
  Span sends(const Push& push) const {
    if (!wants(push.step)) return {};
    Span span = tracer_->span(push.step, loop_, push_, push.rank);
    tracer_->note_sent(push.step, loop_, push_, push_id(push), push.rank);
    return span;
  }
  /// The answer to `pull`, which `asker` needs in this step.
  Span takes_answer(std::uint64_t step, const Pull& pull, ProcessId asker) const {
    if (!wants(step)) return {};
    return takes(step, answer_, answer_id(pull, asker));
  }
  Span takes_batch(const NextBatch& question, std::string_view reader) const {
    if (!wants(question.step)) return {};
    return takes(question.step, batch_,
                 batch_id(question.step, question.rank, question.first_row, reader));
  }
  void applied(std::uint64_t step, Time began) const {
    tracer_->note_span(step, loop_, apply_, began, tracer_->now());
  }
  /// From a question to its answer; `what` is "push", "pull" or "agree".
  void asked(std::uint64_t step, std::string_view what, const std::string& whom, Time began) const {
    if (!wants(step)) return;
    const TraceName name = tracer_->name(std::string(what) + " " + whom);
    tracer_->note_wait(step, loop_, name, began, tracer_->now());
  }
  void in_flight(std::uint64_t step, const std::string& whom, std::uint64_t bytes) const {
    if (!wants(step)) return;
    tracer_->note_counter(step, loop_, tracer_->name("bytes in flight to " + whom), bytes);
  }
  void flush() const {
    if (tracer_ != nullptr && tracer_->started()) tracer_->flush();
  }

 private:
  Span takes(std::uint64_t step, TraceName name, std::uint64_t id) const {
    Span span = tracer_->span(step, loop_, name);
    tracer_->note_received(step, loop_, name, id);
    return span;
  }
  std::shared_ptr<Tracer> tracer_;
  TraceTrack loop_;
  TraceName push_, answer_, batch_, apply_;
};

/// What a rank's compute thread does: passes, in them layers and what becomes of their gradients.
class ComputeTrace {
 public:
  ComputeTrace(std::shared_ptr<Tracer> tracer, std::uint32_t rank,
               const std::vector<std::string>& tensors)
      : tracer_(std::move(tracer)),
        track_(tracer_->track(rank_compute_track(rank))),
        forward_(tracer_->name(name_of(Part::forward))),
        backward_(tracer_->name(name_of(Part::backward))),
        encode_(tracer_->name(name_of(Part::encode))) {
    for (const std::string& tensor : tensors) {
      layers_.push_back(tracer_->name("backward " + tensor));
    }
  }
  Span forward(std::uint64_t step) { return tracer_->span(step, track_, forward_); }
  Span backward(std::uint64_t step) {
    step_ = step;
    Span span = tracer_->span(step, track_, backward_);
    if (span.noted()) layer_since_ = tracer_->now();
    return span;
  }
  /// A tensor's gradient is complete.
  void layer_done(std::size_t tensor) {
    if (!tracer_->wants(step_)) return;
    const Time now = tracer_->now();
    tracer_->note_span(step_, track_, layers_[tensor], layer_since_, now);
  }
  /// Its packets are made.
  void layer_begins() {
    if (tracer_->wants(step_)) layer_since_ = tracer_->now();
  }
  Span encode(std::size_t tensor) { return tracer_->span(step_, track_, encode_, tensor); }

 private:
  std::shared_ptr<Tracer> tracer_;
  TraceTrack track_;
  TraceName forward_, backward_, encode_;
  std::vector<TraceName> layers_;
  std::uint64_t step_ = 0;
  Time layer_since_;
};

}  // namespace sterna::actors
