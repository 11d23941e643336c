// Two threads that stay on their cores through all rounds of a benchmark.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace sterna::launcher {

/// A second thread beside the caller, each pinned to a core of its own of those that this process
/// may use; on a machine with one core they share it. Single owner; the caller's old affinity comes
/// back at the end.
class PinnedPair {
 public:
  PinnedPair();
  ~PinnedPair();
  PinnedPair(const PinnedPair&) = delete;
  PinnedPair& operator=(const PinnedPair&) = delete;

  /// part(0) on the caller and part(1) on the second thread; returns when both are done.
  void run(const std::function<void(int)>& part);

 private:
  void serve();

  const std::function<void(int)>* part_ = nullptr;
  std::atomic<unsigned> asked_{0};
  std::atomic<unsigned> done_{0};
  std::vector<int> cores_;
  std::thread second_;
};

}  // namespace sterna::launcher
