// What the actors of a job tell its observer (the launcher), which they find by name.
#pragma once

#include <cstdint>
#include <string>

#include "actors/schema/training.capnp.h"
#include "runtime/actor_ref.h"

namespace sterna::actors {

/// A worker's totals since it started.
struct Traffic {
  /// Whole messages, envelopes included, as the worker's links count them; 0 without links.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  /// Of the gradient payloads: handed to the network before the backward pass they belong to ended.
  std::uint64_t bytes_before_backward_ended = 0;
  std::uint64_t gradient_bytes = 0;
  std::uint64_t gradient_elements = 0;
  std::uint64_t ternarized_bytes = 0;  ///< planes, and four bytes a scaler
  std::uint64_t ternarized_elements = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t parameter_elements = 0;
  bool operator==(const Traffic&) const = default;
};

/// At most ten a second from each worker, and always for its first and last step.
struct Progress {
  using Wire = schema::Progress;
  std::string worker;
  std::uint64_t step = 0;  ///< steps done
  double loss = 0;         ///< of that step, mean over the worker's ranks
  std::uint64_t examples = 0;
  double seconds = 0;  ///< since this worker's first step began
  Traffic traffic;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Progress> decode(Wire::Reader wire, WireReader& reader);
  bool operator==(const Progress&) const = default;
};

struct Evaluated {
  using Wire = schema::Evaluated;
  std::uint64_t step = 0;
  double precision_at_1 = 0;
  double loss = 0;  ///< mean cross-entropy, without weight decay
  std::uint64_t examples = 0;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Evaluated> decode(Wire::Reader wire, WireReader& reader);
  bool operator==(const Evaluated&) const = default;
};

/// A worker has done its last step, and every gradient of it was acknowledged.
struct WorkerDone {
  using Wire = schema::WorkerDone;
  std::string worker;
  std::uint64_t steps = 0;
  double loss = 0;
  double seconds = 0;
  double median_step_seconds = 0;
  Traffic traffic;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<WorkerDone> decode(Wire::Reader wire, WireReader& reader);
  bool operator==(const WorkerDone&) const = default;
};

/// From the evaluator, after the last evaluation: the run's result.
struct JobFinished {
  using Wire = schema::JobFinished;
  /// Over all parameters in the order of the table, plain row-major little-endian fp32, in hex.
  std::string parameters_sha256;
  std::string weights;  ///< the file written; empty if none was asked for
  std::uint64_t parameters = 0;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<JobFinished> decode(Wire::Reader wire, WireReader& reader);
  bool operator==(const JobFinished&) const = default;
};

struct Observer : Interface<Progress, Evaluated, WorkerDone, JobFinished> {};

}  // namespace sterna::actors
