#include "kernels/device/host_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/device/device_exchange.h"
#include "kernels/device/host_kernels.h"
#include "kernels/device/host_layers.h"
#include "kernels/device/host_operations.h"
#include "runtime/base/random.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (std::max<std::size_t>(bytes, 1) + to - 1) / to * to;
}

/// What a device has given out. Where it is hidden, pieces are pages of their own.
class DeviceMemory {
 public:
  explicit DeviceMemory(const HostDeviceOptions& options)
      : most_(options.memory), hidden_(options.hidden) {}
  ~DeviceMemory() {
    for (const auto& [memory, size] : sizes_) give_back(memory, size);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  Result<void*> allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = taken_by(bytes);
    if (size > most_ - used_) {
      return Error{Errc::overloaded, std::to_string(bytes) + " bytes are more than the " +
                                         std::to_string(most_ - used_) +
                                         " that the host device has free"};
    }
    void* memory = nullptr;
    if (hidden_) {
      memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) memory = nullptr;
    } else {
      memory = std::aligned_alloc(kAlignment, size);
      if (memory != nullptr) std::memset(memory, 0, size);
    }
    if (memory == nullptr) return Error{Errc::unavailable, "no memory is free"};
    used_ += size;
    ++given_;
    sizes_[memory] = size;
    return memory;
  }
  std::size_t taken_by(std::size_t bytes) const {
    return rounded_up(bytes,
                      hidden_ ? static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : kAlignment);
  }
  std::size_t free() const {
    const std::lock_guard lock(mutex_);
    return most_ - used_;
  }
  std::uint64_t given() const {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  void release(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    used_ -= found->second;
    give_back(memory, found->second);
    sizes_.erase(found);
  }
  /// Runs what may touch it.
  void reveal_for(const std::function<void()>& work) {
    if (!hidden_) return work();
    const std::lock_guard lock(mutex_);
    for (const auto& [memory, size] : sizes_) mprotect(memory, size, PROT_READ | PROT_WRITE);
    work();
    for (const auto& [memory, size] : sizes_) mprotect(memory, size, PROT_NONE);
  }

 private:
  void give_back(void* memory, std::size_t size) const {
    if (hidden_) {
      munmap(memory, size);
    } else {
      std::free(memory);
    }
  }

  std::size_t most_;
  bool hidden_;
  mutable std::mutex mutex_;
  std::size_t used_ = 0;
  std::uint64_t given_ = 0;  // pieces, those that came back included
  std::map<void*, std::size_t> sizes_;
};

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
  Schedule(const HostDeviceOptions& options, std::shared_ptr<DeviceMemory> memory)
      : memory_(std::move(memory)),
        random_(options.seed),
        fails_after_(options.fails_after),
        late_(options.late) {}

  std::shared_ptr<Queue> make_queue() {
    const std::lock_guard lock(mutex_);
    auto queue = std::make_shared<Queue>();
    queues_.push_back(queue);
    return queue;
  }

  Result<void> put(Queue& queue, Work work) {
    const std::lock_guard lock(mutex_);
    return put_locked(queue, std::move(work));
  }
  Result<void> record(Queue& queue, const std::shared_ptr<HostEventState>& state) {
    const std::lock_guard lock(mutex_);
    ++state->recorded;
    return put_locked(queue, {.run = [state] {
                        ++state->passed;
                        state->when = std::chrono::steady_clock::now();
                      }});
  }
  Result<void> wait_for(Queue& queue, std::shared_ptr<HostEventState> state) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t until = state->recorded;
    return put_locked(queue, {[] {}, std::move(state), until});
  }

  /// Work until a queue is empty, or an event has passed.
  Result<void> finish(const Queue& queue) {
    const std::lock_guard lock(mutex_);
    return run_until([&] { return queue.works.empty(); });
  }
  Result<void> wait(const HostEventState& state) {
    const std::lock_guard lock(mutex_);
    return run_until([&] { return state.passed == state.recorded; });
  }

  /// One piece of work more is done, of any kind and stream: also of what was put there long ago.
  void fail_soon() {
    const std::lock_guard lock(mutex_);
    fails_after_ = done_ + 1;
  }

  /// What a caller that only looks sees: perhaps some work was done meanwhile.
  Result<bool> passed(const HostEventState& state) {
    const std::lock_guard lock(mutex_);
    if (random_.below(2) == 0) advance();
    if (failed_) return failure();
    return state.passed == state.recorded;
  }

 private:
  Result<void> put_locked(Queue& queue, Work work) {
    if (failed_) return failure();
    queue.works.push_back(std::move(work));
    if (!late_) return run_until([&] { return queue.works.empty(); });
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
    memory_->reveal_for(work.run);
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

  static Error failure() {
    return {Errc::unavailable, "the host device has failed, as it was told"};
  }

  std::shared_ptr<DeviceMemory> memory_;
  std::mutex mutex_;
  SeededRandom random_;
  std::uint64_t fails_after_;
  bool late_;
  std::uint64_t done_ = 0;
  bool failed_ = false;
  std::vector<std::weak_ptr<Queue>> queues_;
};

class HostEvent : public DeviceEvent {
 public:
  explicit HostEvent(std::shared_ptr<Schedule> schedule) : schedule_(std::move(schedule)) {}

  Result<bool> passed() noexcept override { return schedule_->passed(*state_); }
  Result<void> wait() noexcept override { return schedule_->wait(*state_); }
  const std::shared_ptr<HostEventState>& state() const { return state_; }

 private:
  std::shared_ptr<Schedule> schedule_;
  std::shared_ptr<HostEventState> state_ = std::make_shared<HostEventState>();
};

/// What a stream was told, to be told again.
class HostRecording : public DeviceRecording {
 public:
  std::vector<std::function<Result<void>()>> told;
};

class HostStream : public DeviceStream {
 public:
  HostStream(std::shared_ptr<Schedule> schedule, const HostDeviceOptions& options)
      : schedule_(std::move(schedule)),
        queue_(schedule_->make_queue()),
        libraries_(options.libraries),
        fails_recording_(options.fails_recording),
        watch_(options.watch) {}

  Result<void> copy(void* to, const void* from, std::size_t bytes) noexcept override {
    if (bytes == 0) return {};
    return put([=, watch = watch_] {
      if (watch) watch->copies(bytes);
      std::memcpy(to, from, bytes);
    });
  }
  Result<void> record(DeviceEvent& event) noexcept override {
    return tell([this, state = static_cast<HostEvent&>(event).state()] {
      return schedule_->record(*queue_, state);
    });
  }
  Result<void> wait_for(DeviceEvent& event) noexcept override {
    return tell([this, state = static_cast<HostEvent&>(event).state()] {
      return schedule_->wait_for(*queue_, state);
    });
  }
  Result<void> finish() noexcept override { return schedule_->finish(*queue_); }
  Result<void> encode(EncodePass pass, const EncodeLaunch& launch) noexcept override {
    if (watch_) watch_->launched(pass, launch);
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
  Result<void> layer(const LayerLaunch& launch) noexcept override {
    return put([launch, watch = watch_] {
      if (watch) watch->computes(launch);
      host_layer(launch);
    });
  }
  Result<void> begin_recording() noexcept override {
    recording_ = std::make_unique<HostRecording>();
    return {};
  }
  Result<std::unique_ptr<DeviceRecording>> end_recording() noexcept override {
    std::unique_ptr<DeviceRecording> recording = std::move(recording_);
    if (fails_recording_) return Error{Errc::unavailable, "the host device cannot repeat that"};
    return recording;
  }
  Result<void> repeat(DeviceRecording& recording) noexcept override {
    for (const auto& one : static_cast<HostRecording&>(recording).told) STERNA_TRY(one());
    return {};
  }
  Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) noexcept override {
    if (!libraries_) return std::unique_ptr<DeviceOperation>();
    return host_product(shape);
  }
  Result<std::unique_ptr<DeviceOperation>> convolution(
      const ConvolutionShape& shape) noexcept override {
    if (!libraries_) return std::unique_ptr<DeviceOperation>();
    if (watch_) watch_->plans(shape);
    return host_convolution(shape);
  }
  Result<void> run(DeviceOperation& operation, const OperationTensors& tensors) noexcept override {
    return put([&own = static_cast<HostOperation&>(operation), tensors] { own.run(tensors); });
  }

 private:
  Result<void> put(std::function<void()> run) {
    return tell([this, run = std::move(run)] { return schedule_->put(*queue_, {.run = run}); });
  }
  template <class Tell>
  Result<void> tell(Tell tell) {
    if (recording_ == nullptr) return tell();
    recording_->told.emplace_back(std::move(tell));
    return {};
  }

  std::shared_ptr<Schedule> schedule_;
  std::shared_ptr<Queue> queue_;
  std::unique_ptr<HostRecording> recording_;  // while it records
  bool libraries_;
  bool fails_recording_;
  std::shared_ptr<HostDeviceWatch> watch_;
};

class HostDevice : public Device {
 public:
  explicit HostDevice(const HostDeviceOptions& options)
      : options_(options),
        memory_(std::make_shared<DeviceMemory>(options)),
        schedule_(std::make_shared<Schedule>(options, memory_)) {}

  DeviceFacts facts() const noexcept override {
    return {.name = "the host", .memory = options_.memory, .multiprocessors = 1};
  }
  Result<void*> allocate(std::size_t bytes) noexcept override { return memory_->allocate(bytes); }
  void release(void* memory) noexcept override { memory_->release(memory); }
  Result<std::size_t> free_memory() noexcept override { return memory_->free(); }
  std::size_t taken_by(std::size_t bytes) const noexcept override {
    return memory_->taken_by(bytes);
  }
  DeviceAllocations allocations() const noexcept override {
    return {.device = memory_->given(), .host = given_on_host_.load(std::memory_order_relaxed)};
  }
  Result<void*> allocate_on_host(std::size_t bytes) noexcept override {
    const std::size_t size = rounded_up(bytes, kAlignment);
    void* const memory = std::aligned_alloc(kAlignment, size);
    if (memory == nullptr) return Error{Errc::unavailable, "no memory is free"};
    given_on_host_.fetch_add(1, std::memory_order_relaxed);
    if (options_.watch) options_.watch->given_on_host(memory, size);
    return std::memset(memory, 0, size);
  }
  void release_on_host(void* memory) noexcept override {
    if (options_.watch) options_.watch->released_on_host(memory);
    std::free(memory);
  }
  Result<std::unique_ptr<DeviceStream>> make_stream() noexcept override {
    return std::unique_ptr<DeviceStream>(std::make_unique<HostStream>(schedule_, options_));
  }
  Result<std::unique_ptr<DeviceEvent>> make_event(EventUse /*use*/) noexcept override {
    return std::unique_ptr<DeviceEvent>(std::make_unique<HostEvent>(schedule_));
  }
  Result<bool> reach(Device& /*other*/) noexcept override { return true; }
  Result<std::unique_ptr<DeviceExchange>> exchange(
      const std::vector<std::shared_ptr<Device>>& /*all*/) noexcept override {
    return std::unique_ptr<DeviceExchange>();
  }
  Result<double> seconds(DeviceEvent& from, DeviceEvent& to) noexcept override {
    const auto& begin = *static_cast<HostEvent&>(from).state();
    const auto& end = *static_cast<HostEvent&>(to).state();
    return std::chrono::duration<double>(end.when - begin.when).count();
  }
  void fail_soon() noexcept override { schedule_->fail_soon(); }

 private:
  HostDeviceOptions options_;
  std::shared_ptr<DeviceMemory> memory_;
  std::shared_ptr<Schedule> schedule_;
  std::atomic<std::uint64_t> given_on_host_{0};
};

}  // namespace

std::unique_ptr<Device> make_host_device(const HostDeviceOptions& options) {
  return std::make_unique<HostDevice>(options);
}

}  // namespace sterna::kernels
