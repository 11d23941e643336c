#include "nets/graph/graph.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

#include "nets/backend/memory.h"

namespace sterna::nets {

Tensor Graph::made(Shape shape, Layout layout) const {
  return options_.shares_memory ? Tensor::unbound(std::move(shape), layout, options_.element)
                                : Tensor(std::move(shape), layout, options_.element);
}

Activation& Graph::input(Shape shape, Layout layout) {
  return activations_.emplace_back(made(std::move(shape), layout), Tensor({0}));
}

Activation& Graph::output(Shape shape, Layout layout, bool kept) {
  Activation& y = activations_.emplace_back(made(shape, layout), made(shape, layout));
  y.made_by_ = layers_.size();
  y.kept_ = kept;
  return y;
}

Activation& Graph::output_over(Activation& x) {
  Activation& y = activations_.emplace_back(&x);
  y.made_by_ = layers_.size();
  y.kept_ = true;
  const bool alone = std::count_if(readings_.begin(), readings_.end(),
                                   [&](const Reading& one) { return &one.x_ == &x; }) == 1;
  if (alone && !x.kept_) {
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

Reading& Graph::read(Activation& x, Uses uses) {
  if (x.over_ != nullptr) lift(*std::exchange(x.over_, nullptr));
  const bool wanted = x.gradient().size() > 0;  // not the input's
  if (x.last_read_ != nullptr && wanted) x.last_read_->part_.emplace(like(x.gradient()));
  x.last_read_ = &readings_.emplace_back(x, layers_.size(), uses);
  unplaced_.push_back(x.last_read_);
  return *x.last_read_;
}

Parameter& Graph::parameter(ParameterSpec spec) {
  auto& kind = spec.role == Role::statistic ? statistics_ : trained_;
  Parameter& parameter = kind.emplace_back(std::move(spec)).parameter;
  unplaced_parameters_.push_back(&parameter);
  if (!options_.shares_memory) {
    parameter.value.allocate();
    parameter.gradient.allocate();
  }
  return parameter;
}

std::size_t Graph::index_of(const Parameter& parameter) const {
  std::size_t index = 0;
  for (const auto* kind : {&trained_, &statistics_}) {
    for (const Owned& owned : *kind) {
      if (&owned.parameter == &parameter) return index;
      ++index;
    }
  }
  assert(false && "a parameter of another graph");
  return index;
}

void Graph::parameter_changed(std::size_t index) {
  const std::size_t trained = trained_.size();
  Owned& owned = index < trained ? trained_[index] : statistics_[index - trained];
  owned.owner->parameter_changed(owned.parameter);
}

void Graph::place(std::unique_ptr<Layer> layer, const std::optional<NodeSpec>& what) {
  for (auto* kind : {&trained_, &statistics_}) {
    for (auto owned = kind->rbegin(); owned != kind->rend() && owned->owner == nullptr; ++owned) {
      owned->owner = layer.get();
    }
  }
  Node node;
  node.parameters = std::exchange(unplaced_parameters_, {});
  if (what && !training_only_) {
    node.what = *what;
    for (const Reading* reading : unplaced_) node.inputs.push_back(&reading->x_);
    node.output = &activations_.back();
    nodes_.push_back(std::move(node));
  }
  Activation& last = activations_.back();
  const bool writes = activations_.size() > 1 && last.made_by_ == layers_.size();
  layers_.push_back({.layer = std::move(layer),
                     .parameters = trained_.size(),
                     .readings = std::exchange(unplaced_, {}),
                     .training_only = training_only_,
                     .output = writes ? &last : nullptr});
}

void Graph::name_watched() {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::size_t before = i == 0 ? 0 : layers_[i - 1].parameters;
    if (layers_[i].parameters == before || layers_[i].output == nullptr) continue;
    std::size_t last = i;
    for (std::size_t next = i + 1; next < layers_.size(); ++next) {
      const Placed& follows = layers_[next];
      const bool reads_it_alone =
          follows.readings.size() == 1 && &follows.readings.front()->x_ == layers_[last].output;
      if (!reads_it_alone || follows.output == nullptr) break;
      if (follows.parameters != layers_[i].parameters) break;
      last = next;
    }
    const std::string& name = trained_[layers_[i].parameters - 1].parameter.spec.name;
    layers_[last].watched = name.substr(0, name.rfind('/'));
  }
}

/// Tensors with the time in which they are used: layer i runs forward at i, and of n layers
/// backward at 2n - 1 - i.
struct Graph::Lives {
  std::vector<Life> lives;
  std::vector<Tensor*> tensors;

  std::size_t add(Tensor& tensor, std::size_t first, std::size_t last) {
    lives.push_back({tensor.bytes(), first, last});
    tensors.push_back(&tensor);
    return lives.size() - 1;
  }
  void extend(std::size_t life, std::size_t moment) {
    lives[life].first = std::min(lives[life].first, moment);
    lives[life].last = std::max(lives[life].last, moment);
  }
};

Graph::Lives Graph::lives() {
  const auto backward = [&](std::size_t layer) { return 2 * layers_.size() - 1 - layer; };
  Lives found;
  std::unordered_map<const Activation*, std::size_t> values, gradients;  // of roots
  for (Activation& one : activations_) {
    Activation& root = one.root();
    if (&root == &one) {
      values[&root] = found.add(one.value_, one.made_by_, one.made_by_);
      if (options_.trains && one.gradient_.size() > 0) {
        const std::size_t moment = backward(one.made_by_);
        gradients[&root] = found.add(one.gradient_, moment, moment);
      }
    }
    found.extend(values.at(&root), one.made_by_);
    if (options_.trains && one.kept_) found.extend(values.at(&root), backward(one.made_by_));
  }
  for (Reading& reading : readings_) {
    const Activation& root = reading.x_.root();
    found.extend(values.at(&root), reading.layer_);
    if (!options_.trains) continue;
    const std::size_t moment = backward(reading.layer_);
    if (reading.uses_ == Uses::both) found.extend(values.at(&root), moment);
    if (gradients.contains(&root)) found.extend(gradients.at(&root), moment);
    if (reading.part_) found.add(*reading.part_, moment, moment);
  }
  return found;
}

ActivationMemory Graph::memory() {
  const MemoryPlan plan = plan_memory(lives().lives);
  return {plan.bytes, plan.bound};
}

ActivationMemory Graph::finish() {
  ActivationMemory memory;
  if (options_.shares_memory) {
    const Lives found = lives();
    const MemoryPlan plan = plan_memory(found.lives);
    memory = {plan.bytes, plan.bound};
    Memory& memory_of = backend_.memory();
    arena_ = memory_of.allocate(plan.bytes);
    for (std::size_t i = 0; i < found.tensors.size(); ++i) {
      found.tensors[i]->bind(arena_.get() + plan.offsets[i]);
    }
    const auto allocate = [&](Tensor& tensor) { tensor.bind(memory_of.allocate(tensor.bytes())); };
    for (std::size_t i = 0; i < parameter_count(); ++i) {
      allocate(parameter(i).value);
      if (options_.trains) allocate(parameter(i).gradient);
    }
  }
  for (const Placed& placed : layers_) placed.layer->ready();
  name_watched();
  return memory;
}

void Graph::restart(const Pass& pass) {
  next_ = 0;
  pass_ = pass;
  for (const Placed& placed : layers_) placed.layer->begin(pass);
}

bool Graph::forward(std::size_t readable) {
  while (next_ < layers_.size() && layers_[next_].parameters <= readable) {
    const Placed& placed = layers_[next_++];
    const bool trains = pass_.mode == Mode::training;
    if (trains || !placed.training_only) placed.layer->forward(pass_);
    if (trains && watcher_ && !placed.watched.empty()) {
      watcher_(placed.watched, placed.output->value());
    }
  }
  return next_ == layers_.size();
}

void Graph::backward(Completion& completion) {
  for (auto placed = layers_.rbegin(); placed != layers_.rend(); ++placed) {
    placed->layer->backward(completion);
    for (Reading* reading : placed->readings) {
      if (!reading->part_) continue;
      Tensor& sum = reading->x_.gradient();
      backend_.memory().add(sum, *reading->part_, sum);
    }
  }
}

}  // namespace sterna::nets
