// A scheme: one way in which ranks train together, as two small policies. A rank asks the worker's
// before and after a step; a shard asks the server's when contributions come and versions are
// pulled. Worker and Shard are mechanism: they move bytes and keep order, packets, buffers and
// snapshots, and do not know why.
//
// Each is one file and one line in scheme.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "actors/job/job.h"
#include "actors/job/messages.h"

namespace sterna::actors {

/// How the packets of a chunk become what the optimizer steps from.
enum class Combine {
  parameters,  ///< one pass from the packets to the next parameters
  sums,        ///< trits summed as integers
  average,     ///< the average in fp32, which travels down
  ternary,     ///< the average ternarized again, which travels down
};

/// What a rank computes a step from, and as what it comes.
struct Need {
  std::uint64_t version = 0;
  PayloadKind kind = PayloadKind::PARAMETERS;
  Codec codec = Codec::FP32;  ///< of parameters
};

/// What a push says of itself.
struct Contribution {
  PayloadKind kind = PayloadKind::GRADIENT;
  std::uint64_t base_version = 0;  ///< that it was computed from
  std::uint32_t examples = 0;
};

class WorkerPolicy {
 public:
  virtual ~WorkerPolicy() = default;
  /// Must have come before `step` is computed. It is asked for a step ahead.
  virtual Need need(std::uint64_t step) const = 0;
  /// Where the examples of a rank's `step` lie: the question to an input reader.
  virtual NextBatch batch(std::uint64_t step, std::uint32_t rank) const = 0;
  /// Whether what the rank then has is compared with what the servers have.
  virtual bool compares(std::uint64_t step) const = 0;
  /// What the rank pushes of `step`.
  virtual Contribution contribution(std::uint64_t step) const = 0;
};

/// An error is always that of a peer that broke the rules.
class ServerPolicy {
 public:
  virtual ~ServerPolicy() = default;
  /// Whether a push may be what it says of itself.
  virtual Result<void> check(const Push& push) const = 0;
  /// What becomes of a push's packet for a chunk at `version`, if it is no duplicate.
  virtual Result<Verdict> judge(const Push& push, std::uint32_t chunk,
                                std::uint64_t version) const = 0;
  /// Whether so many ranks' packets make a chunk's next version.
  virtual bool complete(std::uint32_t packets) const = 0;
  virtual Combine combine(bool trits) const = 0;
  /// What workers get: parameters, or the gradients that led to them, from which they step as the
  /// servers do.
  virtual PayloadKind sends() const = 0;
  /// Whether a pull of `version` from a chunk that is at `now` is answered now or has to wait.
  virtual Result<bool> answers(std::uint64_t version, PayloadKind kind,
                               std::uint64_t now) const = 0;
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
};

/// Every job's, as long as no key of the cluster file chooses another.
inline constexpr std::string_view kScheme = "sync";

std::vector<std::string_view> scheme_names();
/// Errors: invalid_argument, with the names that there are.
Result<Scheme> find_scheme(std::string_view name);

}  // namespace sterna::actors
