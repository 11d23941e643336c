#include "runtime/loop/timers.h"

#include <algorithm>

namespace sterna {

namespace {
constexpr std::size_t kRebuildAbove = 64;  // a small heap is not worth rebuilding

constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.when != b.when ? a.when > b.when : a.order > b.order;
};
std::uint32_t slot_of(Timers::Id id) { return static_cast<std::uint32_t>(id); }
std::uint32_t generation_of(Timers::Id id) { return static_cast<std::uint32_t>(id >> 32); }
}  // namespace

Timers::Id Timers::arm(Time when, Target& target) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].target = &target;
  const Id id = (static_cast<Id>(slots_[slot].generation) << 32) | slot;
  heap_.push_back({when, order_++, id});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  ++armed_;
  return id;
}

bool Timers::live(Id id) const {
  return slot_of(id) < slots_.size() && slots_[slot_of(id)].generation == generation_of(id) &&
         slots_[slot_of(id)].target != nullptr;
}

void Timers::release(Id id) {
  Slot& slot = slots_[slot_of(id)];
  slot.target = nullptr;
  if (++slot.generation == 0) slot.generation = 1;
  free_.push_back(slot_of(id));
  --armed_;
}

void Timers::cancel(Id id) {
  if (!live(id)) return;
  release(id);
  if (heap_.size() > kRebuildAbove && heap_.size() > 2 * armed_) rebuild();
}

void Timers::retarget(Id id, Target& target) {
  if (live(id)) slots_[slot_of(id)].target = &target;
}

void Timers::rebuild() {
  std::erase_if(heap_, [this](const Entry& entry) { return !live(entry.id); });
  std::make_heap(heap_.begin(), heap_.end(), kLater);
}

void Timers::drop_cancelled_top() {
  while (!heap_.empty() && !live(heap_.front().id)) {
    std::pop_heap(heap_.begin(), heap_.end(), kLater);
    heap_.pop_back();
  }
}

Time Timers::next() {
  drop_cancelled_top();
  return heap_.empty() ? kNever : heap_.front().when;
}

bool Timers::fire(Time now, int budget) {
  for (; budget > 0 && next() <= now; --budget) {
    const Id id = heap_.front().id;
    std::pop_heap(heap_.begin(), heap_.end(), kLater);
    heap_.pop_back();
    Target* target = slots_[slot_of(id)].target;
    release(id);
    target->timer_fired();
  }
  return next() <= now;
}

}  // namespace sterna
