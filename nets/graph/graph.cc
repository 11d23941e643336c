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
                     .hands_on = std::exchange(hands_on_, false),
                     .takes_part = std::exchange(takes_part_, false),
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
  std::vector<std::size_t> lies_with;  // in whose memory; mostly itself
  std::unordered_map<const Tensor*, std::size_t> place;

  void add(Tensor& tensor, std::size_t first, std::size_t last) {
    place[&tensor] = lives.size();
    lies_with.push_back(lives.size());
    lives.push_back({tensor.bytes(), first, last});
    tensors.push_back(&tensor);
  }
  void extend(const Tensor& tensor, std::size_t moment) {
    Life& life = lives[place.at(&tensor)];
    life.first = std::min(life.first, moment);
    life.last = std::max(life.last, moment);
  }
  std::size_t host_of(std::size_t life) const {
    while (lies_with[life] != life) life = lies_with[life];
    return life;
  }
  /// From here on they are one.
  void lay(const Tensor& tensor, const Tensor& with) {
    const std::size_t guest = host_of(place.at(&tensor)), host = host_of(place.at(&with));
    if (guest == host) return;
    lies_with[guest] = host;
    lives[host].first = std::min(lives[host].first, lives[guest].first);
    lives[host].last = std::max(lives[host].last, lives[guest].last);
  }
  /// With a place for each tensor.
  MemoryPlan plan() const {
    std::vector<Life> hosts;
    std::vector<std::size_t> index(lives.size());
    for (std::size_t i = 0; i < lives.size(); ++i) {
      if (lies_with[i] != i) continue;
      index[i] = hosts.size();
      hosts.push_back(lives[i]);
    }
    MemoryPlan plan = plan_memory(hosts);
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < lives.size(); ++i) {
      offsets.push_back(plan.offsets[index[host_of(i)]]);
    }
    plan.offsets = std::move(offsets);
    return plan;
  }
};

/// To layers that add it themselves: of each the first reading's part of its output's gradient, the
/// last that is added.
void Graph::leave_parts() {
  for (const Placed& placed : layers_) {
    if (!placed.takes_part) continue;
    const auto first = std::ranges::find_if(
        readings_, [&](const Reading& reading) { return &reading.x_ == placed.output; });
    if (first == readings_.end() || !first->part_) continue;
    first->left_ = true;
    placed.layer->take_part(*first->part_);
  }
}

Graph::Lives Graph::lives() {
  leave_parts();
  Lives found;
  for (Activation& one : activations_) {
    Activation& root = one.root();
    if (&root == &one) {
      found.add(one.value_, one.made_by_, one.made_by_);
      if (options_.trains && one.gradient_.size() > 0) {
        const std::size_t moment = backward_moment(one.made_by_);
        found.add(one.gradient_, moment, moment);
      }
    }
    found.extend(root.value_, one.made_by_);
    if (options_.trains && one.kept_) found.extend(root.value_, backward_moment(one.made_by_));
  }
  for (Reading& reading : readings_) {
    const Activation& root = reading.x_.root();
    found.extend(root.value_, reading.layer_);
    if (!options_.trains) continue;
    const std::size_t moment = backward_moment(reading.layer_);
    if (reading.uses_ == Uses::both) found.extend(root.value_, moment);
    if (root.gradient_.size() > 0) found.extend(root.gradient_, moment);
    if (reading.part_) found.add(*reading.part_, moment, part_lasts(reading));
  }
  if (!options_.trains) return found;
  for (const Placed& placed : layers_) {
    if (placed.hands_on) share_handed_on(placed, found);
  }
  return found;
}

/// What is read gets its gradient where that of the layer's output lies, as far as nobody writes
/// over it who is not the last to use it.
void Graph::share_handed_on(const Placed& placed, Lives& lives) {
  struct Guest {
    Tensor* gradient;
    const Activation* root;
    std::size_t last, written;
  };
  assert(placed.output != nullptr);
  const Tensor& handed = placed.output->gradient();
  std::vector<Guest> guests;
  // A later reading writes what an earlier one's is added to.
  for (auto reading = placed.readings.rbegin(); reading != placed.readings.rend(); ++reading) {
    Tensor* const gradient = (*reading)->gradient();
    if (gradient == nullptr || gradient->layout() != handed.layout()) continue;
    const Activation& root = (*reading)->x_.root();
    const bool part = (*reading)->part_.has_value();
    const Guest guest{gradient, &root,
                      part ? part_lasts(**reading) : backward_moment(root.made_by_),
                      written_again(**reading)};
    const bool in_the_way = std::ranges::any_of(guests, [&](const Guest& other) {
      return other.root == guest.root || other.written < guest.last || guest.written < other.last;
    });
    if (in_the_way) continue;
    lives.lay(*gradient, handed);
    guests.push_back(guest);
  }
}

/// When somebody writes to the gradient that this reading has given what it read, at the end of
/// that moment; later than any: nobody.
std::size_t Graph::written_again(const Reading& reading) const {
  std::size_t moment = 2 * layers_.size();
  if (reading.part_) return moment;
  const Activation& root = reading.x_.root();
  for (const Reading& other : readings_) {  // adds its own, or writes in place
    if (&other.x_.root() != &root || &other == &reading) continue;
    if (other.layer_ > reading.layer_) continue;
    moment = std::min(moment, backward_moment(other.layer_));
  }
  // Who has nobody to give a gradient to may write it over that of its output.
  const Placed& maker = layers_[root.made_by_];
  const bool over = maker.hands_on || maker.readings.empty() ||
                    std::ranges::any_of(maker.readings,
                                        [](Reading* read) { return read->gradient() == nullptr; });
  return over ? std::min(moment, backward_moment(root.made_by_)) : moment;
}

ActivationMemory Graph::memory() {
  const MemoryPlan plan = lives().plan();
  return {plan.bytes, plan.bound};
}

ActivationMemory Graph::finish() {
  ActivationMemory memory;
  if (options_.shares_memory) {
    const Lives found = lives();
    const MemoryPlan plan = found.plan();
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
  leave_parts();
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
      if (!reading->part_ || reading->left_) continue;
      Tensor& sum = reading->x_.gradient();
      backend_.memory().add(sum, *reading->part_, sum);
    }
  }
}

}  // namespace sterna::nets
