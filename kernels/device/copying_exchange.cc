#include <set>
#include <utility>

#include "kernels/device/device_exchange.h"

namespace sterna::kernels {
namespace {

/// Each device fetches what the others have, once that is there; and goes on once the others have
/// fetched its own.
class CopyingExchange final : public DeviceExchange {
 public:
  struct End {
    std::unique_ptr<DeviceEvent> there;    // its own part
    std::unique_ptr<DeviceEvent> fetched;  // the others'
  };
  explicit CopyingExchange(std::vector<End> ends) : ends_(std::move(ends)) {}

  std::string name() const noexcept override { return "copies"; }
  Result<void> gather(std::span<const Place> places, std::size_t bytes) noexcept override {
    return put(places, [&](std::size_t to, std::size_t from) {
      const std::size_t at = from * bytes;
      return places[to].stream->copy(places[to].parts + at, places[from].parts + at, bytes);
    });
  }
  Result<void> scatter(std::span<const Scattered> all, const Packets& packets) noexcept override {
    return put(all, [&](std::size_t to, std::size_t from) -> Result<void> {
      std::byte* place = all[to].to + place_of(from, to) * packets.count * packets.slice;
      const std::byte* slice = all[from].from + to * packets.slice;
      for (std::size_t i = 0; i < packets.count; ++i) {
        STERNA_TRY(all[to].stream->copy(place, slice, packets.slice));
        place += packets.slice;
        slice += packets.stride;
      }
      return {};
    });
  }

 private:
  /// fetch(to, from) puts what device `to` needs of `from` on its stream.
  template <class Place, class Fetch>
  Result<void> put(std::span<const Place> places, Fetch fetch) {
    if (places.size() != ends_.size()) {
      return Error{Errc::invalid_argument, "a place for each device must be given"};
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      STERNA_TRY(places[i].stream->record(*ends_[i].there));
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      for (std::size_t from = 0; from < ends_.size(); ++from) {
        if (from == i) continue;
        STERNA_TRY(places[i].stream->wait_for(*ends_[from].there));
        STERNA_TRY(fetch(i, from));
      }
      STERNA_TRY(places[i].stream->record(*ends_[i].fetched));
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      for (std::size_t by = 0; by < ends_.size(); ++by) {
        if (by != i) STERNA_TRY(places[i].stream->wait_for(*ends_[by].fetched));
      }
    }
    return {};
  }

  std::vector<End> ends_;
};

}  // namespace

Result<std::unique_ptr<DeviceExchange>> make_exchange(
    const std::vector<std::shared_ptr<Device>>& devices) {
  const std::set<std::shared_ptr<Device>> distinct(devices.begin(), devices.end());
  if (devices.size() > 1 && distinct.size() == devices.size()) {
    STERNA_ASSIGN(auto by_library, devices.front()->exchange(devices));
    if (by_library != nullptr) return by_library;
  }
  return make_copying_exchange(devices);
}

Result<std::unique_ptr<DeviceExchange>> make_copying_exchange(
    const std::vector<std::shared_ptr<Device>>& devices) {
  std::vector<CopyingExchange::End> ends;
  for (const std::shared_ptr<Device>& device : devices) {
    CopyingExchange::End& end = ends.emplace_back();
    STERNA_ASSIGN(end.there, device->make_event(EventUse::streams));
    STERNA_ASSIGN(end.fetched, device->make_event(EventUse::streams));
    for (const std::shared_ptr<Device>& other : devices) STERNA_TRY(device->reach(*other));
  }
  return std::unique_ptr<DeviceExchange>(std::make_unique<CopyingExchange>(std::move(ends)));
}

}  // namespace sterna::kernels
