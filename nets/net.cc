#include "nets/net.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nets/graph/graph.h"
#include "nets/layers/loss_head.h"
#include "nets/make_backend.h"
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

/// Completes each gradient with its weight decay, and hands it on.
class Net::Decay final : public Completion {
 public:
  Decay(Graph& graph, float decay, GradientSink& sink)
      : graph_(graph), decay_(decay), sink_(sink) {}
  void complete(std::size_t index) override {
    Parameter& parameter = graph_.parameter(index);
    if (parameter.spec.decay && decay_ > 0)
      sum_of_squares_ += add_decay(parameter.value.values(), decay_, parameter.gradient.values());
    sink_.gradient(index, parameter.gradient.values());
  }
  float loss() const { return static_cast<float>(0.5 * decay_ * sum_of_squares_); }

 private:
  Graph& graph_;
  float decay_;
  GradientSink& sink_;
  double sum_of_squares_ = 0;
};

Net::Net(NetOptions options, std::unique_ptr<Backend> backend, std::unique_ptr<Graph> graph,
         LossHead& head)
    : options_(std::move(options)),
      backend_(std::move(backend)),
      graph_(std::move(graph)),
      input_(graph_->first()),
      head_(head) {
  for (std::size_t i = 0; i < graph_->parameter_count(); ++i)
    specs_.push_back(graph_->parameter(i).spec);
}

Net::~Net() = default;

std::vector<std::size_t> Net::input_shape() const {
  const Shape& shape = input_.shape();
  return {shape.begin() + 1, shape.end()};
}

std::size_t Net::classes() const { return head_.classes(); }

std::span<float> Net::parameter(std::size_t index) {
  return graph_->parameter(index).value.values();
}

void Net::parameters_changed(std::size_t index) { graph_->parameter_changed(index); }

std::uint64_t Net::reorders() const { return backend_->reorders(); }

Result<Net::Loss> Net::train_step(std::span<const float> images,
                                  std::span<const std::uint16_t> labels, GradientSink& sink) {
  STERNA_TRY(begin_step(images, labels));
  STERNA_TRY(forward(specs_.size()));
  return finish_step(sink);
}

Result<void> Net::begin_step(std::span<const float> images, std::span<const std::uint16_t> labels) {
  if (images.size() != input_.value().size() || labels.size() != options_.batch)
    return Error{Errc::invalid_argument,
                 fmt::format("a batch of {} values and {} labels; this net takes {} and {}",
                             images.size(), labels.size(), input_.value().size(), options_.batch)};
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes())
      return Error{Errc::invalid_argument,
                   fmt::format("label {} of image {} of the batch is no class; there are {}",
                               labels[i], i, classes())};
  std::copy(images.begin(), images.end(), input_.value().data());
  head_.set_labels(labels);
  graph_->restart(Mode::training);
  return {};
}

Result<bool> Net::forward(std::size_t readable) {
  bool complete = false;
  STERNA_TRY(guarded([&] { complete = graph_->forward(readable); }));
  return complete;
}

Result<Net::Loss> Net::finish_step(GradientSink& sink) {
  Loss loss;
  STERNA_TRY(guarded([&] {
    Decay decay(*graph_, options_.weight_decay, sink);
    graph_->backward(decay);
    loss.cross_entropy = head_.loss();
    loss.regularization = decay.loss();
  }));
  return loss;
}

Result<void> Net::infer(std::span<const float> images, std::size_t count, std::span<float> logits) {
  const std::size_t pixels = input_.value().size() / options_.batch;
  if (count > options_.batch || images.size() != count * pixels ||
      logits.size() != count * classes())
    return Error{
        Errc::invalid_argument,
        fmt::format("{} images in {} values to {} logits; this net takes up to {} images "
                    "of {} values and writes {} logits each",
                    count, images.size(), logits.size(), options_.batch, pixels, classes())};
  return guarded([&] {
    const std::span<float> input = input_.value().values();
    const auto rest = std::copy(images.begin(), images.end(), input.begin());
    std::fill(rest, input.end(), 0.0F);
    graph_->restart(Mode::evaluation);
    graph_->forward(specs_.size());
    std::copy_n(head_.logits().data(), logits.size(), logits.begin());
  });
}

Result<std::unique_ptr<Net>> make_net(const NetOptions& options) {
  const ZooNet* net = find_net(options.name);
  if (net == nullptr)
    return Error{Errc::invalid_argument, fmt::format("no net is called \"{}\"; there are: {}",
                                                     options.name, fmt::join(net_names(), ", "))};
  if (!net->takes_hidden && !options.hidden.empty())
    return Error{
        Errc::invalid_argument,
        fmt::format("the widths of hidden layers for {}, which has its own", options.name)};
  if (std::find(options.hidden.begin(), options.hidden.end(), 0U) != options.hidden.end())
    return Error{Errc::invalid_argument, "a hidden layer of 0 units"};
  return make_net(options, [&](Graph& graph) -> Activation& {
    return net->build(graph, options.batch, options.hidden);
  });
}

Result<std::unique_ptr<Net>> make_net(const NetOptions& options,
                                      const std::function<Activation&(Graph& graph)>& build) {
  if (options.batch == 0) return Error{Errc::invalid_argument, "a batch of 0 images"};
  if (!std::isfinite(options.weight_decay) || options.weight_decay < 0)
    return Error{Errc::invalid_argument,
                 fmt::format("a weight decay of {}; it is 0 or more", options.weight_decay)};
  STERNA_ASSIGN(auto backend, make_backend(options.backend));
  std::unique_ptr<Net> net;
  STERNA_TRY(guarded([&] {
    auto graph = std::make_unique<Graph>(*backend);
    LossHead& head = loss_head(*graph, build(*graph));
    net.reset(new Net(options, std::move(backend), std::move(graph), head));
  }));
  return net;
}

}  // namespace sterna::nets
