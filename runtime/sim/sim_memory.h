// SimMemory: KeptMemory of simulated processes, by their names: what a test's host holds.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/actor/kept_memory.h"

namespace sterna {

/// All that a simulated node, or a test, holds.
class SimMemory {
 public:
  /// What an incarnation of `name` has. Outlives this object.
  std::unique_ptr<KeptMemory> of(const std::string& name) {
    std::shared_ptr<std::shared_ptr<Buffer>>& place = by_name_[name];
    if (place == nullptr) place = std::make_shared<std::shared_ptr<Buffer>>();
    return std::make_unique<Kept>(place);
  }
  void forget(const std::string& name) {
    by_name_.erase(name);
    arriving_.erase(name);
  }
  /// What lies there now; null: nothing.
  std::shared_ptr<Buffer> contents(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : *found->second;
  }
  /// A piece of `size` bytes that take the place of all that lay there once the last has come.
  Result<void> put(const std::string& name, std::uint64_t offset, std::uint64_t size,
                   ByteView bytes) {
    if (offset == 0) arriving_[name] = std::make_shared<Buffer>(size);
    const auto found = arriving_.find(name);
    if (found == arriving_.end() || found->second->size() != size || offset > size ||
        bytes.size() > size - offset) {
      return Error{Errc::invalid_argument, "another piece of kept memory is to come"};
    }
    const auto place = found->second->bytes().subspan(offset, bytes.size());
    std::copy(bytes.begin(), bytes.end(), place.begin());
    if (offset + bytes.size() < size) return {};
    by_name_[name] = std::make_shared<std::shared_ptr<Buffer>>(std::move(found->second));
    arriving_.erase(found);
    return {};
  }
  /// Of how many actors there is memory.
  std::size_t count() const { return by_name_.size(); }

 private:
  class Kept final : public KeptMemory {
   public:
    explicit Kept(std::shared_ptr<std::shared_ptr<Buffer>> place) : place_(std::move(place)) {}
    std::size_t size() const override { return *place_ == nullptr ? 0 : (*place_)->size(); }
    Result<Region> take(std::size_t bytes) override {
      if (taken_) return Error{Errc::already_exists, "the kept memory is in use"};
      if (*place_ == nullptr) *place_ = std::make_shared<Buffer>(bytes);
      if (bytes != size()) return Error{Errc::invalid_argument, "another size than before"};
      taken_ = true;
      return Region{*place_, (*place_)->bytes()};
    }

   private:
    std::shared_ptr<std::shared_ptr<Buffer>> place_;
    bool taken_ = false;
  };

  std::map<std::string, std::shared_ptr<std::shared_ptr<Buffer>>> by_name_;
  std::map<std::string, std::shared_ptr<Buffer>> arriving_;
};

}  // namespace sterna
