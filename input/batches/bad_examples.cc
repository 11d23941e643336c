#include "input/batches/bad_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sterna::input {

namespace {
constexpr std::size_t kNamed = 10;
}  // namespace

Result<void> BadExamples::add(std::uint64_t example, const Error& why) {
  const std::scoped_lock lock(mutex_);
  // Of few examples one may be, unless none may.
  const double most = most_ > 0 ? std::max(1.0, most_ * static_cast<double>(examples_)) : 0;
  const auto too_many = [&] { return static_cast<double>(bad_.size()) > most; };
  const bool is_new = !too_many() && bad_.insert(example).second;
  if (too_many()) {
    return Error{Errc::malformed,
                 fmt::format("{} of {} examples are damaged, more than data.most_bad = {} allows; "
                             "the last is {}",
                             bad_.size(), examples_, most_, why.message)};
  }
  if (is_new && first_.empty()) first_ = why.message;
  if (is_new && bad_.size() <= kNamed) {
    news_.push_back(fmt::format("left out, as it is damaged: {}{}", why.message,
                                bad_.size() == kNamed ? "; no more are named" : ""));
  }
  return {};
}

std::uint64_t BadExamples::count() const {
  const std::scoped_lock lock(mutex_);
  return bad_.size();
}

std::string BadExamples::first() const {
  const std::scoped_lock lock(mutex_);
  return first_;
}

std::vector<std::string> BadExamples::news() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace sterna::input
