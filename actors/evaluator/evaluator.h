// Evaluator: takes one consistent version of the parameters over all shards, at the steps that the
// job evaluates, and says how good it is while training goes on; after the last step it evaluates
// all test examples, and writes and hashes the final weights.
// Where the servers keep moving averages of the parameters, it takes and writes those; the hash is
// of the parameters themselves all the same.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/evaluator/evaluation.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "input/batches/prepare.h"
#include "input/formats/labels.h"
#include "input/formats/source.h"
#include "nets/net.h"
#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class Evaluator final : public Actor<EvaluatorInterface> {
 public:
  explicit Evaluator(EvaluatorArgs args, Finder finder = find_any)
      : args_(std::move(args)), finder_(std::move(finder)) {}

 private:
  struct Server {
    Server(Peer<ParameterServerInterface> found, const Poster& poster, std::uint64_t most)
        : peer(std::move(found)), down(poster, most) {}
    Peer<ParameterServerInterface> peer;
    ByteWindow down;  ///< what it may have under way to us
  };
  /// What is used on the compute thread.
  struct Bench {
    std::unique_ptr<nets::Net> net;
    std::shared_ptr<const input::Source> source;
    input::Preparation how;
    input::ClassLabels labels;  // none: nothing names them
  };
  static Result<std::shared_ptr<Bench>> make_bench(const JobConfig& job);

  void started() override;
  Task<Result<void>> evaluate_job();
  Task<Result<void>> prepare();
  Task<Result<void>> evaluate_version(std::uint64_t version);
  /// Brings the net to `version`, whenever the servers have it: to parameters, or to their moving
  /// averages.
  Task<Result<void>> take_version(std::uint64_t version, PayloadKind kind);
  Task<Result<void>> take_group(std::uint64_t version, PayloadKind kind,
                                ParameterTable::PullGroup group);
  Result<void> write(const Parameters& parameters, const Pull& question);
  Task<Result<void>> write_weights();
  Task<Result<void>> finish();

  EvaluatorArgs args_;
  Finder finder_;
  std::deque<Server> servers_;  // a deque: windows do not move
  std::optional<Peer<Observer>> observer_;
  std::shared_ptr<Bench> bench_;
  ParameterTable table_;
};

}  // namespace sterna::actors
