#include "nets/net.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "nets/layers/loss_head.h"
#include "nets/make_backend.h"
#include "nets/net_heads.h"
#include "nets/tensor/elementwise.h"
#include "nets/tensor/loss.h"

namespace sterna::nets {
namespace {

/// Libraries below report their failures by throwing; nothing above hears of it.
template <class Work>
Result<void> guarded(Work&& work) {
  try {
    std::forward<Work>(work)();
    return {};
  } catch (const std::exception& failure) {
    return Error{Errc::internal, fmt::format("computing failed: {}", failure.what())};
  }
}

}  // namespace

/// Adds up the gradients of passes that others follow.
class Net::Sum final : public Completion {
 public:
  explicit Sum(Net& net) : net_(net) {}
  void complete(Parameter& parameter) override {
    const std::span<const float> gradient = parameter.gradient.values();
    const std::span<float> sum = net_.sums_[net_.graph_->index_of(parameter)].values();
    std::transform(gradient.begin(), gradient.end(), sum.begin(), sum.begin(), std::plus<>());
  }

 private:
  Net& net_;
};

/// Completes each gradient with those of the passes before and its weight decay, and hands it on.
class Net::Decay final : public Completion {
 public:
  Decay(Net& net, GradientSink& sink)
      : net_(net), graph_(*net.graph_), decay_(net.options_.weight_decay), sink_(sink) {}
  void complete(Parameter& parameter) override {
    if (!net_.sums_.empty()) add_sum(parameter);
    if (parameter.spec.decay && decay_ > 0)
      sum_of_squares_ += add_decay(parameter.value.values(), decay_, parameter.gradient.values());
    sink_.gradient(graph_.index_of(parameter), parameter.gradient.values());
  }
  float loss() const { return static_cast<float>(0.5 * decay_ * sum_of_squares_); }

 private:
  /// The heads weigh their gradients by the number of passes; a statistic comes from no head.
  void add_sum(Parameter& parameter) {
    const std::span<float> sum = net_.sums_[graph_.index_of(parameter)].values();
    const std::span<float> gradient = parameter.gradient.values();
    const bool statistic = parameter.spec.role == Role::statistic;
    const float share = statistic ? 1.0F / static_cast<float>(net_.passes()) : 1.0F;
    for (std::size_t i = 0; i < sum.size(); ++i) gradient[i] = (gradient[i] + sum[i]) * share;
    std::ranges::fill(sum, 0.0F);  // for the next step
  }

  Net& net_;
  Graph& graph_;
  float decay_;
  GradientSink& sink_;
  double sum_of_squares_ = 0;
};

Net::Net(NetOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<Graph> graph,
         LossHead& head, LossHead* auxiliary)
    : options_(std::move(options)),
      backend_(std::move(backend)),
      graph_(std::move(graph)),
      input_(graph_->first()),
      head_(head),
      auxiliary_(auxiliary),
      memory_(graph_->finish()) {
  for (std::size_t i = 0; i < graph_->parameter_count(); ++i)
    specs_.push_back(graph_->parameter(i).spec);
  if (options_.trains && passes() > 1) {
    for (const ParameterSpec& spec : specs_) sums_.emplace_back(spec.shape);
  }
}

Net::~Net() = default;

std::vector<std::size_t> Net::input_shape() const {
  const Shape& shape = input_.shape();
  return {shape.begin() + 1, shape.end()};
}

std::size_t Net::classes() const { return head_.classes(); }

std::size_t Net::trained() const { return graph_->trained_count(); }

std::span<float> Net::parameter(std::size_t index) {
  return graph_->parameter(index).value.values();
}

void Net::parameters_changed(std::size_t index) { graph_->parameter_changed(index); }

std::uint64_t Net::reorders() const { return backend_->reorders(); }

Result<Net::Loss> Net::train_step(std::span<const float> images,
                                  std::span<const std::uint16_t> labels, GradientSink& sink,
                                  const StepDraw& draw) {
  STERNA_TRY(begin_step(images, labels, draw));
  STERNA_TRY(forward(specs_.size()));
  return finish_step(sink);
}

Result<Net::Loss> Net::train_step(const PixelImages& images, std::span<const std::uint16_t> labels,
                                  GradientSink& sink, const StepDraw& draw) {
  STERNA_TRY(begin_step(images, labels, draw));
  STERNA_TRY(forward(specs_.size()));
  return finish_step(sink);
}

Result<void> Net::check_step(std::size_t values, std::span<const std::uint16_t> labels) const {
  if (!options_.trains)
    return Error{Errc::invalid_argument, "a training step of a net that was made for inference"};
  const std::size_t expected = passes() * input_.value().size();
  if (values != expected || labels.size() != options_.batch)
    return Error{Errc::invalid_argument,
                 fmt::format("a batch of {} values and {} labels; this net takes {} and {}", values,
                             labels.size(), expected, options_.batch)};
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes())
      return Error{Errc::invalid_argument,
                   fmt::format("label {} of image {} of the batch is no class; there are {}",
                               labels[i], i, classes())};
  return {};
}

Result<void> Net::check_levels(const PixelImages& images, std::size_t count) const {
  const std::size_t levels = 2 * input_.shape()[1] * count;
  if (images.levels.size() == levels) return {};
  return Error{Errc::invalid_argument, fmt::format("{} levels for {} images; this net takes {}",
                                                   images.levels.size(), count, levels)};
}

void Net::set_labels(std::span<const std::uint16_t> labels) {
  head_.set_labels(labels);
  if (auxiliary_ != nullptr) auxiliary_->set_labels(labels);
}

float Net::cross_entropy() const {
  return head_.loss() + (auxiliary_ != nullptr ? auxiliary_->loss() : 0.0F);
}

void Net::begin_pass(std::size_t pass) {
  const std::size_t images = images_per_pass();
  const std::size_t first = pass * images;
  if (passes() > 1) {
    held_.write(first, images, input_.shape()[1], input_.value());
    set_labels(held_.labels(first, images));
  }
  StepDraw draw = draw_;
  draw.first_image += first;
  graph_->restart({Mode::training, draw});
}

Result<void> Net::begin_step(std::span<const float> images, std::span<const std::uint16_t> labels,
                             const StepDraw& draw) {
  STERNA_TRY(check_step(images.size(), labels));
  draw_ = draw;
  return guarded([&] {
    if (passes() > 1) {
      held_.hold(images, labels);
    } else {
      write(images, input_.value(), 0);
      set_labels(labels);
    }
    begin_pass(0);
  });
}

Result<void> Net::begin_step(const PixelImages& images, std::span<const std::uint16_t> labels,
                             const StepDraw& draw) {
  STERNA_TRY(check_step(images.pixels.size(), labels));
  STERNA_TRY(check_levels(images, labels.size()));
  draw_ = draw;
  return guarded([&] {
    if (passes() > 1) {
      held_.hold(images, labels);
    } else {
      to_values(images, labels.size(), input_.shape()[1], input_.value());
      set_labels(labels);
    }
    begin_pass(0);
  });
}

Result<bool> Net::forward(std::size_t readable) {
  bool complete = false;
  STERNA_TRY(guarded([&] { complete = graph_->forward(readable); }));
  return complete;
}

Result<Net::Loss> Net::finish_step(GradientSink& sink) {
  Loss loss;
  const Result<void> done = guarded([&] {
    for (std::size_t pass = 1; pass < passes(); ++pass) {
      Sum sum(*this);
      graph_->backward(sum);
      loss.cross_entropy += cross_entropy();
      begin_pass(pass);
      graph_->forward(specs_.size());
    }
    Decay decay(*this, sink);
    graph_->backward(decay);
    loss.cross_entropy += cross_entropy();
    loss.regularization = decay.loss();
  });
  if (done) return loss;
  for (Tensor& sum : sums_) clear(sum);  // the next step is another
  return done.error();
}

Result<void> Net::check_inference(std::size_t values, std::size_t count, std::size_t logits) const {
  const std::size_t most = images_per_pass();
  const std::size_t each = input_.value().size() / most;
  if (count <= most && values == count * each && logits == count * classes()) return {};
  return Error{Errc::invalid_argument,
               fmt::format("{} images in {} values to {} logits; this net takes up to {} images "
                           "of {} values and writes {} logits each",
                           count, values, logits, most, each, classes())};
}

Result<void> Net::run_inference(std::size_t count, std::span<float> logits) {
  return guarded([&] {
    Tensor& input = input_.value();
    const std::size_t used = count * (input.bytes() / images_per_pass());
    std::fill_n(input.memory() + used, input.bytes() - used, std::byte{0});
    graph_->restart({.mode = Mode::evaluation});
    graph_->forward(specs_.size());
    read(head_.logits(), 0, logits);
  });
}

Result<void> Net::infer(std::span<const float> images, std::size_t count, std::span<float> logits) {
  STERNA_TRY(check_inference(images.size(), count, logits.size()));
  write(images, input_.value(), 0);
  return run_inference(count, logits);
}

Result<void> Net::infer(const PixelImages& images, std::size_t count, std::span<float> logits) {
  STERNA_TRY(check_inference(images.pixels.size(), count, logits.size()));
  STERNA_TRY(check_levels(images, count));
  if (count > 0) to_values(images, count, input_.shape()[1], input_.value());
  return run_inference(count, logits);
}

float Net::loss(std::span<const float> logits, std::span<const std::uint16_t> labels,
                std::span<float> scratch) const {
  return head_.evaluate(logits, labels, scratch);
}

void Net::watch_activations(ActivationWatcher watcher) {
  if (!watcher) return graph_->watch(nullptr);
  graph_->watch([watcher = std::move(watcher)](const std::string& layer, const Tensor& value) {
    std::vector<float> values(value.size());
    read(value, 0, values);
    watcher(layer, values);
  });
}

Result<std::unique_ptr<Net>> make_net(const NetOptions& options) {
  STERNA_ASSIGN(const ZooNet* net, check_net_options(options));
  NetOptions chosen = options;
  if (chosen.label_smoothing < 0) chosen.label_smoothing = net->label_smoothing;
  return make_net(chosen, [&](Graph& graph) { return net->build(graph, zoo_options(options)); });
}

Result<std::unique_ptr<Net>> make_net(const NetOptions& options,
                                      const std::function<NetOutputs(Graph& graph)>& build) {
  STERNA_TRY(check_batch(options));
  if (!std::isfinite(options.weight_decay) || options.weight_decay < 0)
    return Error{Errc::invalid_argument,
                 fmt::format("a weight decay of {}; it is 0 or more", options.weight_decay)};
  STERNA_ASSIGN(auto backend, make_backend(options.backend));
  std::unique_ptr<Net> net;
  STERNA_TRY(guarded([&] {
    auto graph =
        std::make_unique<Graph>(*backend, GraphOptions{.shares_memory = true,
                                                       .trains = options.trains,
                                                       .element = options.backend.precision});
    const NetHeads heads = add_heads(*graph, build(*graph), std::max(0.0F, options.label_smoothing),
                                     options.batch / images_per_pass(options));
    net.reset(new Net(options, std::move(backend), std::move(graph), heads.main, heads.auxiliary));
  }));
  return net;
}

}  // namespace sterna::nets
