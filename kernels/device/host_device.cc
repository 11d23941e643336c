#include "kernels/device/host_device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "kernels/device/host_kernels.h"
#include "runtime/base/random.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kAlignment = 256;

/// How often an event was recorded, and how often a stream has passed there.
struct HostEventState {
  std::uint64_t recorded = 0;
  std::uint64_t passed = 0;
  std::chrono::steady_clock::time_point when;
};

/// One piece of work, and what must have passed before it may run.
struct Work {
  std::function<void()> run;
  std::shared_ptr<HostEventState> awaited = nullptr;
  std::uint64_t until = 0;
};

struct Queue {
  std::deque<Work> works;
};

/// All queues, and the order in which their work is done.
class Schedule {
 public:
  explicit Schedule(const HostDeviceOptions& options)
      : random_(options.seed), fails_after_(options.fails_after) {}

  std::shared_ptr<Queue> make_queue() {
    auto queue = std::make_shared<Queue>();
    queues_.push_back(queue);
    return queue;
  }

  Result<void> put(Queue& queue, Work work) {
    if (failed_) return failure();
    queue.works.push_back(std::move(work));
    return {};
  }

  /// Does one piece of work of any queue that may go on; whether there was one.
  bool advance() {
    std::erase_if(queues_, [](const auto& queue) { return queue.expired(); });
    std::vector<std::shared_ptr<Queue>> ready;
    for (const auto& weak : queues_) {
      auto queue = weak.lock();
      if (!queue || queue->works.empty()) continue;
      const Work& next = queue->works.front();
      if (next.awaited == nullptr || next.awaited->passed >= next.until) {
        ready.push_back(std::move(queue));
      }
    }
    if (ready.empty() || failed_) return false;
    Queue& queue = *ready[random_.below(ready.size())];
    const Work work = std::move(queue.works.front());
    queue.works.pop_front();
    if (fails_after_ != 0 && done_ == fails_after_) {
      failed_ = true;
      return false;
    }
    ++done_;
    work.run();
    return true;
  }

  /// Work until `done` says so.
  Result<void> run_until(const std::function<bool()>& done) {
    while (!done()) {
      if (advance()) continue;
      if (failed_) return failure();
      return Error{Errc::internal, "a stream of the host device waits for what nobody records"};
    }
    return {};
  }

  /// What a caller that only looks sees: perhaps some work was done meanwhile.
  Result<void> glance() {
    if (random_.below(2) == 0) advance();
    if (failed_) return failure();
    return {};
  }

 private:
  static Error failure() {
    return {Errc::unavailable, "the host device has failed, as it was told"};
  }

  SeededRandom random_;
  std::uint64_t fails_after_;
  std::uint64_t done_ = 0;
  bool failed_ = false;
  std::vector<std::weak_ptr<Queue>> queues_;
};

class HostEvent : public DeviceEvent {
 public:
  explicit HostEvent(std::shared_ptr<Schedule> schedule) : schedule_(std::move(schedule)) {}

  Result<bool> passed() noexcept override {
    STERNA_TRY(schedule_->glance());
    return state_->passed == state_->recorded;
  }
  const std::shared_ptr<HostEventState>& state() const { return state_; }

 private:
  std::shared_ptr<Schedule> schedule_;
  std::shared_ptr<HostEventState> state_ = std::make_shared<HostEventState>();
};

class HostStream : public DeviceStream {
 public:
  explicit HostStream(std::shared_ptr<Schedule> schedule)
      : schedule_(std::move(schedule)), queue_(schedule_->make_queue()) {}

  Result<void> copy(void* to, const void* from, std::size_t bytes) noexcept override {
    if (bytes == 0) return {};
    return put([=] { std::memcpy(to, from, bytes); });
  }
  Result<void> record(DeviceEvent& event) noexcept override {
    auto state = static_cast<HostEvent&>(event).state();
    ++state->recorded;
    return put([state] {
      ++state->passed;
      state->when = std::chrono::steady_clock::now();
    });
  }
  Result<void> wait_for(DeviceEvent& event) noexcept override {
    auto state = static_cast<HostEvent&>(event).state();
    const std::uint64_t until = state->recorded;
    return schedule_->put(*queue_, {[] {}, std::move(state), until});
  }
  Result<void> finish() noexcept override {
    return schedule_->run_until([this] { return queue_->works.empty(); });
  }
  Result<void> encode(EncodePass pass, const EncodeLaunch& launch) noexcept override {
    return put([=] { host_encode(pass, launch); });
  }
  Result<void> encode_bf16(const EncodeLaunch& launch) noexcept override {
    return put([=] { host_encode_bf16(launch); });
  }
  Result<void> sum_trits(const SumLaunch& launch) noexcept override {
    return put([=] { host_sum_trits(launch); });
  }
  Result<void> update(const UpdateLaunch& launch) noexcept override {
    return put([=] { host_update(launch); });
  }

 private:
  Result<void> put(std::function<void()> run) {
    return schedule_->put(*queue_, {.run = std::move(run)});
  }

  std::shared_ptr<Schedule> schedule_;
  std::shared_ptr<Queue> queue_;
};

class HostDevice : public Device {
 public:
  explicit HostDevice(const HostDeviceOptions& options)
      : options_(options), schedule_(std::make_shared<Schedule>(options)) {}

  DeviceFacts facts() const noexcept override {
    return {.name = "the host", .memory = options_.memory, .multiprocessors = 1};
  }
  Result<void*> allocate(std::size_t bytes) noexcept override {
    const std::size_t rounded =
        (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded > options_.memory - used_) {
      return Error{Errc::unavailable, std::to_string(bytes) + " bytes are more than the " +
                                          std::to_string(options_.memory - used_) +
                                          " that the host device has free"};
    }
    void* const memory = std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr) return Error{Errc::unavailable, "no memory is free"};
    std::memset(memory, 0, rounded);
    used_ += rounded;
    sizes_[memory] = rounded;
    return memory;
  }
  void release(void* memory) noexcept override {
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    used_ -= found->second;
    sizes_.erase(found);
    std::free(memory);
  }
  Result<std::unique_ptr<DeviceStream>> make_stream() noexcept override {
    return std::unique_ptr<DeviceStream>(std::make_unique<HostStream>(schedule_));
  }
  Result<std::unique_ptr<DeviceEvent>> make_event() noexcept override {
    return std::unique_ptr<DeviceEvent>(std::make_unique<HostEvent>(schedule_));
  }
  Result<double> seconds(DeviceEvent& from, DeviceEvent& to) noexcept override {
    const auto& begin = *static_cast<HostEvent&>(from).state();
    const auto& end = *static_cast<HostEvent&>(to).state();
    return std::chrono::duration<double>(end.when - begin.when).count();
  }

 private:
  HostDeviceOptions options_;
  std::shared_ptr<Schedule> schedule_;
  std::size_t used_ = 0;
  std::map<void*, std::size_t> sizes_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(const HostDeviceOptions& options) {
  return std::make_unique<HostDevice>(options);
}

}  // namespace sterna::kernels
