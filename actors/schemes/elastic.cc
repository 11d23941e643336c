// aeasgd and aeamsgd: elastic averaging (Zhang, Choromanska and LeCun 2015, arXiv 1412.6651,
// algorithms 1 and 2). A rank keeps its parameters x all the time. At its steps t > 0 that the
// window divides it pulls the servers' x~, pushes e = alpha (x - x~), which they add, and takes
// what they were sent off its own: sums over all change by ranks' own steps only. That step's
// gradient is of the x before. aeamsgd: v' = delta v - rate g(x + delta v), x' = x + v' (Nesterov).
#include <algorithm>
#include <functional>
#include <utility>

#include "actors/schemes/device_elastic.h"
#include "actors/schemes/server_rules.h"
#include "actors/schemes/window_steps.h"
#include "actors/schemes/worker_rules.h"

namespace sterna::actors {
namespace {

class ElasticWorker final : public WorkerRules {
 public:
  using WorkerRules::WorkerRules;

  Exchange exchange(std::uint64_t step) const override {
    const std::uint64_t own = step - job().first_own_step();
    const bool meets = own % job().window() == 0;
    // A rank that begins has what the servers have; one that goes on has its own.
    const std::uint64_t alone = job().resumes ? 0 : 1;
    const std::uint64_t windows = own / job().window();
    return {.pulls = meets,
            .pushes = meets && windows >= alone,
            .push = job().first_step + (windows >= alone ? windows - alone : 0)};
  }
};

class ElasticSteps final : public LocalSteps {
 public:
  ElasticSteps(const JobConfig& job, LocalOptimizer optimizer,
               std::shared_ptr<const ParameterTable> table)
      : optimizer_(std::move(optimizer)),
        table_(std::move(table)),
        alpha_(static_cast<float>(job.scheme.moving_rate)),
        delta_(job.scheme.name == "aeamsgd" ? static_cast<float>(job.scheme.momentum) : 0),
        nesterov_(job.scheme.name == "aeamsgd") {
    tensors_.resize(table_->tensors.size());
  }

  static Result<std::unique_ptr<LocalSteps>> make(const JobConfig& job, std::uint32_t rank,
                                                  std::shared_ptr<const ParameterTable> table) {
    STERNA_ASSIGN(LocalOptimizer optimizer, LocalOptimizer::make(job, rank, table));
    return std::unique_ptr<LocalSteps>(
        std::make_unique<ElasticSteps>(job, std::move(optimizer), std::move(table)));
  }

  void begin(const RankStep& step) override { step_ = step; }

  std::span<const float> gradient(std::uint32_t tensor, std::span<const float> g,
                                  std::span<float> w) override {
    Tensor& own = tensors_[tensor];
    if (table_->tensors[tensor].spec.role == nets::Role::statistic) return statistic(own, g);
    if (step_.pushes) {
      own.push.resize(w.size());
      for (std::size_t i = 0; i < w.size(); ++i) own.push[i] = alpha_ * (own.x[i] - own.theirs[i]);
    }
    if (nesterov_) {
      const float rate = optimizer_.rate(step_);
      own.v.resize(w.size());
      for (std::size_t i = 0; i < w.size(); ++i) {
        own.v[i] = delta_ * own.v[i] - rate * g[i];
        own.x[i] += own.v[i];
        w[i] = own.x[i] + delta_ * own.v[i];
      }
    } else {
      optimizer_.step(step_, tensor, g, own.x);
      std::ranges::copy(own.x, w.begin());
    }
    return step_.pushes ? std::span<const float>(own.push) : std::span<const float>();
  }

  bool follows_what_is_sent() const override { return true; }

  void sent(const TableChunk& place, std::span<const float> decoded, std::span<float> w) override {
    if (table_->tensors[place.tensor].spec.role == nets::Role::statistic) return;
    Tensor& own = tensors_[place.tensor];
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      float& x = own.x[place.first + i];
      x -= decoded[i];
      w[i] = nesterov_ ? x + delta_ * own.v[place.first + i] : x;
    }
  }

  void came(const TableChunk& place, std::span<const float> theirs, std::span<float> w) override {
    Tensor& own = tensors_[place.tensor];
    const auto first = static_cast<std::ptrdiff_t>(place.first);
    own.theirs.resize(table_->tensors[place.tensor].count);
    std::ranges::copy(theirs, own.theirs.begin() + first);
    if (own.began >= own.theirs.size()) return;
    // The first version is where it begins.
    own.x.resize(own.theirs.size());
    std::ranges::copy(theirs, own.x.begin() + first);
    std::ranges::copy(theirs, w.begin());
    own.began += theirs.size();
  }

  std::vector<KeptArray> kept() override {
    std::vector<KeptArray> kept = nesterov_ ? std::vector<KeptArray>() : optimizer_.slots();
    for (std::uint32_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      const TableTensor& place = table_->tensors[tensor];
      Tensor& own = tensors_[tensor];
      if (place.spec.role == nets::Role::statistic) {
        own.window.resize(place.count + 1);
        kept.push_back({"statistics", tensor, own.window, true});
        continue;
      }
      if (place.frozen) continue;
      own.x.resize(place.count);
      kept.push_back({"own", tensor, own.x});
      if (!nesterov_) continue;
      own.v.resize(place.count);
      kept.push_back({"velocity", tensor, own.v});
    }
    return kept;
  }

  void restored(std::uint32_t tensor, std::span<float> w) override {
    Tensor& own = tensors_[tensor];
    own.began = own.x.size();
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] = nesterov_ ? own.x[i] + delta_ * own.v[i] : own.x[i];
    }
  }

 private:
  struct Tensor {
    std::vector<float> x, v, theirs, push;
    std::vector<float> window;  ///< of statistics: the batches' sum since the last push, how many
    std::size_t began = 0;      ///< elements that have their first values
  };

  /// Servers move towards the mean of all batches since the last push.
  std::span<const float> statistic(Tensor& own, std::span<const float> g) const {
    own.window.resize(g.size() + 1);
    const std::span<float> sum = std::span(own.window).first(g.size());
    float& batches = own.window.back();
    if (batches == 0) {
      std::ranges::copy(g, sum.begin());
    } else {
      std::ranges::transform(sum, g, sum.begin(), std::plus<>());
    }
    ++batches;
    if (!step_.pushes) return {};
    own.push.resize(g.size());
    std::ranges::transform(sum, own.push.begin(), [&](float one) { return one / batches; });
    batches = 0;
    return own.push;
  }

  LocalOptimizer optimizer_;
  std::shared_ptr<const ParameterTable> table_;
  float alpha_;
  float delta_;
  bool nesterov_;
  RankStep step_;
  std::vector<Tensor> tensors_;
};

}  // namespace

Scheme aeasgd_scheme() {
  return {.name = "aeasgd",
          .worker = make_worker<ElasticWorker>,
          .server = make_server<SingleRules>,
          .local_steps = ElasticSteps::make,
          .device_steps = DeviceElastic::make};
}

Scheme aeamsgd_scheme() {
  Scheme scheme = aeasgd_scheme();
  scheme.name = "aeamsgd";
  return scheme;
}

}  // namespace sterna::actors
