// ChunkUpdates: a server's arithmetic. Some chunks' packets with all that is needed to turn them
// into the next version, and into what travels down.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/messages.h"
#include "actors/schemes/scheme.h"
#include "kernels/isa/isa.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/sums/aggregate.h"
#include "kernels/trits/ternary.h"

namespace sterna::actors {

/// Whether what travels down is a step's average, packed: then the server may step later.
constexpr bool is_packed(Combine combine) {
  return combine == Combine::sums || combine == Combine::ternary;
}

/// A step that the server has yet to make: its average is kept packed.
struct SummedStep {
  Bytes sums;
  std::uint32_t ranks = 1;
  float scaler = 0;
  kernels::UpdateOptions options;
};

/// One chunk's. The packets are opened.
struct ChunkUpdate {
  std::uint32_t chunk = 0;
  std::uint64_t first = 0;      ///< of the chunk within its tensor
  std::vector<Packet> packets;  ///< in the order of their ranks
  std::vector<float> weights;   ///< of the packets; empty: all one over their number
  kernels::UpdateOptions options;
  std::shared_ptr<Buffer> current;
  std::vector<std::shared_ptr<Buffer>> slots;  ///< of the optimizer
  std::shared_ptr<Buffer> next;                ///< `current` itself where nobody else has that
  std::shared_ptr<Buffer> average;             ///< moving, of the parameters; null: none is kept
  std::shared_ptr<Buffer> next_average;        ///< `average` itself where nobody else has that
  std::vector<SummedStep> unsettled;           ///< to be made from `current` first
  bool settles = true;                         ///< else this step joins them; only is_packed()
  /// The steps before this one are made, before it: where `settles` is false, or `keeps_before`.
  bool settles_before = false;
  bool keeps_before = false;  ///< `next` is apart, and the slots before this step are copied
  Codec codec = Codec::FP32;  ///< of the tensor
  Combine combine = Combine::parameters;
  bool sends = false;                ///< `down` is for workers that step
  bool rounds = false;               ///< `down` gets the next parameters as bf16
  kernels::TernaryDraw draw;         ///< of the average, where it is ternarized
  float clip = 0;                    ///< of its scaler
  std::shared_ptr<Buffer> residual;  ///< what ternarizing left of those before; null: no feedback
  bool keeps = false;                ///< the next version is kept: what changes in place is copied
  ParameterChunk down;               ///< what workers get, if not the next parameters
  std::vector<std::shared_ptr<Buffer>> kept_slots;  ///< copies, where it keeps
  std::shared_ptr<Buffer> kept_residual;
  std::shared_ptr<Buffer> before;  ///< the parameters before this step, where it keeps those
  std::vector<std::shared_ptr<Buffer>> slots_before;
};

/// What notes them, where their step is traced.
class UpdateTrace {
 public:
  UpdateTrace() = default;
  UpdateTrace(std::shared_ptr<Tracer> tracer, std::uint64_t step)
      : tracer_(std::move(tracer)),
        step_(step),
        track_(tracer_->track("updates")),
        whole_(tracer_->name(traced::kUpdate)),
        sum_(tracer_->name("sum")),
        optimizer_(tracer_->name("optimizer")),
        both_(tracer_->name("sum and optimizer")) {}
  Span whole(std::uint64_t first_chunk) const { return span(whole_, first_chunk); }
  Span sum() const { return span(sum_, 0); }
  Span optimizer() const { return span(optimizer_, 0); }
  Span both() const { return span(both_, 0); }

 private:
  Span span(TraceName name, std::uint64_t value) const {
    return tracer_ == nullptr ? Span() : tracer_->span(step_, track_, name, value);
  }
  std::shared_ptr<Tracer> tracer_;
  std::uint64_t step_ = 0;
  TraceTrack track_;
  TraceName whole_, sum_, optimizer_, both_;
};

/// Owns what it uses, so that run() may outlive the shard on a compute thread.
class ChunkUpdates {
 public:
  ChunkUpdates(kernels::Isa isa, BufferPool pool) : isa_(isa), pool_(std::move(pool)) {}

  void add(ChunkUpdate update);
  void set_trace(UpdateTrace trace) { trace_ = std::move(trace); }
  /// Pure computing.
  void run();

  std::uint64_t elements() const { return elements_; }
  bool empty() const { return updates_.empty(); }
  std::vector<std::uint32_t> chunks() const;
  std::vector<ChunkUpdate> take() { return std::move(updates_); }

 private:
  void run(ChunkUpdate& update);
  static void copy_kept(ChunkUpdate& update);
  void keep_before(ChunkUpdate& update);
  static kernels::Parameters parameters_of(const ChunkUpdate& update,
                                           std::span<const std::span<float>> slots);
  void settle(ChunkUpdate& update, std::span<const std::span<float>> slots);
  void sum(ChunkUpdate& update, std::span<const kernels::Packet> packets);
  void step_from_weighted(ChunkUpdate& update, std::span<const kernels::Packet> packets,
                          const kernels::Parameters& parameters);
  void step_from_votes(ChunkUpdate& update, std::span<const kernels::Packet> packets,
                       const kernels::Parameters& parameters);
  void step_from_average(ChunkUpdate& update, std::span<const kernels::Packet> packets,
                         const kernels::Parameters& parameters);
  void ternarize(ChunkUpdate& update, std::span<const kernels::Packet> packets);
  Bytes seal(const ChunkUpdate& update, const std::shared_ptr<Buffer>& planes, std::uint32_t ranks);

  std::vector<ChunkUpdate> updates_;
  std::uint64_t elements_ = 0;
  UpdateTrace trace_;
  kernels::Isa isa_;
  BufferPool pool_;
};

}  // namespace sterna::actors
