#include "actors/job/device_fit.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernels/device/counting_device.h"

namespace sterna::actors {
namespace {

constexpr double kGigabyte = 1e9;

double gigabytes(std::size_t bytes) { return static_cast<double>(bytes) / kGigabyte; }

/// What all of it takes of one device, which has less.
struct Lack {
  int device = 0;
  std::size_t needed = 0;
  std::size_t free = 0;
};

/// A place of `what.devices` that is this device's first.
std::size_t first_place(const MadeOnDevices& what, std::size_t place) {
  const auto found = std::ranges::find(what.devices, what.devices[place]);
  return static_cast<std::size_t>(found - what.devices.begin());
}

/// The first device on which so large a batch does not fit; none: it fits. Errors: those of making
/// it, and the device's.
Result<std::optional<Lack>> lack_of(const MadeOnDevices& what, const BatchSizes& sizes) {
  std::vector<std::shared_ptr<kernels::CountingDevice>> counting;
  MadeOnDevices::Devices on;
  for (std::size_t i = 0; i < what.devices.size(); ++i) {
    const std::size_t first = first_place(what, i);
    counting.push_back(first < i ? counting[first]
                                 : std::make_shared<kernels::CountingDevice>(what.devices[i]));
    on.push_back(counting.back());
  }
  STERNA_TRY(what.make(sizes, on));
  for (std::size_t i = 0; i < counting.size(); ++i) {
    STERNA_ASSIGN(const std::size_t free, counting[i]->free_beside_libraries());
    if (counting[i]->most() <= free) continue;
    return std::optional(Lack{what.devices[i]->facts().index, counting[i]->most(), free});
  }
  return std::optional<Lack>();
}

bool fits(const MadeOnDevices& what, const BatchSizes& sizes) {
  const Result<std::optional<Lack>> lack = lack_of(what, sizes);
  return lack && !*lack;
}

/// 0: none.
std::uint32_t largest_batch(const MadeOnDevices& what) {
  std::uint32_t fitting = 0;
  for (std::uint32_t too_many = what.sizes.batch; too_many - fitting > 1;) {
    const std::uint32_t between = fitting + (too_many - fitting) / 2;
    (fits(what, {.batch = between}) ? fitting : too_many) = between;
  }
  return fitting;
}

std::uint32_t largest_micro_batch(const MadeOnDevices& what) {
  const std::uint32_t batch = what.sizes.batch;
  const std::uint32_t before = what.sizes.micro_batch == 0 ? batch : what.sizes.micro_batch;
  for (std::uint32_t images = before - 1; images > 0; --images) {
    if (batch % images == 0 && fits(what, {batch, images})) return images;
  }
  return 0;
}

}  // namespace

Error memory_error(const Error& refused, const MadeOnDevices& what) {
  if (refused.code != Errc::overloaded) return refused;
  const Result<std::optional<Lack>> found = lack_of(what, what.sizes);
  if (!found || !*found) return refused;  // others have let go of some, or it lies in pieces
  const Lack& lack = **found;
  const std::string passes =
      what.sizes.micro_batch == 0
          ? ""
          : fmt::format(" in passes of {} (job.micro_batch)", what.sizes.micro_batch);
  std::string instead = "not even one image fits; take a smaller net";
  if (const std::uint32_t batch = largest_batch(what); batch > 0) {
    instead = fmt::format("the largest batch that fits is {}", batch);
  }
  if (const std::uint32_t images = what.splits ? largest_micro_batch(what) : 0; images > 0) {
    instead += fmt::format(", or set job.micro_batch to {}", images);
  }
  return {Errc::overloaded,
          fmt::format("{} with {} = {}{} needs {:.4g} GB of device memory, device {} has {:.4g} GB "
                      "free; {}",
                      what.net, what.key, what.sizes.batch, passes, gigabytes(lack.needed),
                      lack.device, gigabytes(lack.free), instead)};
}

}  // namespace sterna::actors
