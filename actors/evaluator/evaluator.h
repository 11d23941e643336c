// Evaluator: takes one consistent version of the parameters over all shards, at the steps that the
// job evaluates, and says how good it is while training goes on; after the last step it evaluates
// all test examples, hashes and writes the final weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/evaluator/evaluation.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "input/formats/dataset.h"
#include "nets/net.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class Evaluator final : public Actor<EvaluatorInterface> {
 public:
  explicit Evaluator(EvaluatorArgs args, Finder finder = find_any)
      : args_(std::move(args)), finder_(std::move(finder)) {}

 private:
  /// What is used on the compute thread.
  struct Bench {
    std::unique_ptr<nets::Net> net;
    input::Dataset dataset;
  };
  static Result<std::shared_ptr<Bench>> make_bench(const JobConfig& job);

  void started() override;
  Task<Result<void>> evaluate_job();
  Task<Result<void>> prepare();
  Task<Result<void>> evaluate_version(std::uint64_t version);
  /// Brings the net to `version`, whenever the servers have it.
  Task<Result<void>> take_version(std::uint64_t version);
  Result<void> write(const Parameters& parameters, const Pull& question);
  Task<Result<void>> finish();

  EvaluatorArgs args_;
  Finder finder_;
  std::vector<Peer<ParameterServerInterface>> servers_;
  std::optional<Peer<Observer>> observer_;
  std::shared_ptr<Bench> bench_;
  ParameterTable table_;
};

}  // namespace sterna::actors
