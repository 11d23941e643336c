// Hashes by which processes that each keep the parameters find out whether they still agree.
#pragma once

#include <mutex>
#include <utility>

#include "actors/job/messages.h"
#include "runtime/base/bytes.h"

namespace sterna::actors {

Hash hash_of(ByteView bytes);

/// A version of some parameters that several peers will ask the hash of: computed once, by
/// whichever thread needs it first.
class HashedOnce {
 public:
  explicit HashedOnce(Bytes parameters) : parameters_(std::move(parameters)) {}

  const Hash& get() {
    std::call_once(once_, [this] {
      hash_ = hash_of(parameters_.view());
      parameters_ = {};
    });
    return hash_;
  }

 private:
  Bytes parameters_;
  std::once_flag once_;
  Hash hash_{};
};

}  // namespace sterna::actors
