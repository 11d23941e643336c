// IncomingVersion: of the version of the parameters that is on its way to a replica, or came last,
// what is there: chunks that have come are written as soon as the pass that reads the version
// before is past their tensor, and the next forward pass begins with the tensors at the front of
// the table that have all of theirs.
//
// On the worker's loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/schemes/scheme.h"
#include "actors/worker/ranks/replica.h"
#include "actors/worker/worker_trace.h"
#include "runtime/actor/future.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class IncomingVersion {
 public:
  /// To a replica that has version `first` of all chunks. `wrote`: chunks have been written.
  IncomingVersion(std::shared_ptr<Replica> replica, std::shared_ptr<const ParameterTable> table,
                  const Clock& clock, WorkerTrace trace, std::uint64_t first,
                  std::function<void()> wrote);

  /// Shared, as compute threads may have it longer than this.
  const std::shared_ptr<Replica>& replica() const { return replica_; }
  /// Whose chunks go through a rank's own steps before they are its parameters; null: none do.
  void go_through(LocalSteps* local) { local_ = local; }
  /// What is written from here on is noted of this step.
  void note_step(std::uint64_t step) { step_ = step; }

  /// Another version is on its way: of all that the replica reads, or of what changes.
  void expect(Pulled what);
  /// All chunks of an answer have come.
  void take(const std::shared_ptr<const Parameters>& answer);
  /// All packets of a tensor are on the replica's device, which steps by itself from version
  /// `step`.
  void step(std::uint32_t tensor, std::uint64_t step);
  /// Writes what has come of tensors that the replica no longer reads.
  void write_settled();

  /// So many tensors at the front of the table have it whole.
  std::uint32_t readable() const { return readable_; }
  /// When the first became so.
  Time readable_since() const { return readable_since_; }
  /// readable() has grown.
  Condition& ready() { return ready_; }
  /// Whether steps wait for their tensors to settle.
  bool steps_wait() const { return !steps_.empty(); }
  /// By chunk: the version that has come last.
  const std::vector<std::uint64_t>& bases() const { return bases_; }
  /// Parameters and slots of the version that the question names; nothing: another is written.
  std::optional<ChunkCopy> copy(const CopyChunk& question) const;

 private:
  /// A chunk of an answer.
  struct Waiting {
    std::shared_ptr<const Parameters> answer;
    std::size_t index = 0;
  };
  struct Step {
    std::uint32_t tensor = 0;
    std::uint64_t step = 0;
  };
  bool write(const Waiting& waiting, std::uint32_t settled);

  std::shared_ptr<Replica> replica_;
  std::shared_ptr<const ParameterTable> table_;
  const Clock& clock_;
  WorkerTrace trace_;
  std::function<void()> wrote_;
  LocalSteps* local_ = nullptr;
  std::uint64_t step_ = 0;
  std::vector<std::uint32_t> missing_;  // by tensor: chunks that are not yet written
  std::uint32_t readable_ = 0;
  Time readable_since_;
  Condition ready_;
  std::vector<Waiting> waiting_;        // for their tensors to settle
  std::vector<Step> steps_;             // likewise
  std::vector<std::uint64_t> bases_;    // by chunk
  std::vector<std::uint64_t> written_;  // likewise, in the net; 0: none yet
};

}  // namespace sterna::actors
