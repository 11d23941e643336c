#include "nets/graph/graph.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace sterna::nets {
namespace {

Tensor like(const Tensor& tensor) { return Tensor(tensor.shape(), tensor.layout()); }

}  // namespace

Activation& Graph::input(Shape shape, Layout layout) {
  return activations_.emplace_back(Tensor(std::move(shape), layout), Tensor({0}));
}

Activation& Graph::output(Shape shape, Layout layout) {
  return activations_.emplace_back(Tensor(shape, layout), Tensor(shape, layout));
}

Activation& Graph::output_over(Activation& x) {
  Activation& y = activations_.emplace_back(&x);
  const bool alone = std::count_if(readings_.begin(), readings_.end(),
                                   [&](const Reading& one) { return &one.x_ == &x; }) == 1;
  if (alone) {
    x.over_ = &y;
  } else {
    lift(y);
  }
  return y;
}

/// From here on it has memory of its own.
void Graph::lift(Activation& over) {
  over.value_ = like(over.value());
  over.gradient_ = like(over.gradient());
  over.under_ = nullptr;
}

Reading& Graph::read(Activation& x) {
  if (x.over_ != nullptr) lift(*std::exchange(x.over_, nullptr));
  if (x.last_read_ != nullptr) x.last_read_->part_.emplace(like(x.gradient()));
  x.last_read_ = &readings_.emplace_back(x);
  unplaced_.push_back(x.last_read_);
  return *x.last_read_;
}

Parameter& Graph::parameter(ParameterSpec spec) {
  return parameters_.emplace_back(std::move(spec));
}

void Graph::place(std::unique_ptr<Layer> layer) {
  owners_.resize(parameters_.size(), layer.get());
  layers_.push_back({std::move(layer), parameters_.size(), std::exchange(unplaced_, {})});
}

void Graph::restart(Mode mode) {
  next_ = 0;
  mode_ = mode;
}

bool Graph::forward(std::size_t readable) {
  while (next_ < layers_.size() && layers_[next_].parameters <= readable) {
    layers_[next_++].layer->forward(mode_);
  }
  return next_ == layers_.size();
}

void Graph::backward(Completion& completion) {
  for (auto placed = layers_.rbegin(); placed != layers_.rend(); ++placed) {
    placed->layer->backward(completion);
    for (Reading* reading : placed->readings) {
      if (!reading->part_) continue;
      const std::span<float> sum = reading->x_.gradient().values();
      std::transform(sum.begin(), sum.end(), reading->part_->data(), sum.begin(), std::plus<>());
    }
  }
}

}  // namespace sterna::nets
