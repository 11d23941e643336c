// Watches: which actors of this process are to learn of whose death. An actor that dies costs what
// it watched itself, not what all others watch.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"

namespace sterna {

class Watches {
 public:
  /// False: it watches that one already.
  bool add(LocalId watcher, ActorId watched) {
    if (!by_watched_.emplace(watched, watcher).second) return false;
    by_watcher_.emplace(watcher, watched);
    return true;
  }
  /// Who watches it, by their ids, and do not any more.
  std::vector<LocalId> take_watchers_of(ActorId watched) {
    std::vector<LocalId> watchers;
    auto at = by_watched_.lower_bound({watched, {}});
    while (at != by_watched_.end() && at->first == watched) {
      watchers.push_back(at->second);
      by_watcher_.erase({at->second, watched});
      at = by_watched_.erase(at);
    }
    return watchers;
  }
  /// It is dead, and learns of nothing any more.
  void forget(LocalId watcher) {
    auto at = by_watcher_.lower_bound({watcher, {}});
    while (at != by_watcher_.end() && at->first == watcher) {
      by_watched_.erase({at->second, watcher});
      at = by_watcher_.erase(at);
    }
  }
  /// Those of that process whom somebody watches, each once.
  std::vector<ActorId> watched_of(ProcessId process) const {
    std::vector<ActorId> watched;
    auto at = by_watched_.lower_bound({ActorId{process, {}}, {}});
    for (; at != by_watched_.end() && at->first.process == process; ++at) {
      if (watched.empty() || watched.back() != at->first) watched.push_back(at->first);
    }
    return watched;
  }
  std::size_t size() const { return by_watched_.size(); }

 private:
  std::set<std::pair<ActorId, LocalId>> by_watched_;
  std::set<std::pair<LocalId, ActorId>> by_watcher_;
};

}  // namespace sterna
