// WindowSteps: a rank that steps by itself, with an optimizer of its own, and pushes what a window
// of such steps has come to. The parameters that come replace its own; its optimizer goes on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/parameters/update_rule.h"
#include "actors/schemes/scheme.h"
#include "kernels/isa/isa.h"

namespace sterna::actors {

/// One rank's optimizer, as [local_optimizer] says.
class LocalOptimizer {
 public:
  static Result<LocalOptimizer> make(const JobConfig& job, std::uint32_t rank,
                                     std::shared_ptr<const ParameterTable> table);
  const UpdateRule& rule() const { return rule_; }
  /// Of that step of a tensor.
  kernels::UpdateOptions options(const RankStep& step, std::uint32_t tensor) const;
  /// w becomes what a step from it with g leads to.
  void step(const RankStep& step, std::uint32_t tensor, std::span<const float> g,
            std::span<float> w);
  /// Its slots, by tensor of what is trained.
  std::vector<KeptArray> slots();
  /// The rate of a step, and nothing else of the rule.
  float rate(const RankStep& step) const;

 private:
  std::vector<std::span<float>> slots_of(std::uint32_t tensor);

  std::shared_ptr<const ParameterTable> table_;
  UpdateRule rule_;
  std::string name_;
  double factor_ = 1;
  kernels::Isa isa_ = kernels::Isa::scalar;
  std::vector<std::vector<std::shared_ptr<Buffer>>> slots_;  // by tensor
};

class WindowSteps final : public LocalSteps {
 public:
  WindowSteps(LocalOptimizer optimizer, std::shared_ptr<const ParameterTable> table,
              std::uint64_t window, Pushed pushed);
  void begin(const RankStep& step) override { step_ = step; }
  std::span<const float> gradient(std::uint32_t tensor, std::span<const float> g,
                                  std::span<float> w) override;
  void came(const TableChunk& place, std::span<const float> theirs, std::span<float> w) override;
  std::vector<KeptArray> kept() override { return optimizer_.slots(); }

  template <Pushed pushed>
  static Result<std::unique_ptr<LocalSteps>> make(const JobConfig& job, std::uint32_t rank,
                                                  std::shared_ptr<const ParameterTable> table) {
    STERNA_ASSIGN(LocalOptimizer optimizer, LocalOptimizer::make(job, rank, table));
    return std::unique_ptr<LocalSteps>(std::make_unique<WindowSteps>(
        std::move(optimizer), std::move(table), job.window(), pushed));
  }

 private:
  LocalOptimizer optimizer_;
  std::shared_ptr<const ParameterTable> table_;
  std::uint64_t window_;
  Pushed pushed_;
  RankStep step_;
  std::vector<std::vector<float>> sums_;   // of the window's gradients, by tensor
  std::vector<bool> begun_;                // whether the sum is this window's
  std::vector<std::vector<float>> bases_;  // what came, by tensor, where differences are pushed
};

}  // namespace sterna::actors
