// A scheme: one way in which ranks train together, as three small parts. A worker asks its policy
// what is exchanged around a step; a rank's local steps, where it has some, turn gradients into
// what is pushed and what came into its parameters, on its compute thread; a shard asks the
// server's policy when contributions come and versions are pulled. Worker and Shard are mechanism:
// they move bytes and keep order, packets, buffers and snapshots, and do not know why.
//
// A rank's steps, its pushes and the versions of a chunk are three counts, all from the job's first
// step on; in "sync" with all ranks they are one.
//
// Each is one file and one line in scheme.cc, and its facts in job/scheme_section.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"

namespace sterna::kernels {
class Device;
}
namespace sterna::nets {
class Net;
}

namespace sterna::actors {

class DeviceLocalSteps;

/// How the packets of a chunk become what the optimizer steps from.
enum class Combine {
  parameters,  ///< one pass from the packets to the next parameters
  sums,        ///< trits summed as integers
  average,     ///< the average in fp32, which travels down
  ternary,     ///< the average ternarized again, which travels down
  vote,        ///< of each element the sign that most packets have, as 1, 0 or -1
};

/// What a rank computes a step from, and as what it comes.
struct Need {
  std::uint64_t version = 0;  ///< exactly; of an Exchange, at least
  PayloadKind kind = PayloadKind::PARAMETERS;
  Codec codec = Codec::FP32;  ///< of parameters
};

/// What a push says of itself.
struct Contribution {
  PayloadKind kind = PayloadKind::GRADIENT;
  std::uint32_t examples = 0;
};

/// What happens around a rank's own step.
struct Exchange {
  bool pulls = false;      ///< before it begins: the newest parameters
  bool pushes = false;     ///< of it, or of all since the last
  std::uint64_t push = 0;  ///< that it belongs to
};

class WorkerPolicy {
 public:
  virtual ~WorkerPolicy() = default;
  /// Whether a step's parameters are asked for a step ahead, exactly need(step) and once for all
  /// ranks of a worker; else each rank does as exchange() says.
  virtual bool in_step() const = 0;
  virtual Exchange exchange(std::uint64_t step) const = 0;
  /// Must have come before `step` is computed; or, where each rank pulls, before push `step` is
  /// begun.
  virtual Need need(std::uint64_t step) const = 0;
  /// Where the examples of a rank's `step` lie: the question to an input reader.
  virtual NextBatch batch(std::uint64_t step, std::uint32_t rank) const = 0;
  /// Whether what the rank then has is compared with what the servers have.
  virtual bool compares(std::uint64_t step) const = 0;
  /// What the rank pushes.
  virtual Contribution contribution(std::uint64_t push) const = 0;
};

/// A rank's own step.
struct RankStep {
  std::uint64_t step = 0;
  std::uint64_t push = 0;     ///< that it belongs to, or of which it is
  std::uint64_t version = 0;  ///< of the parameters that came last
  bool pushes = true;
  std::uint64_t slots_begin = 0;  ///< the step before which its optimizer's slots have seen none
};

/// What a rank pushes of a window of its own steps.
enum class Pushed {
  sum,         ///< of the gradients
  mean,        ///< of the gradients
  difference,  ///< of the parameters: those it has less those that came
};

/// What a rank keeps from one window to the next.
struct KeptArray {
  std::string kind;  ///< e.g. "momentum.0"
  std::uint32_t tensor = 0;
  std::span<float> values;  ///< of the whole tensor
  bool optional = false;    ///< of a checkpoint that has none the rest goes on all the same
};

/// What a rank does with its gradients and with what comes, where it is not simply sent and taken.
/// On the rank's compute thread, or between its steps. `w` is always the net's own, of the whole
/// tensor, or of the chunk.
class LocalSteps {
 public:
  virtual ~LocalSteps() = default;
  /// The gradients of this step follow.
  virtual void begin(const RankStep& step) = 0;
  /// A tensor's gradient, once no pass of the step reads `w` any more. What is to be pushed of it;
  /// empty: nothing yet. It stays as it is until the next call for that tensor.
  virtual std::span<const float> gradient(std::uint32_t tensor, std::span<const float> g,
                                          std::span<float> w) = 0;
  /// Whether sent() is to be called.
  virtual bool follows_what_is_sent() const { return false; }
  /// What the servers get of a chunk of that.
  virtual void sent(const TableChunk& place, std::span<const float> decoded, std::span<float> w) {
    static_cast<void>(place), static_cast<void>(decoded), static_cast<void>(w);
  }
  virtual void came(const TableChunk& place, std::span<const float> theirs, std::span<float> w) = 0;
  /// What the next window needs of those before, besides what comes; as it starts, before the first
  /// came(). Between windows.
  virtual std::vector<KeptArray> kept() = 0;
  /// Before the first came(): what kept() gave of a tensor is of a checkpoint now.
  virtual void restored(std::uint32_t tensor, std::span<float> w) {
    static_cast<void>(tensor), static_cast<void>(w);
  }
};

/// One chunk at a server, as far as a scheme asks.
struct ChunkState {
  std::uint64_t version = 0;
  std::uint32_t waiting = 0;  ///< packets that count and that no version is made of yet
};

/// A packet of which a version is made.
struct Counted {
  std::uint32_t rank = 0;
  std::uint64_t base_version = 0;
};

/// An error is always that of a peer that broke the rules.
class ServerPolicy {
 public:
  virtual ~ServerPolicy() = default;
  /// Whether a push may be what it says of itself.
  virtual Result<void> check(const Push& push) const = 0;
  /// What becomes of a packet of a push, if it is no duplicate.
  virtual Result<Verdict> judge(const Push& push, const Packet& packet,
                                const ChunkState& chunk) const = 0;
  /// Whether the packets that wait make a version: of one(), the first to come; else all of them,
  /// in the order of their ranks.
  virtual bool complete(const ChunkState& chunk) const = 0;
  virtual bool one() const = 0;
  /// Of packets of this codec.
  virtual Combine combine(Codec codec) const = 0;
  /// What each packet of the version after `version` is multiplied by before they are summed;
  /// empty: all by one over their number.
  virtual std::vector<float> weights(const std::vector<Counted>& packets,
                                     std::uint64_t version) const = 0;
  /// What workers get: parameters, or the gradients that led to them, from which they step as the
  /// servers do.
  virtual PayloadKind sends() const = 0;
  /// Whether a pull of `version` from a chunk that is at `now` is answered now or has to wait.
  virtual Result<bool> answers(std::uint64_t version, PayloadKind kind,
                               std::uint64_t now) const = 0;
  /// Whether a rank may begin its push of this number from a chunk, where `done` is what each rank
  /// has pushed of it.
  virtual bool may_begin(std::uint64_t push, const std::vector<std::uint64_t>& done) const = 0;
  /// Whether a version is kept until the evaluator has it.
  virtual bool evaluates(std::uint64_t version) const = 0;
  /// Makes it so, where that is left to the evaluator and `version` is at least `first`, the first
  /// that no chunk's update has begun to make. Says whether it is so now.
  virtual Result<bool> reserve(std::uint64_t version, std::uint64_t first) = 0;
  /// The evaluator wants it no longer.
  virtual void release(std::uint64_t version) = 0;
  /// Whether workers compare theirs with it.
  virtual bool compares(std::uint64_t version) const = 0;
  /// Whether somebody wants its parameters: those of others may be left to be made with a later
  /// version's.
  virtual bool settles(std::uint64_t version) const = 0;
};

struct Scheme {
  std::string_view name;
  std::unique_ptr<WorkerPolicy> (*worker)(const JobConfig& job);
  /// `evaluated`: an evaluator takes versions.
  std::unique_ptr<ServerPolicy> (*server)(const JobConfig& job, bool evaluated);
  /// Of one rank; null where its gradients travel as they are, and what comes replaces what it has.
  /// Errors: as UpdateRule's.
  Result<std::unique_ptr<LocalSteps>> (*local_steps)(const JobConfig& job, std::uint32_t rank,
                                                     std::shared_ptr<const ParameterTable> table) =
      nullptr;
  /// The same of a rank on a device. Errors: the device's, too.
  Result<std::unique_ptr<DeviceLocalSteps>> (*device_steps)(
      const JobConfig& job, std::uint32_t rank, std::shared_ptr<const ParameterTable> table,
      std::shared_ptr<kernels::Device> device, nets::Net& net) = nullptr;
};

std::vector<std::string_view> scheme_names();
/// Errors: invalid_argument, with the names that there are.
Result<Scheme> find_scheme(std::string_view name);

}  // namespace sterna::actors
