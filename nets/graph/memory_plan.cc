#include "nets/graph/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sterna::nets {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t most_at_once(std::span<const Life> lives) {
  std::map<std::size_t, std::ptrdiff_t> changes;
  for (const Life& life : lives) {
    const auto bytes = static_cast<std::ptrdiff_t>(aligned(life.bytes));
    changes[life.first] += bytes;
    changes[life.last + 1] -= bytes;
  }
  std::ptrdiff_t now = 0, most = 0;
  for (const auto& [moment, change] : changes) most = std::max(most, now += change);
  return static_cast<std::size_t>(most);
}

}  // namespace

MemoryPlan plan_memory(std::span<const Life> lives) {
  struct Placed {
    std::size_t begin, end;
    const Life* life;
  };
  std::vector<std::size_t> order(lives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return lives[i].bytes; });
  MemoryPlan plan{std::vector<std::size_t>(lives.size()), 0, most_at_once(lives)};
  std::vector<Placed> placed;  // by where they begin
  for (const std::size_t i : order) {
    const Life& life = lives[i];
    const std::size_t size = aligned(life.bytes);
    std::size_t at = 0;
    for (const Placed& other : placed) {
      if (other.life->last < life.first || life.last < other.life->first) continue;
      if (at + size <= other.begin) break;
      at = std::max(at, other.end);
    }
    plan.offsets[i] = at;
    plan.bytes = std::max(plan.bytes, at + size);
    const Placed made{at, at + size, &life};
    placed.insert(std::ranges::upper_bound(placed, at, {}, &Placed::begin), made);
  }
  return plan;
}

}  // namespace sterna::nets
