// Elements in a device's memory, released with their owner.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/device/device.h"

namespace sterna::kernels {

template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  ~DeviceArray() { release(); }
  DeviceArray(DeviceArray&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    if (this == &other) return *this;
    release();
    device_ = std::exchange(other.device_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// Zero bytes; `device` outlives it.
  static Result<DeviceArray> make(Device& device, std::size_t size) {
    DeviceArray array;
    STERNA_ASSIGN(void* const memory, device.allocate(size * sizeof(T)));
    array.device_ = &device;
    array.data_ = static_cast<T*>(memory);
    array.size_ = size;
    return array;
  }

  T* data() const { return data_; }  ///< a place of the device's
  std::size_t size() const { return size_; }

  /// Copies as many elements as `from` or `to` has, which stay until the stream has done it.
  Result<void> upload(DeviceStream& stream, std::span<const T> from) {
    return stream.copy(data_, from.data(), from.size_bytes());
  }
  Result<void> download(DeviceStream& stream, std::span<T> to) const {
    return stream.copy(to.data(), data_, to.size_bytes());
  }

 private:
  void release() {
    if (device_ != nullptr) device_->release(data_);
  }

  Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Elements in the host's memory that a device's copies need not stage.
template <class T>
class PinnedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Zero bytes; `device` outlives it.
  static Result<PinnedArray> make(Device& device, std::size_t size) {
    STERNA_ASSIGN(void* const memory, device.allocate_on_host(size * sizeof(T)));
    return PinnedArray(device, static_cast<T*>(memory), size);
  }
  PinnedArray() = default;

  std::span<T> elements() const { return {data_.get(), size_}; }
  T* data() const { return data_.get(); }

 private:
  struct Release {
    Device* device = nullptr;
    void operator()(T* memory) const { device->release_on_host(memory); }
  };
  PinnedArray(Device& device, T* memory, std::size_t size)
      : data_(memory, Release{&device}), size_(size) {}

  std::unique_ptr<T, Release> data_;
  std::size_t size_ = 0;
};

/// An array with these elements, which are there when it returns.
template <class T>
Result<DeviceArray<T>> uploaded(Device& device, DeviceStream& stream, std::span<const T> elements) {
  STERNA_ASSIGN(DeviceArray<T> array, DeviceArray<T>::make(device, elements.size()));
  STERNA_TRY(array.upload(stream, elements));
  STERNA_TRY(stream.finish());
  return array;
}

}  // namespace sterna::kernels
