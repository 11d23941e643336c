// Examples that cannot be read or decoded: counted, told of, and at last too many.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// What one reader or evaluator found damaged. Any thread may call it.
class BadExamples {
 public:
  /// Of `examples`, at most the part `most` (0 to 1) may be damaged, or one; of a part of 0, none.
  BadExamples(std::uint64_t examples, double most) : examples_(examples), most_(most) {}

  /// Counts an example once. `malformed` from the one on that is too many, with what is wrong with
  /// it, whoever asks again.
  Result<void> add(std::uint64_t example, const Error& why);
  std::uint64_t count() const;
  /// What is wrong with the first; empty: none was found.
  std::string first() const;
  /// Lines for the log that nobody has taken yet: of the first few examples one each.
  std::vector<std::string> news();

 private:
  std::uint64_t examples_;
  double most_;
  mutable std::mutex mutex_;
  std::set<std::uint64_t> bad_;  // grows to one more than may be
  std::string first_;
  std::vector<std::string> news_;
};

}  // namespace sterna::input
