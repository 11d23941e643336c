// Evaluator: takes one consistent version of the parameters over all shards, at the steps that the
// job evaluates, and says how good it is while training goes on; after the last step it writes the
// final weights, evaluates all test examples, and hashes the parameters.
//
// Where the servers keep moving averages of the parameters, it takes those, or both, as the job
// says, and writes averages; the hash is of the parameters themselves all the same.
//
// Which versions are kept for it: those of the job's steps, for which training waits if it is too
// slow; or those that it names ahead and that all servers promise (evaluator_naming.cc).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/evaluator/evaluation_bench.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/job/open_device.h"
#include "actors/parameters/parameter_table.h"
#include "actors/server/shard_servers.h"
#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class Evaluator final : public Actor<EvaluatorInterface> {
 public:
  /// `device`: what computes; null: what the arguments name.
  explicit Evaluator(EvaluatorArgs args, Finder finder = find_any,
                     std::shared_ptr<kernels::Device> device = nullptr)
      : args_(std::move(args)), finder_(std::move(finder)), device_(std::move(device)) {}

  Task<Result<Enlisted>> on(Enlist);
  Result<Handover> on(TakeOver);
  Result<void> suffer_device_fault() override { return fail_soon(args_.backend, device_); }

 private:
  /// What the net holds.
  struct Held {
    std::uint64_t version = 0;
    PayloadKind kind = PayloadKind::PARAMETERS;
    bool operator==(const Held&) const = default;
  };

  /// A version that is to be evaluated.
  struct Named {
    std::uint64_t version = 0;
    std::uint64_t skipped = 0;  ///< of those before it that were due
  };

  void started() override;
  Task<Result<void>> evaluate_job();
  Task<Result<void>> prepare();
  Task<Result<void>> evaluate_version(std::uint64_t version);
  /// Whether a version is not there for want of a server that was lost; it counts as skipped.
  bool missed(Named& version, const Result<void>& evaluated);
  Task<Result<void>> evaluate_subsets(std::uint64_t version, PayloadKind kind);
  /// Brings the net to `version`, whenever the servers have it: to parameters, or to their moving
  /// averages.
  Task<Result<void>> take_version(std::uint64_t version, PayloadKind kind);
  Task<Result<void>> take_group(std::uint64_t version, PayloadKind kind,
                                ParameterTable::PullGroup group);
  Result<void> write(const Parameters& parameters, const Pull& question);
  /// Writes the final weights once the net has them: before they are evaluated, since what ends the
  /// run then shall not cost them.
  Task<Result<void>> keep_weights();
  Task<Result<void>> finish();

  /// The version to evaluate after `version`.
  Task<Result<Named>> next_version(std::uint64_t version);
  /// In the place of one that was lost: the version that it had got to, and what it had named.
  Task<Result<std::uint64_t>> take_over();
  /// All that is found of a version is with the observer; another may be named in its place.
  Task<Result<void>> conclude(const Named& version);
  /// Names one version more that all servers will keep.
  Task<Result<void>> name_next();
  /// All of them have promised it.
  void note_named(std::uint64_t version);
  /// `version`, if all servers have promised it; else the first that the one farthest ahead could.
  Task<Result<std::uint64_t>> reserve(std::uint64_t version);
  /// Waits until an evaluation is due by time, or the last version is there.
  Task<void> until_due();
  Task<void> wake_at(Time time);
  Task<Result<void>> hear_of_the_end();

  EvaluatorArgs args_;
  Finder finder_;
  std::shared_ptr<kernels::Device> device_;  // null: the CPU
  std::deque<ShardServers> servers_;
  bool found_ = false;
  Condition servers_found_;
  std::optional<Peer<Observer>> observer_;
  std::shared_ptr<EvaluationBench> bench_;  // used on the compute thread
  ParameterTable table_;
  std::optional<Held> held_;
  std::vector<float> came_;  // of one chunk
  bool weights_kept_ = false;

  std::deque<Named> named_;       // and not evaluated yet
  std::uint64_t evaluating_ = 0;  // the version, until it is concluded; else 0
  Concluded concluded_;           // the newest
  std::uint64_t last_named_ = 0;  // or the job's first version
  Time named_at_;                 // by time: when the last one was named
  std::uint64_t skipped_ = 0;     // versions that were due
  bool ended_ = false;            // training has
  Condition woken_;
};

}  // namespace sterna::actors
