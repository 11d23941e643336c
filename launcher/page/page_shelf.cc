#include "launcher/page/page_shelf.h"

#include <algorithm>
#include <utility>

namespace sterna::launcher {

std::optional<std::string> PageShelf::get(const std::string& name, Time now) {
  const std::lock_guard lock(mutex_);
  if (!items_.contains(name) && items_.size() >= kMost) {
    items_.erase(
        std::ranges::min_element(items_, {}, [](const auto& named) { return named.second.asked; }));
  }
  Item& item = items_[name];
  item.wanted = true;
  item.asked = now;
  return item.text;
}

void PageShelf::make_wanted(Time now, Duration fresh,
                            const std::function<std::string(const std::string& name)>& make) {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, item] : items_) {
      if (item.made && now - *item.made < fresh) continue;
      if (std::exchange(item.wanted, false)) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    std::string text = make(name);
    const std::lock_guard lock(mutex_);
    const auto item = items_.find(name);
    if (item == items_.end()) continue;
    item->second.text = std::move(text);
    item->second.made = now;
  }
}

}  // namespace sterna::launcher
