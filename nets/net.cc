#include "nets/net.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "nets/backend/decay.h"
#include "nets/backend/failure.h"
#include "nets/backend/parameter_versions.h"
#include "nets/backend/repeated_pass.h"
#include "nets/layers/loss_head.h"
#include "nets/make_backend.h"
#include "nets/net_heads.h"

namespace sterna::nets {
namespace {

/// Libraries below report their failures by throwing; nothing above hears of it.
template <class Work>
Result<void> guarded(Work&& work) {
  try {
    std::forward<Work>(work)();
    return {};
  } catch (const BackendFailure& failure) {
    return failure.error();
  } catch (const std::exception& failure) {
    return Error{Errc::internal, fmt::format("computing failed: {}", failure.what())};
  }
}

std::vector<std::size_t> sizes_of_parameters(Graph& graph) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    sizes.push_back(graph.parameter(i).spec.count());
  }
  return sizes;
}

}  // namespace

/// Adds up the gradients of passes that others follow.
class Net::Sum final : public Completion {
 public:
  explicit Sum(Net& net) : net_(net) {}
  void complete(std::span<Parameter* const> parameters) override {
    for (const Parameter* parameter : parameters) {
      if (parameter == nullptr) continue;
      Tensor& sum = net_.sums_[net_.graph_->index_of(*parameter)];
      net_.backend_->memory().add(sum, parameter->gradient, sum);
    }
  }

 private:
  Net& net_;
};

/// Completes each gradient with those of the passes before and its weight decay, and hands it on.
class Net::Completed final : public Completion {
 public:
  Completed(Net& net, GradientSink& sink)
      : net_(net), sink_(sink), lowest_(net.graph_->trained_count()), released_(lowest_) {}
  void complete(std::span<Parameter* const> parameters) override {
    indices_.clear();
    for (const Parameter* parameter : parameters) {
      if (parameter != nullptr) indices_.push_back(net_.graph_->index_of(*parameter));
    }
    assert(!indices_.empty());
    const std::size_t first = std::ranges::min(indices_);
    if (first < lowest_) release(first);
    for (const std::size_t index : indices_) make_whole(index);
    kernels::DeviceEvent* const there = net_.versions_->completed(first);
    for (const std::size_t index : indices_) {
      sink_.gradient(index, {net_.gradient_place(index), there});
    }
  }
  /// A layer's gradients are complete before it passes on to the layer below: what comes from below
  /// says that all above are read no more.
  void release(std::size_t index) {
    net_.versions_->released(lowest_, released_);
    released_ = std::exchange(lowest_, index);
  }
  /// After the lowest layer.
  void end() { net_.versions_->released(0, released_); }

 private:
  void make_whole(std::size_t index) {
    Parameter& parameter = net_.graph_->parameter(index);
    if (!net_.sums_.empty()) add_sum(parameter, net_.sums_[index]);
    if (net_.decay_ && parameter.spec.decay) net_.decay_->add(parameter.value, parameter.gradient);
  }
  /// The heads weigh their gradients by the number of passes; a statistic comes from no head.
  void add_sum(Parameter& parameter, Tensor& sum) {
    Memory& memory = net_.backend_->memory();
    memory.add(parameter.gradient, sum, parameter.gradient);
    if (parameter.spec.role == Role::statistic) {
      memory.scale(parameter.gradient, 1.0F / static_cast<float>(net_.passes()));
    }
    memory.clear(sum, 0);  // for the next step
  }

  Net& net_;
  GradientSink& sink_;
  std::vector<std::size_t> indices_;  // of what is being completed
  std::size_t lowest_;                // whose gradient was handed out
  std::size_t released_;              // from here on all are
};

Net::Net(NetOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<Graph> graph,
         const NetHeads& heads)
    : options_(std::move(options)),
      backend_(std::move(backend)),
      graph_(std::move(graph)),
      input_(graph_->first()),
      head_(heads.main),
      auxiliary_(heads.auxiliary),
      memory_(graph_->finish()),
      versions_(backend_->parameter_versions(sizes_of_parameters(*graph_))) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < graph_->parameter_count(); ++i) {
    specs_.push_back(graph_->parameter(i).spec);
    if (specs_.back().decay) most = std::max(most, specs_.back().count());
  }
  if (options_.trains && options_.weight_decay > 0 && most > 0) {
    decay_ = backend_->decay({.most = most, .decay = options_.weight_decay});
  }
  const std::size_t channels = input_.shape()[1];
  backend_->memory().expect_images(input_.value().size(), 2 * channels * images_per_pass());
  if (options_.trains && passes() == 1) {
    forwards_ = backend_->repeated_pass();
    backwards_ = backend_->repeated_pass();
  }
  if (options_.trains && passes() > 1) {
    for (const ParameterSpec& spec : specs_) {
      Tensor& sum = sums_.emplace_back(Tensor::unbound(spec.shape));
      sum.bind(backend_->memory().allocate(sum.bytes()));
    }
  }
}

Net::~Net() { backend_->memory().finish(); }

std::vector<std::size_t> Net::input_shape() const {
  const Shape& shape = input_.shape();
  return {shape.begin() + 1, shape.end()};
}

std::size_t Net::classes() const { return head_.classes(); }

std::size_t Net::trained() const { return graph_->trained_count(); }

std::span<float> Net::parameter(std::size_t index) {
  return graph_->parameter(index).value.values();
}

std::span<const float> Net::gradient_place(std::size_t index) const {
  return graph_->parameter(index).gradient.values();
}

void Net::parameters_changed(std::size_t index) {
  const Result<void> changed = guarded([&] {
    versions_->changed(index);
    graph_->parameter_changed(index);
  });
  if (!changed) changed_ = changed.error();
}

Result<void> Net::write_parameter(std::size_t index, std::size_t first,
                                  std::span<const float> values) {
  return guarded([&] { versions_->write(index, graph_->parameter(index).value, first, values); });
}

Result<void> Net::update_parameter(
    std::size_t index,
    const std::function<Result<void>(kernels::DeviceStream& stream, float* values)>& work) {
  return guarded([&] { versions_->write_by(index, graph_->parameter(index).value, work); });
}

Result<void> Net::read_parameter(std::size_t index, std::size_t first, std::span<float> out) {
  return guarded([&] { versions_->read(index, graph_->parameter(index).value, first, out); });
}

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

void Net::set_labels(std::span<const std::uint16_t> labels, std::size_t pass) {
  head_.set_labels(labels, pass);
  if (auxiliary_ != nullptr) auxiliary_->set_labels(labels, pass);
}

float Net::cross_entropy(std::size_t pass) const {
  return head_.loss(pass) + (auxiliary_ != nullptr ? auxiliary_->loss(pass) : 0.0F);
}

void Net::begin_pass(std::size_t pass) {
  const std::size_t images = images_per_pass();
  const std::size_t first = pass * images;
  if (passes() > 1) {
    held_.write(first, images, input_.shape()[1], backend_->memory(), input_.value());
    set_labels(held_.labels(first, images), pass);
  }
  StepDraw draw = draw_;
  draw.first_image += first;
  graph_->restart({Mode::training, draw});
}

Result<void> Net::begin_step(std::span<const float> images, std::span<const std::uint16_t> labels,
                             const StepDraw& draw) {
  STERNA_TRY(check_step(images.size(), labels));
  draw_ = draw;
  staged_ = false;
  return guarded([&] {
    if (passes() > 1) {
      held_.hold(images, labels);
    } else {
      backend_->memory().write(images, input_.value(), 0);
      set_labels(labels, 0);
    }
    begin_pass(0);
  });
}

Result<void> Net::begin_step(const PixelImages& images, std::span<const std::uint16_t> labels,
                             const StepDraw& draw) {
  STERNA_TRY(check_step(images.pixels.size(), labels));
  STERNA_TRY(check_levels(images, labels.size()));
  if (passes() == 1) {
    STERNA_TRY(guarded([&] { backend_->memory().stage(images); }));
    return begin_staged(labels, draw);
  }
  draw_ = draw;
  return guarded([&] {
    held_.hold(images, labels);
    begin_pass(0);
  });
}

Result<void> Net::begin_staged(std::span<const std::uint16_t> labels, const StepDraw& draw) {
  draw_ = draw;
  staged_ = false;
  return guarded([&] {
    backend_->memory().write_staged(labels.size(), input_.shape()[1], input_.value());
    set_labels(labels, 0);
    begin_pass(0);
  });
}

Result<void> Net::stage(const PixelImages& images) {
  if (!stages())
    return Error{Errc::invalid_argument, "this net takes no images before their step begins"};
  if (images.pixels.size() != input_.value().size())
    return Error{Errc::invalid_argument, fmt::format("a batch of {} values; this net takes {}",
                                                     images.pixels.size(), input_.value().size())};
  STERNA_TRY(check_levels(images, options_.batch));
  STERNA_TRY(guarded([&] { backend_->memory().stage(images); }));
  staged_ = true;
  return {};
}

Result<void> Net::begin_step(std::span<const std::uint16_t> labels, const StepDraw& draw) {
  if (!staged_) return Error{Errc::invalid_argument, "a step of images that were not staged"};
  STERNA_TRY(check_step(input_.value().size(), labels));
  return begin_staged(labels, draw);
}

Result<bool> Net::forward(std::size_t readable) {
  if (changed_) return *changed_;
  bool complete = false;
  const bool at_once = graph_->begins() && readable >= graph_->trained_count();
  STERNA_TRY(guarded([&] {
    if (!at_once || forwards_ == nullptr || !graph_->repeats()) {
      complete = graph_->forward(readable);
      return;
    }
    forwards_->run([&] {
      graph_->rewind();
      graph_->forward(readable);
    });
    graph_->pass_forward();
    complete = true;
  }));
  return complete;
}

void Net::run_backward(GradientSink& sink) {
  const auto run = [this](GradientSink& to) {
    if (decay_) decay_->begin();
    Completed completed(*this, to);
    graph_->backward(completed);
    completed.end();
  };
  if (backwards_ == nullptr || !graph_->repeats()) return run(sink);
  // Gradients are handed on once the pass is on its way: their events say when each is there.
  struct Kept final : GradientSink {
    explicit Kept(std::vector<Handed>& to) : handed(to) {}
    void gradient(std::size_t index, const Gradient& gradient) override {
      handed.push_back({index, gradient});
    }
    std::vector<Handed>& handed;
  } kept(handed_);
  backwards_->run([&] {
    handed_.clear();
    run(kept);
  });
  for (const Handed& one : handed_) sink.gradient(one.index, one.gradient);
}

Result<void> Net::backward(GradientSink& sink) {
  Result<void> done = guarded([&] {
    for (std::size_t pass = 1; pass < passes(); ++pass) {
      Sum sum(*this);
      graph_->backward(sum);
      begin_pass(pass);
      graph_->forward(specs_.size());
    }
    run_backward(sink);
  });
  if (done) return done;
  static_cast<void>(guarded([&] {  // the next step is another
    for (Tensor& sum : sums_) backend_->memory().clear(sum, 0);
  }));
  return done;
}

Result<Net::Loss> Net::step_loss() {
  Loss loss;
  STERNA_TRY(guarded([&] {
    for (std::size_t pass = 0; pass < passes(); ++pass) loss.cross_entropy += cross_entropy(pass);
    loss.regularization = decay_ ? decay_->loss() : 0.0F;
  }));
  return loss;
}

Result<Net::Loss> Net::finish_step(GradientSink& sink) {
  STERNA_TRY(backward(sink));
  return step_loss();
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
  if (changed_) return *changed_;
  return guarded([&] {
    Memory& memory = backend_->memory();
    Tensor& input = input_.value();
    memory.clear(input, count * (input.size() / images_per_pass()));
    graph_->restart({.mode = Mode::evaluation});
    graph_->forward(specs_.size());
    memory.read(head_.logits(), 0, logits);
  });
}

Result<void> Net::infer(std::span<const float> images, std::size_t count, std::span<float> logits) {
  STERNA_TRY(check_inference(images.size(), count, logits.size()));
  STERNA_TRY(guarded([&] { backend_->memory().write(images, input_.value(), 0); }));
  return run_inference(count, logits);
}

Result<void> Net::infer(const PixelImages& images, std::size_t count, std::span<float> logits) {
  STERNA_TRY(check_inference(images.pixels.size(), count, logits.size()));
  STERNA_TRY(check_levels(images, count));
  staged_ = false;
  if (count > 0) {
    STERNA_TRY(guarded(
        [&] { backend_->memory().write(images, count, input_.shape()[1], input_.value()); }));
  }
  return run_inference(count, logits);
}

float Net::loss(std::span<const float> logits, std::span<const std::uint16_t> labels,
                std::span<float> scratch) const {
  return head_.evaluate(logits, labels, scratch);
}

void Net::watch_activations(ActivationWatcher watcher) {
  if (!watcher) return graph_->watch(nullptr);
  graph_->watch([watcher = std::move(watcher), &memory = backend_->memory()](
                    const std::string& layer, const Tensor& value) {
    std::vector<float> values(value.size());
    memory.read(value, 0, values);
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
    net.reset(new Net(options, std::move(backend), std::move(graph), heads));
  }));
  return net;
}

}  // namespace sterna::nets
