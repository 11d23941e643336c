#include "launcher/bench/pinned_pair.h"

#include <sched.h>

#include <vector>

namespace sterna::launcher {

namespace {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

/// Of the calling thread. Where the machine refuses, it measures unpinned.
void pin(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

}  // namespace

PinnedPair::PinnedPair() : cores_(allowed_cores()), second_([this] { serve(); }) {
  if (!cores_.empty()) pin({cores_.front()});
}

PinnedPair::~PinnedPair() {
  part_ = nullptr;
  ++asked_;
  asked_.notify_one();
  second_.join();
  pin(cores_);
}

void PinnedPair::run(const std::function<void(int)>& part) {
  part_ = &part;
  ++asked_;
  asked_.notify_one();
  part(0);
  for (unsigned done = done_; done != asked_; done = done_) done_.wait(done);
}

void PinnedPair::serve() {
  if (!cores_.empty()) pin({cores_.back()});
  for (unsigned served = 0;;) {
    asked_.wait(served);
    served = asked_;
    if (part_ == nullptr) return;
    (*part_)(1);
    done_ = served;
    done_.notify_one();
  }
}

}  // namespace sterna::launcher
