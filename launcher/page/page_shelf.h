// PageShelf: texts that pages ask for by name and that take a while to make: whoever makes them
// does so between two askings. Pure but for its lock.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"

namespace sterna::launcher {

class PageShelf {
 public:
  static constexpr std::size_t kMost = 32;  ///< names; of more the one asked for longest ago goes

  /// What was made last; nothing: it is not made yet. Wants it made (again).
  std::optional<std::string> get(const std::string& name, Time now);
  /// Makes what is wanted and was not made within `fresh`. What make() gives is there from then on,
  /// also of a name that it does not know ("null").
  void make_wanted(Time now, Duration fresh,
                   const std::function<std::string(const std::string& name)>& make);

 private:
  struct Item {
    std::optional<std::string> text = {};
    bool wanted = false;
    Time asked{};
    std::optional<Time> made = {};
  };
  std::mutex mutex_;
  std::map<std::string, Item> items_;  ///< guarded
};

}  // namespace sterna::launcher
